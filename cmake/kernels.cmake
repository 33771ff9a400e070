# The kernels' library for development, without a wheel: build/<preset>/kernels/_wsk.so, for
# WHEELSMITH_KERNELS_LIBRARY. The wheel is made by the recipe wheelsmith-kernels.
option(WS_KERNELS "Build kernels/ with the nvcc on PATH" OFF)
set(WS_KERNELS_CODE "compute_75" CACHE STRING
	"Code for these targets: sm_75, sm_90, ...; compute_75: PTX alone, which any newer GPU compiles")
set(WS_KERNELS_FLAGS "" CACHE STRING "More words for nvcc")
if(NOT WS_KERNELS)
	return()
endif()

find_program(NVCC nvcc HINTS /usr/local/cuda/bin REQUIRED)
enable_language(ASM)
set(folder ${CMAKE_BINARY_DIR}/kernels)
file(MAKE_DIRECTORY ${folder})
foreach(code ${WS_KERNELS_CODE})
	string(REGEX REPLACE "^sm_" "compute_" arch ${code})
	list(APPEND words -gencode arch=${arch},code=${code})
endforeach()
file(GLOB device_files CONFIGURE_DEPENDS kernels/device/*)
file(GLOB images CONFIGURE_DEPENDS kernels/device/*.cu)
foreach(image ${images})
	get_filename_component(name ${image} NAME_WE)
	add_custom_command(OUTPUT ${folder}/${name}.fatbin DEPENDS ${device_files}
		COMMAND ${NVCC} -std=c++17 -fatbin ${words} ${WS_KERNELS_FLAGS} ${image} -o ${folder}/${name}.fatbin)
	# As builder/compile/link.c does it.
	file(GENERATE OUTPUT ${folder}/${name}.s CONTENT
		"\t.section .nv_fatbin,\"a\"\n\t.balign 8\n\t.globl ${name}\n\t.hidden ${name}\n\t.type ${name}, @object\n${name}:\n\t.incbin \"${folder}/${name}.fatbin\"\n\t.size ${name}, .-${name}\n\t.section .note.GNU-stack,\"\",@progbits\n")
	set_source_files_properties(${folder}/${name}.s PROPERTIES
		LANGUAGE ASM GENERATED ON OBJECT_DEPENDS ${folder}/${name}.fatbin)
	list(APPEND embedded ${folder}/${name}.s)
endforeach()
file(GLOB host CONFIGURE_DEPENDS kernels/host/*.c)
add_library(wsk MODULE ${host} ${embedded})
set_target_properties(wsk PROPERTIES PREFIX "" OUTPUT_NAME _wsk C_VISIBILITY_PRESET hidden
	LIBRARY_OUTPUT_DIRECTORY ${folder})
target_include_directories(wsk PRIVATE kernels/include)
