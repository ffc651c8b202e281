# The component `wheel`: tokitai/lib/ of the Python package. It has the libraries, the program, its worker, every shared library that these
# load beyond the C library's own, and the licence texts of those. Included by CMakeLists.txt with TOKITAI_WHEEL, which pyproject.toml sets.

set(wheel_libraries libtokitai libtokitai-verify libtokitai-serve)
set(wheel_programs tokitai tokitai-worker)

# Files, not TARGETS: a wheel has no links, and would have each library twice.
foreach(target IN LISTS wheel_libraries)
    install(FILES $<TARGET_FILE:${target}> DESTINATION lib RENAME $<TARGET_SONAME_FILE_NAME:${target}> COMPONENT wheel
            PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
install(FILES ${python_headers} DESTINATION . COMPONENT wheel) # into the package itself
foreach(target IN LISTS wheel_programs)
    install(PROGRAMS $<TARGET_FILE:${target}> DESTINATION lib COMPONENT wheel)
endforeach()
foreach(target IN LISTS wheel_libraries wheel_programs)
    target_link_options(${target} PRIVATE LINKER:--strip-all)
endforeach()

list(TRANSFORM wheel_libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE library_files)
list(TRANSFORM wheel_programs REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE program_files)
install(CODE "
    set(libraries \"${library_files}\")
    set(programs \"${program_files}\")
    set(root \"${CMAKE_SYSROOT}\")
    set(linked_in \"${TOKITAI_STATIC_DEPENDENCIES}\")
    set(library_dirs \"${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE};${CMAKE_C_IMPLICIT_LINK_DIRECTORIES}\")
    set(CMAKE_OBJDUMP \"${CMAKE_OBJDUMP}\")
    set(CMAKE_GET_RUNTIME_DEPENDENCIES_PLATFORM linux+elf)
    set(CMAKE_GET_RUNTIME_DEPENDENCIES_TOOL objdump)
    set(CMAKE_GET_RUNTIME_DEPENDENCIES_COMMAND \"${CMAKE_OBJDUMP}\")" COMPONENT wheel)
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/bundle.cmake COMPONENT wheel)
