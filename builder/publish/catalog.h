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

/** Appends the text of index.json with these paths. */
void ws_index_catalog_write(const struct ws_index_catalog *catalog,
	const struct ws_index_path *paths, size_t path_count, struct ws_buf *out);

/**
 * Yanks wheels, or takes a yank back if @a reason is NULL. @a what is "NAME==VERSION", with or
 * without a label, or a file name, also of a variant. @a reason is borrowed. Sets @a edited if an
 * entry changed. Returns the number of matching wheels.
 */
size_t ws_index_yank(struct ws_index_catalog *catalog, const char *what, const char *reason,
	bool *edited, struct ws_arena *a);

#endif
