# The tests, found by file name:
#     tests/core/test_dtype.c       core.dtype        a cmocka program, named after the file that it tests: src/core/dtype.h; test_dtype_ASPECT.c would be one more
#     src/ops/gelu/test.c           gelu              and gelu.whole, with planted kernels in all types
#     src/ops/product/test_gemm.c   gemm              the same, of a family with several test programs
#     tests/NAME.sh                 NAME              and NAME.self_test, if it knows --self-test; NAME.whole, if --whole
#     tests/fuzz/NAME.c             fuzz.NAME         replays tests/fuzz/corpus/NAME/, and what another target has that reads the same
#     examples/NAME.c               example.NAME
#     tests/on_device.c             on_device; skipped without a GPU, as is matrix_unit_on_device
#     tests/kernels/                kernels for the worker, in BUILD/tests/kernels/
#     tests/device_kernels/         kernels that tests/*_on_device.sh run on a real GPU
#     tests/fake_gpu/               libraries that stand for a GPU's driver and compiler, in BUILD/tests/fake_gpu/
#     tests/emulated_gpu/           what makes kernels of HIP run on that driver
# A file name that ends in _slow gives a long time limit. Scripts named check_* look at the sources alone and have the label `source`. NAME.whole
# has the label `whole`: NAME takes a part of what it is about, so that `quickstart test` ends soon, and NAME.whole all of it. A script with the line
# "# A function of: ..." is run by tests/kept_results.bash. tests/schedule.cmake says what runs in which build. Exit status 77 means skipped.

pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)

set(test_environment
    OMP_WAIT_POLICY=passive # tests run side by side; waiting threads must not spin
    XDG_STATE_HOME=${PROJECT_BINARY_DIR}/tests/state
    XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/tests/cache
    ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
    UBSAN_OPTIONS=print_stacktrace=1
    TOKITAI=${PROJECT_BINARY_DIR}/tokitai
    SOURCE_DIR=${PROJECT_SOURCE_DIR}
    BUILD_DIR=${PROJECT_BINARY_DIR})

# What tests may see beyond the public headers: everything, in libraries without an edge at which names are hidden.
add_library(test_internals INTERFACE)
target_include_directories(test_internals INTERFACE ${source_dir} ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests ${generated_dir})
target_link_libraries(test_internals INTERFACE
    padic libtokitai-verify-static libtokitai-serve-static libtokitai-static ${verify_libraries} OpenMP::OpenMP_C m)
target_link_options(test_internals INTERFACE LINKER:--as-needed)
# All test programs are linked again when a library changes, and these linkers take a third of the time.
include(CheckLinkerFlag)
foreach(linker IN ITEMS lld gold)
    check_linker_flag(C -fuse-ld=${linker} TOKITAI_HAS_${linker})
    if(TOKITAI_HAS_${linker} AND NOT CMAKE_CROSSCOMPILING)
        target_link_options(test_internals INTERFACE -fuse-ld=${linker})
        break()
    endif()
endforeach()

include(tests/schedule.cmake)

# The labels by which CMakePresets.json chooses: in_release, in_debug, in_clang, in_arm64; and release_turn_0, debug_turn_0 and so on for tests
# that take turns, of which quickstart leaves out all but one.
function(schedule_test name file to)
    set(builds "")
    string(REGEX REPLACE "\\..*" "" folder ${name})
    if(file MATCHES "^tests/fuzz/")
        set(builds in_debug)
    elseif(file MATCHES "^tests/.*/test_" AND NOT name IN_LIST release_programs)
        set(builds in_debug)
        if(folder IN_LIST deciding_folders)
            list(APPEND builds in_release in_clang)
        endif()
    else()
        set(builds in_release)
    endif()
    if(name MATCHES "^(core\\.file|model\\.case|exact\\.interval|judge\\.judge|cli\\.parse|example\\.call_an_op)$")
        list(APPEND builds in_arm64)
    endif()
    if(name MATCHES "^valgrind\\.")
        set(builds in_release ${valgrind_turn})
    endif()
    math(EXPR last_turn "${turns} - 1")
    foreach(build IN ITEMS release debug)
        foreach(turn RANGE ${last_turn})
            if(name IN_LIST ${build}_turn_${turn})
                list(APPEND builds in_${build} ${build}_turn_${turn})
            endif()
        endforeach()
    endforeach()
    if(name MATCHES "\\.whole$" OR name IN_LIST whole_tests)
        set(builds whole)
    endif()
    set(${to} ${${to}} ${builds} PARENT_SCOPE)
endfunction()

function(register_test name file)
    set(labels ${ARGN})
    list(FIND long_tests ${name} place)
    if(place GREATER_EQUAL 0)
        math(EXPR cost "100 - ${place}")
        set_tests_properties(${name} PROPERTIES COST ${cost})
    endif()
    set(timeout 600) # against hangs; no test is about time
    if(place GREATER_EQUAL 0 OR file MATCHES "_slow\\.[a-z]+$")
        set(timeout 1800) # on a busy machine
    elseif(NOT name IN_LIST medium_tests AND NOT name IN_LIST whole_tests AND NOT name MATCHES "^valgrind\\.|\\.whole$" AND NOT file MATCHES "^src/ops/|^$")
        list(APPEND labels fast)
    endif()
    schedule_test(${name} "${file}" labels)
    if(whole IN_LIST labels)
        set(timeout 3600)
    endif()
    set_tests_properties(${name} PROPERTIES
        ENVIRONMENT "${test_environment}"
        LABELS "${labels}"
        TIMEOUT ${timeout}
        SKIP_RETURN_CODE 77
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

function(add_skipped_test name reason)
    add_test(NAME ${name} COMMAND sh -c "echo 'skipped: ${reason}'; exit 77")
    register_test(${name} "" ${ARGN})
endfunction()

# Quick tests of code that handles memory; exhaustive ones would take an hour there. Fuzz inputs are replayed as well.
set(valgrind_selection
    "^(core\\.(context|file|hash|scratch)|model\\.case|compile\\.(cache_entry|kernel_resources|kernel_sources)|isolate\\.(compile_kernel_file|confinement|sanitizer|worker_process$)|worker\\.|runtime\\.)")

# Runs a built test under valgrind too. Leaks that libraries keep until the end are not ours to judge.
function(add_valgrind_test name target file)
    add_test(NAME valgrind.${name} COMMAND sh -c
        "command -v valgrind >/dev/null || { echo 'skipped: valgrind is not installed'; exit 77; }; \
         exec valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
             --show-leak-kinds=definite \"$@\"" valgrind $<TARGET_FILE:${target}> ${ARGN})
    register_test(valgrind.${name} "${file}" valgrind)
    set_tests_properties(valgrind.${name} PROPERTIES TIMEOUT 900)
endfunction()

# GPU drivers and compilers that exist only in memory, for the tests of the code that loads the real ones.

set(fake_gpu_dir ${PROJECT_BINARY_DIR}/tests/fake_gpu)
set(fake_gpu_targets "")
function(add_fake_gpu file name hip)
    string(MAKE_C_IDENTIFIER ${name} target)
    add_library(fake.${target} MODULE tests/fake_gpu/${file})
    target_include_directories(fake.${target} PRIVATE ${source_dir} ${PROJECT_SOURCE_DIR} ${include_dirs})
    add_dependencies(fake.${target} tokitai_headers)
    target_link_libraries(fake.${target} PRIVATE m ${CMAKE_DL_LIBS})
    target_compile_definitions(fake.${target} PRIVATE FAKE_HIP=${hip} ${ARGN})
    set_target_properties(fake.${target} PROPERTIES
        PREFIX "" OUTPUT_NAME ${name} SUFFIX "" LIBRARY_OUTPUT_DIRECTORY ${fake_gpu_dir})
    unsanitized(fake.${target}) # the worker loads them, too
    set(fake_gpu_targets ${fake_gpu_targets} fake.${target} PARENT_SCOPE)
endfunction()
add_fake_gpu(driver.c libcuda.so.1 0)
add_fake_gpu(driver.c libamdhip64.so.6 1)
add_fake_gpu(driver.c libcuda_without_launch.so 0 FAKE_WITHOUT_LAUNCH)
add_fake_gpu(compiler.c libnvrtc.so 0)
add_fake_gpu(compiler.c libhiprtc.so 1)
add_fake_gpu(kernels.c kernels.so 0)
add_fake_gpu(cublaslt.c libcublasLt.so.13 0)

# Kernels for the worker: a library for each function of the files in tests/kernels/, in BUILD/tests/kernels/. Each file is compiled once, with
# a table of its functions; its libraries are copies that differ in the name of the chosen one (tests/kernels/choose_behaviour.sh). They know
# no sanitizer, and neither does the program that loads them. Where another processor is compiled for, no test that loads them is run, and they
# are not made.

set(worker_kernels "")
function(list_behaviours variable file type)
    file(STRINGS tests/kernels/${file} lines REGEX "^static ${type} [a-z0-9_]+\\(void\\)$")
    list(TRANSFORM lines REPLACE "^static ${type} ([a-z0-9_]+).*" "\\1")
    set(${variable} ${lines} PARENT_SCOPE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tests/kernels/${file})
endfunction()
# Libraries PREFIX_NAME.so for these functions of a file, or for all of them if none is named. `type` is what they return.
function(add_worker_kernels target file type prefix definitions)
    if(CMAKE_CROSSCOMPILING)
        return()
    endif()
    list_behaviours(all ${file} ${type})
    set(chosen ${ARGN})
    if(NOT chosen)
        set(chosen ${all})
    endif()
    set(folder ${PROJECT_BINARY_DIR}/tests/kernels)
    set(table "")
    foreach(name IN LISTS all)
        string(APPEND table "    if (!strcmp(chosen, \"${name}\"))\n        return ${name}();\n")
    endforeach()
    file(CONFIGURE OUTPUT ${generated_dir}/behaviours_${target}.c @ONLY CONTENT
"/* Generated by cmake/tests.cmake. */
#define BEHAVIOUR run_behaviour
static @type@ run_behaviour(void);
#include \"tests/kernels/@file@\"

/* Written over in the copies. */
__attribute__((used)) char chosen_behaviour[64] = \"the chosen behaviour\";

static @type@ run_behaviour(void)
{
    const char *chosen = *(char *volatile[]){chosen_behaviour};
@table@    abort();
}
")
    add_library(kernels.${target} MODULE ${generated_dir}/behaviours_${target}.c)
    target_include_directories(kernels.${target} PRIVATE ${source_dir} ${PROJECT_SOURCE_DIR} ${include_dirs})
    add_dependencies(kernels.${target} tokitai_headers)
    target_compile_definitions(kernels.${target} PRIVATE ${definitions})
    target_link_libraries(kernels.${target} PRIVATE m ${CMAKE_DL_LIBS})
    unsanitized(kernels.${target})
    set_target_properties(kernels.${target} PROPERTIES
        PREFIX "" OUTPUT_NAME ${target} LIBRARY_OUTPUT_DIRECTORY ${generated_dir}/kernels)
    list(TRANSFORM chosen PREPEND ${folder}/${prefix} OUTPUT_VARIABLE libraries)
    list(TRANSFORM libraries APPEND .so)
    add_custom_command(OUTPUT ${libraries}
        COMMAND ${BASH} ${PROJECT_SOURCE_DIR}/tests/kernels/choose_behaviour.sh $<TARGET_FILE:kernels.${target}> ${folder}/${prefix} ${chosen}
        DEPENDS kernels.${target} tests/kernels/choose_behaviour.sh
        COMMENT "Kernels of ${file}"
        VERBATIM)
    add_custom_target(chosen.${target} DEPENDS ${libraries})
    set(worker_kernels ${worker_kernels} chosen.${target} PARENT_SCOPE)
endfunction()

find_program(BASH bash REQUIRED)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/kernels)
add_worker_kernels(misbehave misbehave.c void "" "")
add_worker_kernels(loading misbehave.c void loading_ ON_LOADING segfault exit_0 deaf_and_endless)
glob_sources(trick_sources tests/kernels/trick_*.c)
foreach(file IN LISTS trick_sources)
    get_filename_component(file ${file} NAME)
    get_filename_component(name ${file} NAME_WE)
    add_worker_kernels(${name} ${file} void "" "")
endforeach()
add_worker_kernels(on_fake_cuda on_fake_gpu.c int cuda_ FAKE_HIP=0)
add_worker_kernels(on_fake_hip on_fake_gpu.c int hip_ FAKE_HIP=1)

# cmocka programs

# Further arguments: what it needs beside the libraries to be run.
function(add_c_test name file)
    if(NOT CMOCKA_FOUND)
        add_skipped_test(${name} "cmocka is not installed")
        return()
    endif()
    add_executable(test.${name} ${file})
    target_link_libraries(test.${name} PRIVATE test_internals PkgConfig::CMOCKA)
    add_dependencies(test.${name} tokitai_build_header ${ARGN})
    set_target_properties(test.${name} PROPERTIES
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND test.${name})
    register_test(${name} ${file})
    if(TOKITAI_VALGRIND AND name MATCHES "${valgrind_selection}")
        add_valgrind_test(${name} test.${name} ${file})
    endif()
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

glob_sources(test_sources tests/*/test_*.c)
foreach(file IN LISTS test_sources)
    string(REGEX REPLACE "^tests/(.*)/test_(.*)\\.c$" "\\1.\\2" name ${file})
    add_c_test(${name} ${file} tokitai-worker ${fake_gpu_targets} ${worker_kernels})
endforeach()
if(TARGET test.worker.sandbox_calls) # of the worker program, and of no library
    target_sources(test.worker.sandbox_calls PRIVATE src/worker/sandbox_calls.c src/worker/sandbox_files.c
                   src/worker/sandbox_tree.c src/worker/sandbox.c)
endif()

glob_sources(op_test_sources src/ops/*/test*.c)
foreach(file IN LISTS op_test_sources)
    string(REGEX REPLACE "^src/ops/(.*)/test\\.c$" "\\1" name ${file})
    string(REGEX REPLACE "^src/ops/.*/test_(.*)\\.c$" "\\1" name ${name})
    add_c_test(${name} ${file})
    file(STRINGS ${file} whole REGEX "assert_op_certifies|is_whole" LIMIT_COUNT 1)
    if(whole AND CMOCKA_FOUND)
        add_test(NAME ${name}.whole COMMAND test.${name})
        register_test(${name}.whole ${file})
        set_property(TEST ${name}.whole APPEND PROPERTY ENVIRONMENT TOKITAI_WHOLE=1)
    endif()
endforeach()

# What only a real GPU can show.

foreach(name IN ITEMS on_device matrix_unit_on_device)
    add_executable(${name} tests/${name}.c)
    target_include_directories(${name} PRIVATE ${source_dir} ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE libtokitai m ${CMAKE_DL_LIBS})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name})
    register_test(${name} tests/${name}.c)
endforeach()

foreach(name IN ITEMS worker_on_device sanitizer_on_device repeat_on_device) # tests/NAME.sh runs it
    add_executable(${name} tests/${name}.c)
    target_include_directories(${name} PRIVATE ${source_dir} ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE libtokitai ${CMAKE_DL_LIBS})
    add_dependencies(${name} tokitai-worker)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endforeach()

# Plays a system without Landlock or namespaces; tests/old_systems.sh runs it.
add_executable(old_system tests/old_system.c)
set_target_properties(old_system PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

# libtokitai once more, with kernels that count their lines: tests/kernel_lines.sh builds it and has the program load it instead of
# the real one. Not optimised, so that every line keeps its code.

if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND BUILD_SHARED_LIBS AND NOT sanitize_options AND NOT CMAKE_CROSSCOMPILING)
    set(counting_options ${kernel_options})
    list(REMOVE_ITEM counting_options -O3)
    add_library(counting.libtokitai SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:libtokitai> $<TARGET_OBJECTS:deciding_run>)
    foreach(isa IN LISTS kernel_isas)
        add_library(counting.${isa} OBJECT EXCLUDE_FROM_ALL ${kernel_sources_${isa}})
        target_include_directories(counting.${isa} PRIVATE ${PROJECT_SOURCE_DIR}/include ${source_dir})
        target_compile_definitions(counting.${isa} PRIVATE TKI_ISA=${isa})
        target_compile_options(counting.${isa} PRIVATE ${counting_options} ${isa_options_${isa}} -O0 -w --coverage)
        target_link_libraries(counting.${isa} PRIVATE OpenMP::OpenMP_C)
        target_sources(counting.libtokitai PRIVATE $<TARGET_OBJECTS:counting.${isa}>)
    endforeach()
    set_target_properties(counting.libtokitai PROPERTIES
        OUTPUT_NAME tokitai SOVERSION ${abi_version} LINKER_LANGUAGE C
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/counting)
    target_link_libraries(counting.libtokitai PRIVATE OpenMP::OpenMP_C m ${CMAKE_DL_LIBS})
    target_link_options(counting.libtokitai PRIVATE --coverage LINKER:--version-script=${export_map})
endif()

# What the proofs have of the C code; tests/proofs_constants.sh compares it with theirs.
add_executable(proof_constants proofs/constants.c)
target_link_libraries(proof_constants PRIVATE test_internals)
set_target_properties(proof_constants PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

# What decides, alone: the whole archive, and none of our other libraries. tests/judge_alone.sh runs it.
add_executable(judge_alone tests/judge_alone.c)
target_include_directories(judge_alone PRIVATE ${include_dirs} ${source_dir})
add_dependencies(judge_alone tokitai_headers)
target_link_libraries(judge_alone PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,libtokitai-judge> TokitaiDependency::mpfr
    TokitaiDependency::gmp TokitaiDependency::openblas OpenMP::OpenMP_C m)
set_target_properties(judge_alone PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

# Scripts

glob_sources(script_sources tests/*.sh)
foreach(file IN LISTS script_sources)
    get_filename_component(name ${file} NAME_WE)
    set(labels script)
    if(name MATCHES "^check_")
        list(APPEND labels source)
    endif()
    set(command ${BASH} ${PROJECT_SOURCE_DIR}/${file})
    file(STRINGS ${file} function_of REGEX "^# A function of: " LIMIT_COUNT 1)
    if(function_of)
        list(INSERT command 1 ${PROJECT_SOURCE_DIR}/tests/kept_results.bash)
    endif()
    add_test(NAME ${name} COMMAND ${command})
    register_test(${name} ${file} ${labels})
    file(STRINGS ${file} self_test REGEX "--self-test" LIMIT_COUNT 1)
    if(self_test)
        add_test(NAME ${name}.self_test COMMAND ${command} --self-test)
        register_test(${name}.self_test ${file} ${labels})
    endif()
    file(STRINGS ${file} whole REGEX "--whole" LIMIT_COUNT 1)
    if(whole)
        add_test(NAME ${name}.whole COMMAND ${command} --whole)
        register_test(${name}.whole ${file} ${labels})
    endif()
endforeach()

set_tests_properties(proofs PROPERTIES PROCESSORS 2) # it compiles two files at a time

# Fuzzing: the kept inputs are replayed in every build; the preset `fuzz` also makes fuzz/NAME to search for new ones.

glob_sources(fuzz_sources tests/fuzz/*.c)
list(REMOVE_ITEM fuzz_sources tests/fuzz/replay.c)
set(also_replays_report certificate) # it reads what that target reads
set(also_replays_padic_matrix npy)
foreach(file IN LISTS fuzz_sources)
    get_filename_component(name ${file} NAME_WE)
    set(corpora ${name} ${also_replays_${name}})
    list(TRANSFORM corpora PREPEND ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/)
    add_executable(replay.${name} ${file} tests/fuzz/replay.c)
    target_link_libraries(replay.${name} PRIVATE test_internals)
    set_target_properties(replay.${name} PROPERTIES
        OUTPUT_NAME replay.${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME fuzz.${name} COMMAND replay.${name} ${corpora})
    register_test(fuzz.${name} ${file})
    set(fuzz_targets replay.${name})
    if(TOKITAI_VALGRIND)
        add_valgrind_test(fuzz.${name} replay.${name} ${file} ${corpora})
    endif()
    if(TOKITAI_FUZZ)
        add_executable(fuzz.${name} ${file})
        target_link_libraries(fuzz.${name} PRIVATE test_internals)
        target_link_options(fuzz.${name} PRIVATE -fsanitize=fuzzer)
        set_target_properties(fuzz.${name} PROPERTIES
            OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
        # The paths of a target's own readers lead nowhere new, and to watch them takes most of its time.
        file(STRINGS ${file} sources_under_test REGEX "^#include \".*\\.c\"")
        if(NOT sources_under_test)
            target_compile_options(fuzz.${name} PRIVATE -fno-sanitize=fuzzer-no-link)
        endif()
        list(APPEND fuzz_targets fuzz.${name})
    endif()
    foreach(target IN LISTS fuzz_targets)
        add_dependencies(${target} tokitai_build_header)
        target_compile_options(${target} PRIVATE -Wno-missing-prototypes) # libFuzzer names the entry point, no header does
    endforeach()
endforeach()

# Examples see the public headers only.

glob_sources(example_sources examples/*.c)
foreach(file IN LISTS example_sources)
    get_filename_component(name ${file} NAME_WE)
    add_executable(example.${name} ${file})
    target_link_libraries(example.${name} PRIVATE libtokitai-verify libtokitai m)
    target_link_options(example.${name} PRIVATE LINKER:--as-needed)
    set_target_properties(example.${name} PROPERTIES
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    add_test(NAME example.${name} COMMAND example.${name})
    register_test(example.${name} ${file} example)
endforeach()
