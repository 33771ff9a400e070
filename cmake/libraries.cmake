# Each library has one door in builder/ (tests/lint/doors.sh); Debian 12's versions are the floor.
find_package(PkgConfig REQUIRED)
pkg_check_modules(WS_LIBS REQUIRED IMPORTED_TARGET
	libgit2>=1.5 libcurl>=7.88 libarchive>=3.6 libzip>=1.7.3 libcjson>=1.7.15 libxml-2.0>=2.9
	libcrypto>=3.0 sqlite3>=3.40 libelf>=0.188 zlib>=1.2.13 libzstd>=1.5 popt>=1.19)
add_library(ws_libraries INTERFACE)
target_link_libraries(ws_libraries INTERFACE PkgConfig::WS_LIBS stdc++)
