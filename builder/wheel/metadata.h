/**
 * metadata.h - METADATA and WHEEL, the two header files of a dist-info folder
 *
 * Core metadata in version 2.1, or 2.4 where licence fields need it (PEP 639); WHEEL of the
 * binary distribution format. Both are lines "Name: value". A value with a line break is refused,
 * because readers would take the rest for other fields.
 */
#ifndef WS_WHEEL_METADATA_H
#define WS_WHEEL_METADATA_H

#include "model/recipe.h"

/** Values of METADATA that are not in the recipe. */
struct ws_metadata_facts {
	const char *distribution; /**< Name, as the recipe writes it: "causal_conv1d" */
	const char *version;      /**< normalised, with the label */
	/** "torch==2.5.*" (plan/product.c), replaces the recipe's "torch"; NULL: as there */
	const char *torch;
	struct ws_str description; /**< contents of the description file; empty: none */
};

/**
 * Appends METADATA. The type of the description follows from the name of its file; bytes of it that
 * are not UTF-8 become U+FFFD. With a licence expression, the free text `license` and the "License
 * ::" classifiers are left out: the three exclude each other. Errors are WS_ERR_CONFIG.
 */
bool ws_metadata_write(const struct ws_metadata *metadata, const struct ws_metadata_facts *facts,
	struct ws_buf *out, struct ws_err *err);

/** The three parts of a compatibility tag; each may be a compressed set: "py2.py3". */
struct ws_wheel_tags {
	const char *python;   /**< "cp311" */
	const char *abi;      /**< "cp311" */
	const char *platform; /**< "manylinux2014_x86_64.manylinux_2_17_x86_64" */
};

/** Appends WHEEL: one Tag line for each member of the expanded set, in byte order. */
void ws_wheel_file_write(const struct ws_wheel_tags *tags, bool purelib, struct ws_buf *out);

/** A set with its members sorted, as PEP 425 wants them; "b.a" becomes "a.b". */
const char *ws_wheel_tag_sorted(const char *set, struct ws_arena *a);

#endif
