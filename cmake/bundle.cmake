# Run at installation, by cmake/wheel.cmake: copies the shared libraries that `libraries` and `programs` load beyond the C library's own beside
# them, and the licence texts of these and of `linked_in`, which is inside them. `root` is the sysroot, "" for this system;
# `library_dirs` are searched.

set(target "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib")

file(GET_RUNTIME_DEPENDENCIES
    LIBRARIES ${libraries}
    EXECUTABLES ${programs}
    DIRECTORIES ${library_dirs}
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread)\\.so\\." "^libtokitai"
    RESOLVED_DEPENDENCIES_VAR found
    UNRESOLVED_DEPENDENCIES_VAR missing)
if(missing)
    message(FATAL_ERROR "not found, and needed in the wheel: ${missing}")
endif()

# Debian's package of a library, and so the folder of its licence: libgmp.so.10 is of libgmp10, or a name that begins so (libssl3t64).
function(install_licence name)
    string(REGEX REPLACE "^libcrypto" "libssl" package "${name}")
    string(REGEX REPLACE "\\.so\\." "" package "${package}")
    string(REPLACE "_" "-" package "${package}")
    set(places "")
    foreach(folder IN ITEMS "${root}" "")
        file(GLOB places "${folder}/usr/share/doc/${package}/copyright" "${folder}/usr/share/doc/${package}[-t]*/copyright")
        if(places)
            break()
        endif()
    endforeach()
    if(NOT places)
        message(FATAL_ERROR "no licence text of ${name} was found under /usr/share/doc/${package}: it cannot be put into a wheel")
    endif()
    list(GET places 0 place)
    file(REAL_PATH "${place}" place)
    file(COPY_FILE "${place}" "${target}/licences/${package}.txt")
    file(READ "${place}" text)
    string(REGEX MATCHALL "/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]" common "${text}")
    list(REMOVE_DUPLICATES common)
    foreach(file IN LISTS common)
        if(EXISTS "${file}")
            file(REAL_PATH "${file}" real)
            get_filename_component(licence "${file}" NAME)
            file(COPY_FILE "${real}" "${target}/licences/${licence}.txt")
        endif()
    endforeach()
endfunction()

file(MAKE_DIRECTORY "${target}/licences")
foreach(library IN LISTS found)
    get_filename_component(name "${library}" NAME)
    file(REAL_PATH "${library}" real)
    message(STATUS "Bundling: ${real}")
    file(COPY_FILE "${real}" "${target}/${name}")
    install_licence("${name}")
endforeach()
foreach(module IN LISTS linked_in)
    if(NOT module STREQUAL "OFF")
        install_licence("lib${module}-dev")
    endif()
endforeach()
