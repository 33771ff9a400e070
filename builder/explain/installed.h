/**
 * installed.h - the environment that a module in an error's text belongs to, where it lies on this host
 *
 * Read from names of folders and from RECORD files. No program that the text names is started.
 */
#ifndef WS_EXPLAIN_INSTALLED_H
#define WS_EXPLAIN_INSTALLED_H

#include "base/arena.h"

/** What a path tells. NULL: not known. */
struct ws_installed {
	const char *module;  /**< "flash_attn_2_cuda", "demo._C" */
	const char *python;  /**< of the file's name or folder: "3.11" */
	const char *program; /**< that environment's interpreter, which is there */
	const char *torch;   /**< installed beside the module: "2.5.1+cu124" */
	const char *package; /**< the distribution that brought the module, normalised: "flash-attn" */
	const char *version; /**< its version, without a label: "2.8.3" */
};

/** @a file: "/venv/lib/python3.11/site-packages/m.cpython-311-x86_64-linux-gnu.so"; may be relative. */
struct ws_installed ws_installed_of(const char *file, struct ws_arena *a);

#endif
