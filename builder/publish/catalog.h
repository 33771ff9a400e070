/**
 * catalog.h - which wheels an index has, and what is known of each: index.json
 *
 * The one file that an index is made from: all pages follow from it. Reads and writes the text;
 * touches no wheel (admit.h) and no folder (target.h). The schema is schemas/index-1.json.
 */
#ifndef WS_PUBLISH_CATALOG_H
#define WS_PUBLISH_CATALOG_H

#include "base/arena.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "model/wheel_name.h"

/** On what a wheel depends, the more the later. In a path the last that fits a release answers. */
enum ws_index_kind {
	WS_INDEX_UNPLACED, /**< nobody knows where it loads: in all/ alone */
	WS_INDEX_NONE,     /**< Python only: everywhere */
	WS_INDEX_C_ABI,    /**< a major version of CUDA */
	WS_INDEX_STABLE,   /**< a major version of CUDA, the torch of its label and later ones */
	WS_INDEX_BOUND,    /**< the CUDA and the torch of its labels, nothing else */
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
	const char *file;          /**< name, as it was made */
	struct ws_wheel_name name; /**< the same, taken apart */
	const char *sha256;
	const char *metadata_sha256; /**< of METADATA, which lies beside the wheel */
	uint64_t size_bytes;
	const char *uploaded;        /**< when it was published: "2026-11-21T08:30:00.000000Z" */
	const char *requires_python; /**< NULL: any */
	const char *yanked;          /**< why it should not be taken any more; NULL: it should */
	const char *forced;          /**< what was wrong with it when it was published; NULL: nothing */
	enum ws_index_kind kind;
	const char *const *labels;     /**< "cu.12.4.torch.2.5.sm.86": where it stands */
	struct ws_wheel_label *places; /**< the same, read */
	size_t place_count;
	uint64_t pythons; /**< those that it answers, a bit for each (ws_index_pythons) */
	const char
		*restricted; /**< on its way in: its licence, if that does not let everybody use it; NULL */
	const struct ws_json *facts;            /**< its wheelsmith.json; NULL: it has none */
	const struct ws_index_variant *variant; /**< NULL: there is none */
};

/** A path of the index and the files that answer there: "cu124-torch2.5". */
struct ws_index_path {
	const char *path;
	const struct ws_index_entry *const *entries; /**< sorted by package, version, file */
	size_t count;
};

struct ws_index_catalog {
	const char *title;                     /**< of the page for people; NULL: none of its own */
	const char *snapshot;                  /**< "2026-11-21.1"; NULL: nothing is published yet */
	WS_VEC(struct ws_index_entry) entries; /**< sorted by package, version, file once it was read */
};

/** Fills what follows from others: name, places, pythons. False with @a why: not a wheel's name. */
bool ws_index_entry_complete(struct ws_index_entry *entry, struct ws_arena *a, const char **why);

/** Sorts by package, version, file name. */
void ws_index_catalog_sort(struct ws_index_catalog *catalog);

/** Reads index.json. One of a newer schema, or that is not one, is WS_ERR_PUBLISH. */
bool ws_index_catalog_read(
	const char *path, struct ws_arena *a, struct ws_index_catalog *catalog, struct ws_err *err);

/** Appends the text; @a paths are written beside. */
void ws_index_catalog_write(const struct ws_index_catalog *catalog,
	const struct ws_index_path *paths, size_t path_count, struct ws_buf *out);

/**
 * Yanks the wheels that @a what means, or takes that back where @a reason is NULL. @a what is
 * "NAME==VERSION", with or without a label, or a file name, which may be the variant's. @a reason
 * is borrowed. Sets @a edited where an entry was not so before.
 * @return how many are meant.
 */
size_t ws_index_yank(struct ws_index_catalog *catalog, const char *what, const char *reason,
	bool *edited, struct ws_arena *a);

#endif
