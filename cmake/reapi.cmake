# The messages of builder/remote/reapi.proto as C, by protobuf-c's compiler, in the build folder.
find_program(WS_PROTOC_C NAMES protoc-c REQUIRED)
set(WS_REAPI ${CMAKE_BINARY_DIR}/generated/remote/reapi.pb-c)
add_custom_command(OUTPUT ${WS_REAPI}.c ${WS_REAPI}.h
	COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/generated/remote
	COMMAND ${WS_PROTOC_C} --proto_path=${CMAKE_SOURCE_DIR}/builder/remote
		--c_out=${CMAKE_BINARY_DIR}/generated/remote reapi.proto
	DEPENDS ${CMAKE_SOURCE_DIR}/builder/remote/reapi.proto VERBATIM)
add_library(reapi OBJECT ${WS_REAPI}.c ${WS_REAPI}.h)
target_include_directories(reapi PUBLIC ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(reapi PUBLIC PkgConfig::WS_LIBS)
