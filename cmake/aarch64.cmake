# Cross-compiling for AArch64 by Debian's cross compiler; what is built runs under QEMU's user emulation. `quickstart test`
# unpacks the libraries into TOKITAI_SYSROOT, which holds a whole system: C library, headers and run-time libraries.
set(TOKITAI_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build-arm64/sysroot CACHE PATH "An AArch64 system to build against")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TOKITAI_SYSROOT)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
get_filename_component(CMAKE_SYSROOT ${TOKITAI_SYSROOT} ABSOLUTE)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${CMAKE_SYSROOT})

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

# Debian chooses among builds of OpenBLAS by links that only an installation makes, so its folder is named here.
set(libraries ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${libraries}/openblas-pthread/pkgconfig:${libraries}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
