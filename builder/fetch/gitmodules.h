/**
 * gitmodules.h - which repositories a commit has as submodules
 *
 * Reads .gitmodules as a text. Only `path` and `url` are taken; `update`, with which a file once
 * could name a command, and everything else has no meaning here. Not libgit2's configuration
 * reader, because that one follows [include] into other files.
 */
#ifndef WS_FETCH_GITMODULES_H
#define WS_FETCH_GITMODULES_H

#include "base/err.h"
#include "base/text.h"

struct ws_gitmodule {
	const char *name; /**< of its section */
	const char *path; /**< in the repository; NULL when the section gives none */
	const char *url;  /**< as written; NULL when the section gives none */
};

struct ws_gitmodules {
	struct ws_gitmodule *modules;
	size_t count;
};

/**
 * Parses by git-config(1), "Configuration file, Syntax". Lines that continue on the next one are
 * refused. The errors (WS_ERR_FETCH) name the line.
 */
bool ws_gitmodules_parse(
	struct ws_str text, struct ws_arena *a, struct ws_gitmodules *modules, struct ws_err *err);

/** The module at this path; NULL when there is none, or more than one. */
const struct ws_gitmodule *ws_gitmodules_find(
	const struct ws_gitmodules *modules, const char *path);

#endif
