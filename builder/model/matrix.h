/**
 * matrix.h - the axes and the packages that a user wants, and the choices about size
 *
 * Plain data, filled by config/matrix.c from a file, or by cli/ from `PKG==V --here`. Each value
 * keeps its place in the text, because planning reports values that do not exist.
 */
#ifndef WS_MODEL_MATRIX_H
#define WS_MODEL_MATRIX_H

#include "base/json.h"
#include "model/condition.h"

/** "debug_info" of a matrix. */
enum ws_debug_info {
	WS_DEBUG_NONE,  /**< without debug info and local symbols */
	WS_DEBUG_LINES, /**< -lineinfo as the recipe has it, for profilers */
	WS_DEBUG_FULL,  /**< as upstream builds */
};

/** How nvcc compresses GPU code. */
enum ws_compress {
	WS_COMPRESS_NONE, /**< it is not */
	WS_COMPRESS_ALL,  /**< -Xfatbin -compress-all: every driver reads it */
	WS_COMPRESS_SIZE, /**< --compress-mode=size: drivers from CUDA 12.4's (550.54) on read it */
};

struct ws_size_options {
	enum ws_debug_info debug_info;
	enum ws_compress compress;
	enum ws_compress usual; /**< the toolkit's default; labels contain other choices */
	bool random_seed;       /**< nvcc supports --frandom-seed */
};

/** "none", "lines", "full", NULL. */
extern const char *const ws_debug_info_words[];
/** "none", "all", "size". */
extern const char *const ws_compress_words[];

enum ws_policy {
	WS_POLICY_PREFER_PREBUILT,
	WS_POLICY_PREFER_BUILD,
	WS_POLICY_PREBUILT_ONLY,
	WS_POLICY_BUILD_ONLY,
};

/** "prefer-prebuilt", ..., NULL. */
extern const char *const ws_policy_words[];

/** NAME==V. */
struct ws_wanted {
	const char *name; /**< normalised */
	struct ws_version version;
	struct ws_place place;
};

/** One value of the torch axis. */
struct ws_torch_value {
	bool installed;            /**< "installed": the torch of the cell's interpreter */
	struct ws_version version; /**< with a local label when a variant was named: 2.5.1+cu121 */
	struct ws_place place;
};

/** One value of the cuda axis. */
struct ws_cuda_value {
	bool automatic;            /**< "auto" */
	struct ws_version version; /**< "12.4" */
	struct ws_place place;
};

/** Major and minor alone, so that a toolkit has one name: "12.4", or "cu124". False for anything
 * else. */
bool ws_cuda_version_parse(const char *text, struct ws_arena *a, struct ws_version *version);

/** One value of the python axis. */
struct ws_python_value {
	bool host;                /**< "host": the python3 on PATH */
	const char *path;         /**< an interpreter's path; NULL when a version was named */
	struct ws_python_tag tag; /**< meaningless for host and path until resolved */
	struct ws_place place;
};

/** One value of the arch axis: the set of one wheel. */
struct ws_arch_value {
	bool host;        /**< "host": the GPUs of this host */
	const char *text; /**< as written; names of sets are resolved when planning */
	struct ws_place place;
};

struct ws_exclude {
	struct ws_condition when;
	const char *package; /**< normalised; NULL: all */
	const char *why;     /**< NULL: "excluded by the matrix" */
};

/** One extra point, beyond the product of the axes; excludes do not apply to it. */
struct ws_include {
	const char *package;         /**< normalised; NULL: all of the matrix */
	struct ws_torch_value torch; /**< version.text NULL: none, for packages that need no torch */
	struct ws_cuda_value cuda;
	struct ws_python_value python;
	struct ws_arch_value arch;
	int cxx11abi; /**< -1: auto */
};

/** The replacement for a cell without a wheel. */
struct ws_fallback {
	const char *package; /**< normalised */
	const char *to;      /**< free word: "sdpa" */
};

struct ws_index_role {
	const char *role; /**< "default", "torch", ... */
	const char *const *urls;
	size_t url_count;
};

/** In the order of the text. */
struct ws_index_roles {
	const struct ws_index_role *at;
	size_t count;
};

struct ws_facts;

struct ws_matrix {
	const struct ws_json_doc *doc; /**< the text, for errors; NULL when made from options */
	const char *path;              /**< NULL when made from options */
	const struct ws_wanted *packages;
	size_t package_count;
	const struct ws_torch_value *torch;
	size_t torch_count;
	const struct ws_cuda_value *cuda;
	size_t cuda_count;
	const struct ws_python_value *python;
	size_t python_count;
	const struct ws_arch_value *arch;
	size_t arch_count;
	const int *cxx11abi; /**< 0, 1, or -1: auto */
	size_t cxx11abi_count;
	const struct ws_machine *const *platforms; /**< at least one */
	size_t platform_count;
	const struct ws_exclude *excludes;
	size_t exclude_count;
	const struct ws_include *includes;
	size_t include_count;
	enum ws_policy policy;
	bool torch_window; /**< wheels for other torch minors are candidates, after the exact ones */
	bool policy_given; /**< false: the configuration's policy counts, else prefer-prebuilt */
	struct ws_fallback *fallbacks;
	size_t fallback_count;
	bool fallback_on_no_candidate, fallback_on_build_failed;
	struct ws_index_roles indexes;
	const char *recipes; /**< folder, absolute, searched before the configuration's; NULL */
	const char *label;   /**< extra label segments, dotted; NULL */
	enum ws_debug_info debug_info;
	bool compress_none; /**< "compress": "none" */
	const char *glibc;  /**< "2.28", "host"; NULL: as old as torch's own */
	struct ws_version
		driver; /**< the oldest driver that the wheels will meet; text NULL: not said */
};

/** Minors of torch ("2.12") become the releases that @a facts know of them. */
void ws_matrix_name_torch(
	struct ws_matrix *matrix, const struct ws_facts *facts, struct ws_arena *a);

/** The fallback of @a package; NULL: none. */
const char *ws_matrix_fallback(const struct ws_matrix *matrix, const char *package);

#endif
