# The program of ./dev package: what asks for a glibc newer than 2.34 is linked statically, the rest is found in
# ../lib/wheelsmith. That is a DT_RPATH, which counts for what those libraries need as well; none has to be edited.
find_library(WS_ARCHIVE_STATIC libarchive.a REQUIRED)
find_library(WS_XML_STATIC libxml2.a REQUIRED)
add_library(ws_older_glibc STATIC cmake/package/older_glibc.c)
execute_process(COMMAND ${CMAKE_NM} ${WS_XML_STATIC} OUTPUT_VARIABLE WS_XML_NAMES ERROR_QUIET)
if(WS_XML_NAMES MATCHES "ucnv_open")
	target_compile_definitions(ws_older_glibc PRIVATE WS_SHIM_ICU)
endif()
target_include_directories(ws_libraries INTERFACE ${WS_NEWER_INCLUDE_DIRS})
# libsupc++ is the demangler's; the rest of libstdc++ is not asked for.
target_link_libraries(ws_libraries INTERFACE ${WS_ARCHIVE_STATIC} ${WS_XML_STATIC} ws_older_glibc
	nettle acl lzma lz4 bz2 m -l:libsupc++.a)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/wheelsmith")
add_link_options(-Wl,--disable-new-dtags)
