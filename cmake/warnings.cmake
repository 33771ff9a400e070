# The strict set; both compilers must be clean. Sanitizers come from the presets' CMAKE_C_FLAGS.
add_library(ws_warnings INTERFACE)
target_compile_options(ws_warnings INTERFACE
	-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
	-Wvla -Wformat=2 -Wswitch-enum -Wundef -Wwrite-strings -Wcast-qual -Wpointer-arith
	-Wimplicit-fallthrough -Wnull-dereference -fno-common)
option(WS_WERROR "Warnings are errors" OFF)
if(WS_WERROR)
	target_compile_options(ws_warnings INTERFACE -Werror)
endif()
