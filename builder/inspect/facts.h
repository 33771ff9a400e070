/**
 * facts.h - what a wheel is: everything that can be said of it by itself
 *
 * Of a wheel (a file, or one at a URL, read by ranges), of an installed package, or of one shared
 * library. A problem is something that is wrong with it wherever it is installed: a broken rule of the
 * zip format, a RECORD that does not hold, names that contradict each other, a module that is not what
 * the tags promise. Whether it loads in a given place is verify/'s question.
 */
#ifndef WS_INSPECT_FACTS_H
#define WS_INSPECT_FACTS_H

#include "inspect/module_facts.h"
#include "wheelfile/dist_info.h"
#include "wheelfile/opened_wheel.h"
#include "wheelfile/problem.h"

enum ws_facts_kind {
	WS_FACTS_WHEEL,
	WS_FACTS_PACKAGE, /**< installed */
	WS_FACTS_LIBRARY,
};

struct ws_wheel_facts {
	enum ws_facts_kind kind;
	const char *subject; /**< file name, package, or path of the library */
	uint64_t size_bytes; /**< of the file; 0: installed */
	bool is_whole;       /**< every byte was read: hashes, CRCs and modules are reported */
	bool has_name;       /**< the file name is a wheel's: */
	struct ws_wheel_name name;
	const char *folder;           /**< "x-1.0.dist-info"; NULL: there is none, or several */
	bool has_wheel, has_metadata; /**< they could be read: */
	struct ws_wheel_info wheel;
	struct ws_metadata_info metadata;
	size_t entry_count;      /**< files and folders in the archive; 0: installed */
	uint64_t content_bytes;  /**< of all of them, unpacked */
	enum ws_zip_rule broken; /**< the first zip rule that is broken; WS_ZIP_SOUND: none was found */
	const char *broken_text; /**< how */
	const char *descriptor;  /**< first of those with a data descriptor, which agrees; NULL: none */
	size_t descriptor_count;
	size_t record_count;  /**< lines of RECORD */
	size_t hashed_count;  /**< of their files, those whose digest was recomputed and agrees */
	size_t outside_count; /**< installed files outside of site-packages: not read */
	const struct ws_module_facts *modules; /**< by name */
	size_t module_count;
	const char *platform; /**< tag that all modules together allow; NULL: none, or no module */
	struct ws_wheel_problems problems;
};

/** How to read. */
struct ws_facts_order {
	const char *name;   /**< the wheel's file name; the package's; what to call the library */
	const char *path;   /**< of the wheel or the library; of site-packages for a package */
	const char *folder; /**< an empty private one, for modules of a wheel; the caller removes it */
	struct ws_facts_lists lists;
};

/**
 * Facts of a wheel in a file: every member is read once, hashed, and unpacked if it is a library. What
 * is wrong with the wheel is a problem; false only when this host fails, or there is no such file.
 */
bool ws_facts_of_wheel(const struct ws_facts_order *order, struct ws_arena *a,
	struct ws_wheel_facts *facts, struct ws_err *err);

/**
 * Facts of a wheel on a server, read by ranges: names, WHEEL, METADATA and the names in RECORD, no
 * members. @a wire_bytes gets what came over the network. A server that cannot be reached is
 * WS_ERR_FETCH. One that gives no parts of files is warned of, and the whole wheel is downloaded.
 */
bool ws_facts_of_url(const struct ws_fetch *fetch, const struct ws_index_file *file,
	struct ws_arena *a, struct ws_wheel_facts *facts, uint64_t *wire_bytes, struct ws_err *err);

/** Of a package that is installed in the site-packages at order->path. Not there: WS_ERR_CONFIG. */
bool ws_facts_of_package(const struct ws_facts_order *order, struct ws_arena *a,
	struct ws_wheel_facts *facts, struct ws_err *err);

/** Of one shared library. */
bool ws_facts_of_library(const struct ws_facts_order *order, struct ws_arena *a,
	struct ws_wheel_facts *facts, struct ws_err *err);

#endif
