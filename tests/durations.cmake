# How long tests take. Included by cmake/tests.cmake.

# Those that take longest, longest first: CTest starts them in this order, before all others, so that none is left to run alone at the end.
set(long_tests strangers proofs gemm adding_an_op check_kernels_hip trials.explore xent kernel_files kernel_trials own_kernels
    check_kernels_cuda grouped linear corpus_full_slow valgrind.isolate.worker bench isolate.worker cli schema certify.tricks certify.envelope protocol
    conversions certificates corpus)

# Those that no build of `./quickstart test` runs, for their time: they have the label `whole`. What they are about changes with kernels and
# with the judge; CONTRIBUTING.md says when to run them.
set(whole_tests kernel_lines own_kernels padic.speed python_wheel same_verdict)

# `ctest -L fast` is for the day: all tests that are not here, not above, not of an op, and not under valgrind. Here is what takes 4 s of a
# processor, or waits as long; the fast ones together take 40 s of one, so that they end in under a minute on two that are idle.
set(medium_tests emulated_gpu emulated_gpu.self_test report report_browser glue model.registered kernel_abi killed limits new_kernel old_systems check_device_kernels check_includes.self_test
    check_kernels_cuda.self_test proofs_noticed proofs_constants.self_test tile_maps tile_maps.self_test conversions.self_test core.dtype core.scratch certify.proofs certify.replay trials.allclose_check
    python serve.client)
