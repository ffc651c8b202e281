# Which tests run in which build, and when. Included by cmake/tests.cmake. Everything is also run by `./quickstart test --whole`.

# Those that take longest, longest first: CTest starts them in this order, before all others, so that none is left to run alone at the end.
set(long_tests strangers check_kernels_cuda proofs emulated_gpu kernel_trials python adding_an_op linear proofs_constants.self_test gemm
    kernel_files trials.explore model.registered cli certificates bench grouped padic check_kernels_hip gelu conversions certify.replay
    valgrind.isolate.worker_process kernel_abi xent emulated_gpu.self_test glue corpus_full_slow schema certify.signed_envelope certify.tricks
    report_browser conversions.self_test certify.certificate own_kernels)

# Those that only --whole runs, for their time: they have the label `whole`. What they are about changes with kernels and with the judge.
set(whole_tests kernel_lines own_kernels padic.speed python_wheel same_verdict)

# `ctest -L fast` is for the day: all tests that are not here, not above, not of an op, and not under valgrind. Here is what takes 4 s of a
# processor, or waits as long; the fast ones together take 40 s of one, so that they end in under a minute on two that are idle.
set(medium_tests report killed limits new_kernel old_systems check_device_kernels check_includes.self_test corpus tile_maps tile_maps.self_test
    check_kernels_cuda.self_test proofs_noticed certificates.self_test core.dtype core.scratch certify.proofs trials.allclose_check serve.client
    isolate.worker_process isolate.worker_killed protocol kept_mutants)

# Tests of the directories that decide a verdict, and of the vector layer that our kernels are written with, run in the optimised builds of both
# compilers, too. Other programs of tests/*/ run once, in the build with sanitizers, and so do the fuzz inputs.
set(deciding_folders exact define interpret judge kernels)
# But these judge so many kernels that they run in the release build instead.
set(release_programs certify.tricks padic.speed padic.flint trials.explore)

# Two optimised builds and one with sanitizers do not fit into the time that a commit has. What follows takes turns: each test in the turn of the
# list that it stands in, and four commits in a row run all (tests/share.bash). Each turn takes about as long.
set(release_turn_0 bench certify.replay proofs kernel_abi emulated_gpu.self_test tile_maps.self_test limits report_browser)
set(release_turn_1 kernel_trials check_kernels_cuda conversions schema proofs_noticed old_systems)
set(release_turn_2 kernel_files adding_an_op proofs_constants.self_test corpus_full_slow check_includes.self_test conversions.self_test
    certificates.self_test)
set(release_turn_3 emulated_gpu check_kernels_hip) # and those under valgrind
set(debug_turn_0 linear xent tune outside_text judge new_kernel)
set(debug_turn_1 gemm embedding report softmax)
set(debug_turn_2 grouped padic killed protocol model.registered)
set(debug_turn_3 gelu cli glue)
