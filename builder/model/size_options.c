/* size_options.c - names of the choices. */
#include "model/size_options.h"

#include "base/attr.h"
#include "base/str.h"

static const char *const infos[] = {
	[WS_DEBUG_NONE] = "none",
	[WS_DEBUG_LINES] = "lines",
	[WS_DEBUG_FULL] = "full",
};

const char *
ws_debug_info_name(enum ws_debug_info info)
{
	return infos[info];
}

bool
ws_debug_info_parse(const char *text, enum ws_debug_info *info)
{
	for (size_t i = 0; i < WS_LEN(infos); i++) {
		if (ws_same(text, infos[i])) {
			*info = (enum ws_debug_info)i;
			return true;
		}
	}
	return false;
}

const char *
ws_compress_name(enum ws_compress compress)
{
	static const char *const names[] = {
		[WS_COMPRESS_NONE] = "none",
		[WS_COMPRESS_ALL] = "all",
		[WS_COMPRESS_SIZE] = "size",
	};
	return names[compress];
}
