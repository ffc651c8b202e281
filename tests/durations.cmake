# How long tests take. Included by cmake/tests.cmake.

# Those that take longest, longest first: CTest starts them in this order, before all others, so that none is left to run alone at the end.
set(long_tests verify.explore strangers own_kernels adding_an_op corpus_full_slow xent same_verdict kernel_lines kernel_files
    check_kernels_hip bench valgrind.executor.worker cli schema executor.worker tricks check_kernels_cuda verify.envelope gemm protocol)

# `ctest -L fast` is for the day: all tests that are not here, not above, not of an op, and not under valgrind. Here is what takes 4 s of a
# processor, or waits as long; the fast ones together take 40 s of one, so that they end in under a minute on two that are idle.
set(medium_tests registered certificates corpus kernel_abi killed limits new_kernel old_systems check_device_kernels check_includes.self_test
    check_kernels_cuda.self_test core.dtype core.scratch verify.replay verify.usual serve.client)
