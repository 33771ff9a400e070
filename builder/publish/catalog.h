/**
 * catalog.h - the wheels of an index and the facts about each: index.json
 *
 * All pages are made from this file. Reads, changes and writes the text; opens no wheel (admit.h)
 * and no folder (index_folder.h). The schema is schemas/index-1.json.
 */
#ifndef WS_PUBLISH_CATALOG_H
#define WS_PUBLISH_CATALOG_H

#include "base/table.h"
#include "model/wheel_name.h"

/** Dependencies of a wheel, in rising number. In a path the wheels with the highest kind answer. */
enum ws_index_kind {
	WS_INDEX_UNPLACED, /**< unknown: listed in all/ only */
	WS_INDEX_NONE,     /**< no dependency: listed everywhere */
	WS_INDEX_C_ABI,    /**< a major version of CUDA */
	WS_INDEX_STABLE,   /**< a major version of CUDA, the torch of its label and later ones */
	WS_INDEX_BOUND,    /**< exactly the CUDA and torch of its labels */
};

/** The same wheel as a wheel variant (variant_wheel.h). */
struct ws_index_variant {
	const char *file;  /**< "demo-1.0-cp311-cp311-linux_x86_64-cu13.0_torch2.11_sm90.whl" */
	const char *label; /**< "cu13.0_torch2.11_sm90" */
	const char *sha256;
	const char *metadata_sha256;
	uint64_t size_bytes;
	const char *uploaded;
};

/** One wheel. */
struct ws_index_entry {
	const char *file;          /**< file name */
	struct ws_wheel_name name; /**< the file name, parsed */
	const char *sha256;
	const char *metadata_sha256; /**< of the METADATA file of the wheel */
	uint64_t size_bytes;
	const char *uploaded;        /**< when it was published: "2026-11-21T08:30:00.000000Z" */
	const char *requires_python; /**< NULL: any */
	const char *yanked;          /**< reason of the yank; NULL: not yanked */
	const char *forced;          /**< the failed check of a forced wheel; NULL: none failed */
	enum ws_index_kind kind;
	const char *const *labels;     /**< "cu.12.4.torch.2.5.sm.86": the paths that list it */
	struct ws_wheel_label *places; /**< the labels, parsed */
	size_t place_count;
	uint64_t pythons; /**< a bit for each of CPython 3.7 to 3.37, then for the free-threaded ones */
	const char *restricted;      /**< a restricting licence, while publishing; NULL: none found */
	const struct ws_json *facts; /**< its wheelsmith.json; NULL: none */
	const struct ws_index_variant *variant; /**< NULL: none */
};

/** A path of the index and its wheels: "cu124-torch2.5". */
struct ws_index_path {
	const char *path;
	const struct ws_index_entry *const *entries; /**< sorted by package, version, file */
	size_t count;
};

struct ws_index_catalog {
	const char *title;                     /**< title of the page for people; NULL: default */
	const char *snapshot;                  /**< "2026-11-21.1"; NULL: before the first */
	WS_VEC(struct ws_index_entry) entries; /**< sorted by package, version, file once it was read */
	const char *program;                   /**< while it is written: the version of wheelsmith */
	const struct ws_index_path *paths;     /**< while it is written */
	size_t path_count;
};

/** Makes any error but a stop and a fault of our own WS_ERR_PUBLISH. Returns false. */
bool ws_index_err(struct ws_err *err);

/** index.json; the type of the names of snapshots. */
extern const struct ws_table ws_index_catalog_table;
extern const struct ws_type ws_index_snapshot_type;

/**
 * Sets the members that follow from others: name, places, pythons. False with @a why: the file name
 * is not that of a wheel.
 */
bool ws_index_entry_complete(struct ws_index_entry *entry, struct ws_arena *a, const char **why);

/** Sorts by package, version, file name. */
void ws_index_catalog_sort(struct ws_index_catalog *catalog);

/** Reads index.json. WS_ERR_PUBLISH for another or newer schema. */
bool ws_index_catalog_read(
	const char *path, struct ws_arena *a, struct ws_index_catalog *catalog, struct ws_err *err);

/**
 * Yanks wheels, or takes a yank back if @a reason is NULL. @a what is "NAME==VERSION", with or
 * without a label, or a file name, also of a variant. @a reason is borrowed. Sets @a edited if an
 * entry changed. Returns the number of matching wheels.
 */
size_t ws_index_yank(struct ws_index_catalog *catalog, const char *what, const char *reason,
	bool *edited, struct ws_arena *a);

/* ---- the paths of an index, and the wheels that each path lists (path_wheels.c) ----
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
 * wheels that depend on a CUDA major version only. all/ lists every wheel and is not made here. */

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
