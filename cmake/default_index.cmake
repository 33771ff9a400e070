find_package(Python3 COMPONENTS Interpreter QUIET)
if(NOT DEFINED WS_DEFAULT_INDEX AND Python3_FOUND)
	execute_process(
		COMMAND ${Python3_EXECUTABLE} -c
			"from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
		OUTPUT_VARIABLE WS_ASKED_INDEX OUTPUT_STRIP_TRAILING_WHITESPACE
		RESULT_VARIABLE WS_ASKED ERROR_QUIET)
	if(NOT WS_ASKED EQUAL 0)
		set(WS_ASKED_INDEX "")
	endif()
endif()
set(WS_DEFAULT_INDEX "${WS_ASKED_INDEX}" CACHE STRING
	"Package index used when nothing else names one; asked from pip when not given")
if(WS_DEFAULT_INDEX STREQUAL "")
	message(STATUS "pip could not be asked for its default index; --index will be needed")
endif()
