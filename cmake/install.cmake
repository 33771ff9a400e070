# <prefix>/bin and <prefix>/share. The program finds its data beside itself, so the prefix can be moved.
install(TARGETS wheelsmith RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS tools/verify_image.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME wheelsmith-verify-image)
# A lock belongs to whoever built here.
install(DIRECTORY recipes matrix schemas kernels floor DESTINATION ${CMAKE_INSTALL_DATADIR}/wheelsmith
	PATTERN "*.lock.json" EXCLUDE)
install(DIRECTORY builder/draft/reader DESTINATION ${CMAKE_INSTALL_DATADIR}/wheelsmith/builder/draft
	FILES_MATCHING PATTERN "*.py")
install(FILES builder/doctor/entry_points.py
	DESTINATION ${CMAKE_INSTALL_DATADIR}/wheelsmith/builder/doctor)
install(FILES README.md LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(FILES completions/wheelsmith.bash
	DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME wheelsmith)
install(FILES completions/_wheelsmith DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/wheelsmith.fish
	DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Manual pages, from docs/man; without scdoc there are none.
find_program(SCDOC scdoc)
file(GLOB WS_MAN_SOURCES CONFIGURE_DEPENDS docs/man/*.scd)
if(SCDOC)
	foreach(source ${WS_MAN_SOURCES})
		get_filename_component(page ${source} NAME_WLE)
		string(REGEX MATCH "[0-9]$" section ${page})
		set(made ${CMAKE_BINARY_DIR}/man/${page})
		add_custom_command(OUTPUT ${made} DEPENDS ${source} COMMAND ${SCDOC} < ${source} > ${made})
		list(APPEND WS_MAN_PAGES ${made})
		install(FILES ${made} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
	endforeach()
	file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man)
	add_custom_target(man ALL DEPENDS ${WS_MAN_PAGES})
else()
	message(STATUS "scdoc is not here: no manual pages will be made")
endif()
