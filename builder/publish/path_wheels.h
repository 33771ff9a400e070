/**
 * path_wheels.h - the paths of an index, and the wheels that each path lists
 *
 * A resolver that looks for "flash-attn==2.8.3" accepts any label of that version. So each
 * combination of torch and CUDA has a path, "cu124-torch2.5", and a path lists at most one wheel
 * for a package, public version and Python. The order of preference:
 *
 * 1. Wheels bound to this torch and CUDA; then stable-ABI wheels of this or an older torch; then
 *    wheels of this CUDA major version; then of the one before; then Python-only wheels. All wheels
 *    of one release in a path are of one of these kinds.
 * 2. In the path of an architecture ("cu124-torch2.5-sm86"): a wheel built for that architecture
 *    alone, then one with code for it, then one that runs on it. Users should install from here.
 * 3. The newer torch, the CUDA of the path, the earlier publication, the shorter label.
 *
 * A path without an architecture is for hosts that do not know their GPU. If wheels differ only in
 * their architectures, it keeps the one that was published first, or none if they were published
 * together; each such set of architectures then has its own path ("-sm80.90").
 *
 * So a new wheel does not change the answer of a path, unless it depends on more. "cu12" lists
 * wheels that depend on a CUDA major version only. all/ lists every wheel and is not made here.
 * Pure: no I/O.
 */
#ifndef WS_PUBLISH_PATH_WHEELS_H
#define WS_PUBLISH_PATH_WHEELS_H

#include "publish/catalog.h"

/** The paths, sorted by name. @a catalog must be sorted and outlive them. */
const struct ws_index_path *ws_index_paths(
	const struct ws_index_catalog *catalog, struct ws_arena *a, size_t *count);

/** The path of wheel variants. */
#define WS_INDEX_VARIANTS "variants"

/**
 * The wheels whose variants that path lists: at most one for each release, label and Python, as in
 * other paths ("1.0" and "1.0.0" are one release), and Python-only wheels.
 */
struct ws_index_path ws_index_variant_answers(
	const struct ws_index_catalog *catalog, struct ws_arena *a);

#endif
