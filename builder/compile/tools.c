/* tools.c - what all actions of a target are run with, and in which environment. */
#include "compile/extension_target.h"

const char *const ws_target_env[] = {"HOME={work}/tmp", "LANG=C", "PATH=/usr/bin:/bin",
	"SOURCE_DATE_EPOCH=315532800", "TMPDIR={work}/tmp", NULL};

struct ws_tool
ws_cxx_tool(const struct ws_hostcc *cxx)
{
	const char *name = cxx->kind == WS_HOSTCC_CLANG ? "clang++" : "g++";
	return (struct ws_tool){name, "{cxx}", cxx->fingerprint};
}

struct ws_tool
ws_c_tool(const struct ws_hostcc *cxx)
{
	const char *name = cxx->kind == WS_HOSTCC_CLANG ? "clang" : "gcc";
	return (struct ws_tool){name, "{cc}", cxx->c_fingerprint};
}
