/**
 * site.h - the packages in a site-packages folder that extend torch or CUDA
 *
 * Those that an installer listed (RECORD, or what setuptools leaves in egg-info and eggs) and that
 * have a module which needs libraries of torch or CUDA, or has GPU code of its own. torch itself,
 * and NVIDIA's own packages, are not extensions. Nothing is judged.
 */
#ifndef WS_DOCTOR_SITE_H
#define WS_DOCTOR_SITE_H

#include "base/arena.h"

#include <stddef.h>

struct ws_site_package {
	const char *name;         /**< normalised: "flash-attn" */
	const char *version;      /**< as its folder says, without the label: "2.8.3" */
	const char *label;        /**< "cu12torch2.6"; NULL: none */
	const char *const *files; /**< its shared libraries below the folder, sorted */
	size_t file_count;
};

/** Looks into @a folder; sorted by name. What cannot be read is passed over. Returns how many. */
size_t ws_site_extensions(
	const char *folder, struct ws_arena *a, const struct ws_site_package **packages);

#endif
