/**
 * paths.h - the paths of an index, and which wheels answer in each
 *
 * A resolver that is asked for "flash-attn==2.8.3" takes any label of it. So there is a path for
 * every torch and CUDA that some wheel is for, "cu124-torch2.5", and in a path at most one wheel
 * answers a package, a public version and a Python:
 *
 * - Of a release, the wheels that depend on most answer: bound ones, else of the stable ABI, of a
 *   torch that is not newer, else those of the path's CUDA major, else of the major before, else
 *   Python-only ones.
 * - Of those, in the path of an architecture ("cu124-torch2.5-sm86"), which is there for each that
 *   some wheel has code for, one whose code runs on it: built for it alone, else with code of it,
 *   else any. That is the path to install from.
 * - The path without one, for hosts that know nothing of their GPU, keeps the wheel that was
 *   published first where several answer one Python because their architectures differ; of those
 *   published together, none. Then each such set has a path too ("-sm80.90").
 * - Else the newer torch, the path's own CUDA, what was published first, the shorter label.
 *
 * So a wheel more does not change what a path answered before it, unless it depends on more. "cu12"
 * is for wheels that depend on a major version of CUDA alone. Pure: no I/O. all/, which has every
 * wheel, is not among them.
 */
#ifndef WS_PUBLISH_PATH_WHEELS_H
#define WS_PUBLISH_PATH_WHEELS_H

#include "publish/catalog.h"

/** The paths, sorted by name; @a catalog is sorted and outlives them. */
const struct ws_index_path *ws_index_paths(
	const struct ws_index_catalog *catalog, struct ws_arena *a, size_t *count);

/** The path of wheel variants. */
#define WS_INDEX_VARIANTS "variants"

/**
 * Which of them answer there: of the wheels of a release with one label, and of those that are
 * Python alone, one for each Python, as in a path ("1.0" and "1.0.0" are one release). The entries
 * are the wheels that the variants are of.
 */
struct ws_index_path ws_index_variant_answers(
	const struct ws_index_catalog *catalog, struct ws_arena *a);

#endif
