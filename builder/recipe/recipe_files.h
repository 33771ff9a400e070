/**
 * recipe_files.h - the files of a module's units and of the Python part
 *
 * Matches a recipe's paths and patterns with the listing of its sources. Selects the compiler of
 * each file. Reads listings, no files; torch's own flags are in compile/flags.c.
 */
#ifndef WS_RECIPE_RECIPE_FILES_H
#define WS_RECIPE_RECIPE_FILES_H

#include "base/listing.h"
#include "model/recipe.h"

/* ---- what is wrong with a recipe beside its sources ----
 * Values, so that `recipe check` can report all of them and a build can fail with the first.
 * Mistakes of the text itself are found by config/ while it reads. */

struct ws_recipe_problem {
	const char
		*where; /**< the value in the recipe's JSON, for ws_json_at: "extensions/0/include/1" */
	const char *text; /**< one line */
	const char *cure; /**< what to do; NULL: see the text */
};

/** In the order in which they were found. */
struct ws_recipe_problems {
	WS_VEC(struct ws_recipe_problem) list;
	struct ws_arena *a; /**< holds the texts */
};

/** Adds one, at item @a index of the list @a list. @a problems may be NULL. */
void ws_recipe_problem_add(struct ws_recipe_problems *problems, const char *list, size_t index,
	const char *cure, const char *format, ...) WS_PRINTF(5, 6);

enum ws_unit_kind {
	WS_UNIT_C, /**< for the C compiler beside the C++ compiler */
	WS_UNIT_CXX,
	WS_UNIT_CUDA,   /**< for nvcc: registers its kernels with the CUDA runtime */
	WS_UNIT_DEVICE, /**< for nvcc: kernels alone, embedded as an image behind a symbol */
};

#define WS_UNIT_KINDS (WS_UNIT_DEVICE + 1)

/** True for what nvcc compiles, once for each architecture. */
bool ws_unit_is_nvcc(enum ws_unit_kind kind);

/** The symbol that an image stands behind: "device/attn_80.cu" -> "attn_80". */
const char *ws_unit_symbol(const char *path, struct ws_arena *a);

/** By the ending; false for a file that is not compiled. */
bool ws_unit_kind_of(const char *path, enum ws_unit_kind *kind);

/** The endings, for people. */
#define WS_UNIT_ENDINGS ".c .cc .cpp .cxx .cu"

/** One source file to compile. */
struct ws_unit {
	const char *path; /**< relative to the sources */
	enum ws_unit_kind kind;
	unsigned files; /**< 1; a pattern without a listing stands for as many as the recipe expects */
};

/** An extension of a recipe at one point of the matrix. */
struct ws_recipe_module {
	const struct ws_extension *extension;
	const struct ws_unit *units; /**< in the recipe's order; what a pattern matches by name */
	size_t unit_count;
	bool cuda;    /**< one of them is for nvcc */
	bool runtime; /**< one of them registers with the CUDA runtime */
	bool cxx;     /**< one of them is C++, or CUDA's with a host part in C++ */
};

/**
 * Extension @a index of @a recipe. Without a @a listing (NULL) patterns stay patterns and no file
 * is checked; with a @a point, flags of other machines are problems. Problems: a missing file, a
 * pattern that matches another number of files than the recipe expects, a file of a kind that is
 * not compiled, a file named twice, a name or a flag that may not reach a command line. Files with
 * one of the first three are not among the units. Exception: without @a problems (NULL) missing
 * files are units, because a patch of other points may create them.
 */
struct ws_recipe_module ws_recipe_module(const struct ws_recipe *recipe, size_t index,
	const struct ws_listing *listing, const struct ws_point_view *point, struct ws_arena *a,
	struct ws_recipe_problems *problems);

/** The estimate for a unit: the first whose pattern matches; NULL: there is none. */
const struct ws_estimate *ws_recipe_estimate(const struct ws_recipe *recipe, const char *path);

/** The patches that hold at @a point; NULL: those without a condition. @a count is set. */
const struct ws_patch *const *ws_recipe_patches(const struct ws_recipe *recipe,
	const struct ws_point_view *point, struct ws_arena *a, size_t *count);

/* ---- which Python files of the sources go into the wheel ----
 * As setuptools' find_packages takes them: the .py files of each package folder, and of every
 * folder below that is a package itself; other files only when the recipe's `data` names them, so
 * that sdist and git checkout give the same wheel. Reads listings, no files. */

/** One file of the Python part. */
struct ws_python_file {
	const char *path; /**< in the wheel: "flash_attn/ops/rotary.py" */
	const char *from; /**< in the source tree */
	bool executable;
};

typedef WS_VEC(struct ws_python_file) ws_python_files;

/** Appends them, sorted by path. Problems: a package or a module that takes no file. */
void ws_python_files_list(const struct ws_recipe *recipe, const struct ws_listing *listing,
	struct ws_arena *a, ws_python_files *files, struct ws_recipe_problems *problems);

/** Problems: a pattern of `data` that matches no file, which hurts no build. */
void ws_python_files_check_data(const struct ws_recipe *recipe, const struct ws_listing *listing,
	struct ws_recipe_problems *problems);

#endif
