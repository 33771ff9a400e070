# builder/publish/browse.html as an array of C, in the build folder.
set(browse ${CMAKE_SOURCE_DIR}/builder/publish/browse.html)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${browse})
file(READ ${browse} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,){24})" "\\1\n" bytes "${bytes}")
file(CONFIGURE OUTPUT made/browse_html.c CONTENT
	"/* Made of builder/publish/browse.html. */\nextern const unsigned char ws_index_browse_page[];\nconst unsigned char ws_index_browse_page[] = {\n@bytes@0x00};\n" @ONLY)
target_sources(core PRIVATE ${CMAKE_BINARY_DIR}/made/browse_html.c)
