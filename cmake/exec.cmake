# wheelsmith-exec runs one action on a worker of a build farm. It is static, so that it runs in any image. It links the parts
# of core that read an order and trace a compiler, and libcrypto. Without a static libcrypto it is not built, and
# `--executor remote` reports that it is missing.
find_library(WS_STATIC_CRYPTO libcrypto.a)
if(NOT WS_STATIC_CRYPTO)
	message(STATUS "wheelsmith-exec is not built: there is no libcrypto.a")
	return()
endif()
add_executable(wheelsmith-exec builder/exec/main.c)
target_include_directories(wheelsmith-exec PRIVATE builder)
target_compile_definitions(wheelsmith-exec PRIVATE _GNU_SOURCE WS_VERSION="${PROJECT_VERSION}")
# GNU ld warns that libcrypto could look up host names and load modules; hashing does neither. mold does not know the option.
include(CheckLinkerFlag)
check_linker_flag(C -Wl,--no-warnings WS_LINKER_NO_WARNINGS)
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
	target_link_options(wheelsmith-exec PRIVATE -static $<$<BOOL:${WS_LINKER_NO_WARNINGS}>:-Wl,--no-warnings>)
endif()
set_target_properties(wheelsmith-exec PROPERTIES INSTALL_RPATH "")
target_link_libraries(wheelsmith-exec PRIVATE ws_warnings $<TARGET_FILE:core> ${WS_STATIC_CRYPTO})
add_dependencies(wheelsmith-exec core)
install(TARGETS wheelsmith-exec RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
