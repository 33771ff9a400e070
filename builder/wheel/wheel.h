/**
 * wheel.h - one wheel, from a description to a file
 *
 * Composes the dist-info folder (METADATA, WHEEL, RECORD, licences, wheelsmith.json, SBOM) around
 * the files of a product and packs all of it. Equal descriptions and contents give equal bytes.
 * The planner decides tags, label and requirements.
 */
#ifndef WS_WHEEL_WHEEL_H
#define WS_WHEEL_WHEEL_H

#include "wheel/metadata.h"

/** A file of the Python part. */
struct ws_wheel_file {
	const char *path; /**< in the wheel: "flash_attn/ops/rotary.py" */
	const char *file; /**< on this host */
	bool executable;
};

/** A compiled extension module. */
struct ws_wheel_module {
	const char *module; /**< dotted import name: "flash_attn_2_cuda" */
	const char *file;   /**< the shared object on this host */
	const char *suffix; /**< of its name in the wheel; NULL: by the tags */
};

/** Everything that decides a wheel's bytes. */
struct ws_wheel_spec {
	const char *distribution; /**< as METADATA writes it: "flash_attn" */
	const char *version;      /**< normalised, with the label: "2.8.3+cu.12.4.torch.2.5.sm.86" */
	struct ws_wheel_tags tags;
	const char *torch; /**< "torch==2.5.*"; NULL: requirements are the recipe's */
	const struct ws_metadata *metadata;
	const char *source_dir; /**< base of the licence and description paths */
	const struct ws_wheel_file *files;
	size_t file_count;
	const struct ws_wheel_module *modules;
	size_t module_count;
	const char *facts_json; /**< text of wheelsmith.json; NULL: none */
	const char *sbom_json;  /**< text of the SBOM (CycloneDX); NULL: none */
	int64_t epoch;          /**< SOURCE_DATE_EPOCH: seconds since 1970 */
};

/** "flash_attn-2.8.3+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl". */
const char *ws_wheel_file_name(const struct ws_wheel_spec *spec, struct ws_arena *a);

/**
 * The path of a module in the wheel. Without @a suffix the ABI tag decides: "pkg/_C.abi3.so" for
 * abi3, "pkg/_C.cpython-311-x86_64-linux-gnu.so" for cp311, "pkg/_C.so" for none.
 */
const char *ws_wheel_module_path(
	const char *module, const char *suffix, const struct ws_wheel_tags *tags, struct ws_arena *a);

/**
 * Writes the wheel to @a path; not atomically: the caller renames it. Root-Is-Purelib is true for
 * the platform "any", where a shared object is an error.
 */
bool ws_wheel_write(const struct ws_wheel_spec *spec, const char *path, struct ws_err *err);

#endif
