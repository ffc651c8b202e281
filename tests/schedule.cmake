# Which tests run in which build, and when. Included by cmake/tests.cmake. Everything is also run by `./quickstart test --whole`.

# Those that take longest, longest first: CTest starts them in this order, before all others, so that none is left to run alone at the end.
set(long_tests kernel_file.kernel_file_one_text certify.consistency user_kernels check_kernels_cuda proofs emulated_gpu kernel_trials kernel_templates python adding_an_op python_types linear proofs_constants.self_test gemm
    kernel_files trials.explore model.made_op cli certificates bench grouped padic check_kernels_hip gelu conversions certify.replay
    valgrind.isolate.worker_process kernel_abi xent emulated_gpu.self_test glue corpus_full_slow schema certify.signed_envelope certify.certify_tricks
    report_browser conversions.self_test certify.certificate own_kernels interpret.program definitions)

# Those that only --whole runs, for their time: they have the label `whole`. What they are about changes with kernels and with the judge.
set(whole_tests judge.definition_oracle_speed kernel_lines own_kernels padic.solve_speed python_wheel same_verdict)

# `ctest -L fast` is for the day: all tests that are not here, not above, not of an op, and not under valgrind. Here is what takes 4 s of a
# processor, or waits as long; the fast ones together take 40 s of one, so that they end in under a minute on two that are idle.
set(medium_tests report killed limits new_kernel old_systems check_device_kernels check_includes.self_test corpus tile_maps tile_maps.self_test
    check_kernels_cuda.self_test proofs_noticed certificates.self_test core.dtype core.scratch certify.proofs trials.allclose_check serve.client
    isolate.worker_process isolate.worker_process_killed protocol kept_mutants)

# Tests of the directories that decide a verdict, and of the vector layer that our kernels are written with, run in the optimised builds of both
# compilers, too. Other programs of tests/*/ run once, in the build with sanitizers, and so do the fuzz inputs.
set(deciding_folders exact define interpret judge kernels)
# But these judge so many kernels that they run in the release build instead.
set(release_programs certify.certify_tricks padic.solve_speed padic.padic_flint trials.explore)

# Two optimised builds and one with sanitizers do not fit into the time that a commit has. What follows takes turns: each test in the turn of the
# list that it stands in, and so many commits in a row run all (tests/share.bash). Each turn takes about as long; quickstart reads the number.
set(turns 16)
set(release_turn_0 bench limits)
set(release_turn_1 kernel_trials)
set(release_turn_2 kernel_files)
set(release_turn_3 emulated_gpu)
set(release_turn_4 kernel_abi)
set(release_turn_5 adding_an_op certificates.self_test)
set(release_turn_6 check_kernels_cuda)
set(release_turn_7 proofs)
set(release_turn_8 certify.replay proofs_noticed tile_maps.self_test)
set(release_turn_9 kernel_templates)
set(release_turn_10 check_includes.self_test schema report_browser python_types)
set(release_turn_11 check_kernels_hip)
set(release_turn_12 emulated_gpu.self_test old_systems)
set(release_turn_13 proofs_constants.self_test corpus_full_slow)
set(release_turn_14 conversions conversions.self_test)
set(release_turn_15 trials.explore)
set(valgrind_turn release_turn_15)
set(debug_turn_0 gelu)
set(debug_turn_1 tune)
set(debug_turn_2 cli)
set(debug_turn_3 glue)
set(debug_turn_4 linear)
set(debug_turn_5 xent)
set(debug_turn_6 outside_text judge)
set(debug_turn_7 report)
set(debug_turn_8 gemm)
set(debug_turn_9 embedding)
set(debug_turn_10 grouped)
set(debug_turn_11 protocol)
set(debug_turn_12 softmax)
set(debug_turn_13 padic)
set(debug_turn_14 killed model.made_op)
set(debug_turn_15 new_kernel)
