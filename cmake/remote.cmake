# Shared results and build farms: builder/remote and gRPC. Where one of their libraries is missing, cmake/without_remote.c
# replaces them; the program then refuses `remote` with a message.
set(WS_REMOTE AUTO CACHE STRING "shared results and build farms: ON, OFF, or AUTO: where the libraries are")
set_property(CACHE WS_REMOTE PROPERTY STRINGS AUTO ON OFF)
set(WS_HAS_REMOTE OFF)
if(WS_REMOTE)
	pkg_check_modules(WS_GRPC IMPORTED_TARGET libnghttp2>=1.52 libprotobuf-c>=1.4)
	find_program(WS_PROTOC_C NAMES protoc-c)
	if(WS_GRPC_FOUND AND WS_PROTOC_C)
		set(WS_HAS_REMOTE ON)
	elseif(WS_REMOTE STREQUAL AUTO)
		message(STATUS "no build farms and no shared results: libprotobuf-c 1.4, protoc-c or libnghttp2 1.52 is missing")
	else()
		message(FATAL_ERROR "WS_REMOTE: libprotobuf-c 1.4, protoc-c or libnghttp2 1.52 is missing")
	endif()
endif()
if(NOT WS_HAS_REMOTE)
	list(FILTER WS_SOURCES EXCLUDE REGEX "/builder/(remote/.*|net/rpc)\\.c$")
	list(APPEND WS_SOURCES cmake/without_remote.c)
	return()
endif()
target_link_libraries(ws_libraries INTERFACE PkgConfig::WS_GRPC)

# The messages of builder/remote/reapi.proto as C, by protobuf-c's compiler, in the build folder.
set(WS_REAPI ${CMAKE_BINARY_DIR}/generated/remote/reapi.pb-c)
add_custom_command(OUTPUT ${WS_REAPI}.c ${WS_REAPI}.h
	COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/generated/remote
	COMMAND ${WS_PROTOC_C} --proto_path=${CMAKE_SOURCE_DIR}/builder/remote
		--c_out=${CMAKE_BINARY_DIR}/generated/remote reapi.proto
	DEPENDS ${CMAKE_SOURCE_DIR}/builder/remote/reapi.proto VERBATIM)
add_library(reapi OBJECT ${WS_REAPI}.c ${WS_REAPI}.h)
target_include_directories(reapi PUBLIC ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(reapi PUBLIC PkgConfig::WS_GRPC)
