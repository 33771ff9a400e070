/**
 * draft.h - drafts or updates a recipe from sources, and finds the source distribution
 *
 * reader/, Python that ships with the program, writes it in a child: from PKG-INFO, setup.py
 * (followed as text, never run), which sources, headers and packages there are. Guesses are marked
 * with lines "// check: ...". The sources are untrusted: a draft results from any, and it is read
 * back as a recipe before a person gets it.
 */
#ifndef WS_DRAFT_DRAFT_H
#define WS_DRAFT_DRAFT_H

#include "fetch/fetch.h"
#include "model/recipe.h"
#include "net/index.h"

struct ws_json;

/** The older recipe, the base of an update. */
struct ws_draft_base {
	const struct ws_json *recipe;
	const char *folder; /**< its sources, unpatched */
};

/** The order of one draft. */
struct ws_draft_order {
	const char *reader;        /**< the folder of the child's program */
	const char *path_variable; /**< folders in which python3 is looked up: "/usr/bin:/bin" */
	const char *partial;       /**< folder below which the child gets its working folder */
	const char *folder;        /**< the source tree; NULL: there is none, a form is written */
	const char *from;          /**< what people call the sources; NULL for a form */
	const char *name;          /**< normalised */
	const char *distribution;  /**< as a person wrote it; PKG-INFO's own spelling goes before */
	const char *version;
	const struct ws_source_spec *source;
	const char *source_note; /**< to be checked about the source; NULL: nothing */
	const char *refused;     /**< why a recipe cannot hold the metadata of the last draft; NULL */
	const struct ws_draft_base *base; /**< NULL: this is not an update */
};

struct ws_draft {
	const char *text;         /**< of the recipe's file */
	uint64_t missing_sources; /**< files that setup.py compiles and the sources do not have */
	const char *repository;   /**< URL of a git repository, a guess; NULL */
	/** Needs of the wheel that the draft does not cover; its first lines list them, too. */
	const char *const *incomplete;
	size_t incomplete_count;
	/** Differences from the base: "requires.torch: >=2.3 is now >=2.4". */
	const char *const *changes;
	size_t change_count;
};

/** False without a python3, or when it does not end well. Texts live in @a a. */
bool ws_draft_make(const struct ws_draft_order *order, struct ws_arena *a, struct ws_draft *draft,
	struct ws_err *err);

/* ---- source distributions ---- */

/** The sources of a package on an index. */
struct ws_sdist_found {
	const struct ws_index_file *file; /**< .tar.gz before .zip; NULL: there is none */
	bool has_wheels;                  /**< the version is there, as wheels */
	const char *others;               /**< "1.0, 1.1": versions that have one; "" none */
	const struct ws_version *newest;  /**< of those, no pre-release if there is a final one; NULL */
};

/**
 * Looks on the default indexes. A package that none of them has, or a version that is not there at
 * all, is WS_ERR_CONFIG and names what there is; a version of wheels alone is not. @a version NULL:
 * any that has a source distribution.
 */
bool ws_sdist_find(const struct ws_fetch *fetch, const char *package,
	const struct ws_version *version, struct ws_arena *a, struct ws_sdist_found *found,
	struct ws_err *err);

/**
 * The version that the name of a source distribution of @a package (normalised) says:
 * "demo-1.0.tar.gz" (PEP 625) and "de-mo-1.0.zip" (before it). False for other files.
 */
bool ws_sdist_version(
	const char *file, const char *package, struct ws_arena *a, struct ws_version *version);

#endif
