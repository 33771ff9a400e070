/**
 * site.h - the packages in a site-packages folder that extend torch or CUDA
 *
 * Lists installed packages (by RECORD, or by setuptools' egg-info and eggs) with a module that
 * needs libraries of torch or CUDA, or has GPU code of its own. torch itself and NVIDIA's own
 * packages are not extensions. Gives no verdict.
 */
#ifndef WS_DOCTOR_SITE_H
#define WS_DOCTOR_SITE_H

#include "base/arena.h"

struct ws_site_package {
	const char *name;         /**< normalised: "flash-attn" */
	const char *version;      /**< as its folder says, without the label: "2.8.3" */
	const char *label;        /**< "cu12torch2.6"; NULL: none */
	const char *const *files; /**< its shared libraries below the folder, sorted */
	size_t file_count;
};

/** Looks into @a folder; sorted by name. Skips unreadable packages. Returns how many. */
size_t ws_site_extensions(
	const char *folder, struct ws_arena *a, const struct ws_site_package **packages);

#endif
