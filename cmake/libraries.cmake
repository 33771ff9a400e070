# Each library has one door in builder/ (tests/lint/doors.sh); Debian 12's versions are the floor.
find_package(PkgConfig REQUIRED)
pkg_check_modules(WS_LIBS REQUIRED IMPORTED_TARGET
	libgit2>=1.5 libcurl>=7.88 libzip>=1.7.3
	libcrypto>=3.0 libssl>=3.0 sqlite3>=3.40 zlib>=1.2.13 libzstd>=1.5 popt>=1.19)
pkg_check_modules(WS_NEWER REQUIRED IMPORTED_TARGET libarchive>=3.6 libxml-2.0>=2.9)
add_library(ws_libraries INTERFACE)

option(WS_PACKAGE "for ./dev package: needs glibc 2.28 alone, its libraries lie beside it" OFF)
if(WS_PACKAGE)
	include(cmake/package/package.cmake)
else()
	target_link_libraries(ws_libraries INTERFACE PkgConfig::WS_NEWER stdc++)
endif()
target_link_libraries(ws_libraries INTERFACE PkgConfig::WS_LIBS)
