/**
 * redist.h - NVIDIA's redistributables: their manifest as the definition of a kit
 *
 * One file a release, redistrib_X.Y.Z.json, names the components of a toolkit, an archive for
 * each platform, and its sha256. The manifest is not signed: whoever builds by one pins its digest.
 * The third number is NVIDIA's own count: 13.4.1 is the first release of 13.4, 13.4.0 a preview
 * that is kept elsewhere. archive_kit.h assembles the kit.
 *
 * Format: NVIDIA's build-system-archive-import-examples (parse_redist.py) and its manifests 11.4
 * to 13.4: `size` is a text, a platform may hold one archive for each `cuda_variant`.
 */
#ifndef WS_KIT_CUDA_REDIST_H
#define WS_KIT_CUDA_REDIST_H

#include "fetch/fetch.h"
#include "model/kit_def.h"

/** A component's archive for x86-64 Linux. */
struct ws_redist_component {
	const char *name;    /**< "cuda_nvcc" */
	const char *version; /**< "12.4.131" */
	const char *path;    /**< below the manifest's folder */
	const char *sha256;
	uint64_t size; /**< bytes; 0: not said */
};

struct ws_redist {
	const char *label; /**< "12.4.1" */
	const char *url;   /**< the manifest's folder, without '/' at its end */
	struct ws_digest digest;
	const struct ws_redist_component *components;
	size_t count;
};

/**
 * Reads a manifest called @a label; url stays NULL. Components that have nothing for this platform
 * or this CUDA are left out. WS_ERR_FETCH when it is not a manifest.
 */
bool ws_redist_parse(struct ws_str text, const char *label, struct ws_arena *a, struct ws_redist *r,
	struct ws_err *err);

/**
 * Fetches the manifest of "12.4.1", or of "12.4": then the one whose nvcc is @a nvcc ("12.4.131"),
 * else, or when @a nvcc is NULL, the newest of 12.4.
 */
bool ws_redist_get(const struct ws_fetch *fetch, const char *cuda, const char *nvcc,
	struct ws_arena *a, struct ws_redist *r, struct ws_err *err);

/** @a url, or the same file on the mirror of @a fetch if @a url is in NVIDIA's folder. */
const char *ws_redist_mirrored(const struct ws_fetch *fetch, const char *url, struct ws_arena *a);

/** NULL when the manifest has no such component. */
const struct ws_redist_component *ws_redist_find(const struct ws_redist *r, const char *name);

/** A whole toolkit of redistributables. A component that is not there is WS_ERR_FETCH. */
bool ws_redist_define(
	const struct ws_redist *r, struct ws_arena *a, struct ws_kit_def *def, struct ws_err *err);

/**
 * @a def with the compiler of redistributables in place of what it takes from Debian; the rest
 * stays as pinned.
 */
bool ws_redist_replace(const struct ws_redist *r, const struct ws_kit_def *def, struct ws_arena *a,
	struct ws_kit_def *replaced, struct ws_err *err);

#endif
