/**
 * torch_exports.h - making the list of what a torch release exports, from its wheels
 *
 * For whoever adds a release to matrix/facts/exports (`./dev exports`). The libraries are streamed
 * out of the wheels, one at a time through one scratch file, and checked against RECORD: 450 to
 * 800 MB over the wire, 1 GB of disk. The list's format: elf/exports.h.
 */
#ifndef WS_KIT_TORCH_EXPORTS_H
#define WS_KIT_TORCH_EXPORTS_H

#include "base/err.h"

struct ws_fetch;

/**
 * Writes the list of @a version ("2.5.1") to @a path. libtorch_python is taken from the wheel of
 * every Python on the default index, all other libraries from cp311's, or the first when there is
 * none. @a scratch is a folder on a disk with 1 GB to spare.
 */
bool ws_torch_exports_make(struct ws_fetch *fetch, const char *version, const char *scratch,
	const char *path, struct ws_err *err);

#endif
