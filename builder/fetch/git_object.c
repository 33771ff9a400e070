/* git_object.c - what ids and modes of git's objects mean, without the library. */
#include "fetch/git.h"

#include <string.h>

bool
ws_git_is_id(const char *text)
{
	return strlen(text) == WS_GIT_ID - 1 && strspn(text, "0123456789abcdef") == WS_GIT_ID - 1;
}

enum ws_git_kind
ws_git_kind_of(unsigned mode)
{
	switch (mode) {
	case 0100644:
	case 0100664: /* written by git before 2006 */
		return WS_GIT_FILE;
	case 0100755:
		return WS_GIT_EXECUTABLE;
	case 0120000:
		return WS_GIT_LINK;
	case 0040000:
		return WS_GIT_FOLDER;
	case 0160000:
		return WS_GIT_SUBMODULE;
	default:
		return WS_GIT_OTHER;
	}
}
