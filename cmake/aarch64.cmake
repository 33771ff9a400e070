# Toolchain file: builds the program for aarch64 on an x86-64 host. Debian's cross compiler; the libraries are in the
# folder WS_SYSROOT, which tools/sysroot.py fills (./dev package --platform aarch64). Its programs run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
find_program(WS_CROSS_CC NAMES aarch64-linux-gnu-gcc-14 aarch64-linux-gnu-gcc-13 aarch64-linux-gnu-gcc-12
	aarch64-linux-gnu-gcc REQUIRED)
set(CMAKE_C_COMPILER ${WS_CROSS_CC})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WS_SYSROOT)
set(CMAKE_SYSROOT ${WS_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${WS_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${WS_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${WS_SYSROOT}/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${WS_SYSROOT})
