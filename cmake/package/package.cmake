# The program of ./dev package: libraries that would bring many others are linked statically, the rest is found in
# ../lib/wheelsmith. That is a DT_RPATH, which counts for what those libraries need as well. For glibc 2.28: what the
# program and those libraries ask of a newer one and it lacks, the program exports itself (floor/libc), and
# tools/package.py takes the versions off the names that it has under older ones.
find_library(WS_ARCHIVE_STATIC libarchive.a REQUIRED)
find_library(WS_XML_STATIC libxml2.a REQUIRED)
set(WS_BRIDGED stat stat64 lstat lstat64 fstat fstat64 fstatat fstatat64 mknod arc4random arc4random_buf
	libc_single_threaded)
list(TRANSFORM WS_BRIDGED PREPEND floor/libc/)
list(TRANSFORM WS_BRIDGED APPEND .c)
add_library(ws_older_glibc OBJECT cmake/package/no_icu.c cmake/package/resolver.c
	cmake/package/start.c ${WS_BRIDGED})
set_target_properties(ws_older_glibc PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(ws_older_glibc PRIVATE -fno-builtin -U_FORTIFY_SOURCE)
execute_process(COMMAND ${CMAKE_NM} ${WS_XML_STATIC} OUTPUT_VARIABLE WS_XML_NAMES ERROR_QUIET)
if(WS_XML_NAMES MATCHES "ucnv_open")
	target_compile_definitions(ws_older_glibc PRIVATE WS_SHIM_ICU)
endif()
target_include_directories(ws_libraries INTERFACE ${WS_NEWER_INCLUDE_DIRS})
# libsupc++ is the demangler's; the rest of libstdc++ is not asked for.
target_link_libraries(ws_libraries INTERFACE ${WS_ARCHIVE_STATIC} ${WS_XML_STATIC} $<TARGET_OBJECTS:ws_older_glibc>
	nettle acl lzma lz4 bz2 m -l:libsupc++.a)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/wheelsmith")
target_link_options(ws_libraries INTERFACE -Wl,--disable-new-dtags -Wl,--wrap=__libc_start_main
	-Wl,--dynamic-list=${CMAKE_SOURCE_DIR}/cmake/package/exports.list
	-Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -l:libresolv.so.2 -Wl,--as-needed)
