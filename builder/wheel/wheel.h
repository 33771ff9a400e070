/**
 * wheel.h - one wheel, from a description to a file
 *
 * Composes the dist-info folder (METADATA, WHEEL, RECORD, licences, wheelsmith.json, SBOM) around
 * the files of a product and packs all of it. Equal descriptions and contents give equal bytes.
 * plan/product.c decides tags, label and requirements.
 */
#ifndef WS_WHEEL_WHEEL_H
#define WS_WHEEL_WHEEL_H

#include "model/recipe.h"

/** The three parts of a compatibility tag; each may be a compressed set: "py2.py3". */
struct ws_wheel_tags {
	const char *python;   /**< "cp311" */
	const char *abi;      /**< "cp311" */
	const char *platform; /**< "manylinux2014_x86_64.manylinux_2_17_x86_64" */
};

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
	const char *torch; /**< "torch==2.5.*" in place of the recipe's "torch"; NULL: as there */
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

/* ---- METADATA and WHEEL ----
 * Core metadata in version 2.1, or 2.4 where licence fields need it (PEP 639). Both files are lines
 * "Name: value". A value with a line break is refused, because readers would take the rest for
 * other fields. */

/**
 * Appends METADATA. @a description has the contents of the description file (empty: none); its type
 * follows from the name of that file, bytes that are not UTF-8 become U+FFFD. With a licence
 * expression, the free text `license` and the "License ::" classifiers are left out: the three
 * exclude each other. Errors are WS_ERR_CONFIG.
 */
bool ws_metadata_write(const struct ws_wheel_spec *spec, struct ws_str description,
	struct ws_buf *out, struct ws_err *err);

/** Appends WHEEL: one Tag line for each member of the expanded set, in byte order. */
void ws_wheel_file_write(const struct ws_wheel_tags *tags, bool purelib, struct ws_buf *out);

/** A set with its members sorted, as PEP 425 wants them; "b.a" becomes "a.b". */
const char *ws_wheel_tag_sorted(const char *set, struct ws_arena *a);

/* ---- the file ---- */

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

/* ---- its parts as a CycloneDX 1.5 document ----
 * PEP 770 keeps such a file in dist-info/sboms/. Equal parts give equal bytes: no time, no serial
 * number, one order. */

/** One thing that went in: a source, the torch wheel, an archive of the CUDA kit, the compiler. */
struct ws_sbom_part {
	const char *name;    /**< "torch", "cutlass", "gcc" */
	const char *version; /**< a commit for a git source; NULL: none */
	const char *purl;    /**< package URL: "pkg:pypi/torch@2.5.1"; NULL: none */
	const char *url;     /**< where it came from: a repository, or a file with sha256; NULL */
	const char *sha256;  /**< of that file, 64 digits; NULL or "": none */
	bool application;    /**< a program that was run (compiler), not a library that is in there */
};

/** Appends the document about @a wheel, made of @a parts in any order. */
void ws_sbom_write(const struct ws_sbom_part *wheel, const struct ws_sbom_part *parts, size_t count,
	struct ws_buf *out);

#endif
