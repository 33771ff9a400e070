/**
 * recipe.h - how one version of one package is built, and which wheels of it were published
 *
 * Plain data, filled by config/recipe.c from recipes/<name>/<version>.json. recipes/README.md
 * explains the JSON keys.
 */
#ifndef WS_MODEL_RECIPE_H
#define WS_MODEL_RECIPE_H

#include "base/crypto.h"
#include "model/condition.h"

/** A value that names have in place of a placeholder. */
struct ws_published {
	const char *text;          /**< as names write it: "123", "2.4", "TRUE" */
	struct ws_version version; /**< what it means: "12.3", "2.4" */
	bool any_minor;            /**< of CUDA: "12" is any 12.x */
	int cxx11abi;              /**< of "TRUE" 1, of "FALSE" 0 */
};

struct ws_published_list {
	const struct ws_published *at;
	size_t count; /**< 0: names do not say it */
};

/** An interpreter that names have in place of {python}: one with the GIL. */
struct ws_published_python {
	struct ws_python_tag tag;
	struct ws_version version; /**< "3.11" */
};

struct ws_prebuilt {
	const char *from; /**< publisher, for people: "Dao-AILab's releases" */
	/** With {version}, {cuda}, {torch}, {cxx11abi} and {python} ("cp311"); '+' is not escaped. */
	const char *url;
	struct ws_published_list cuda, torch, cxx11abi;
	const struct ws_published_python *pythons;
	size_t python_count;               /**< 0: names do not say it */
	const struct ws_condition *except; /**< combinations that were not published */
	size_t except_count;
	struct ws_arch_set archs; /**< archs of all of them; count 0: not known */
	const char *see;          /**< where the matrix was read: a URL; NULL */
};

/** One value for each placeholder; NULL: names do not say it. */
struct ws_published_values {
	const struct ws_published *cuda, *torch, *cxx11abi;
	const struct ws_published_python *python;
};

/** Whether the combination was published; its values are of the lists. */
bool ws_prebuilt_has(const struct ws_prebuilt *prebuilt, const struct ws_published_values *values);

/** How many names were published. */
size_t ws_prebuilt_count(const struct ws_prebuilt *prebuilt);

/** The interface of a module; its product depends on it. The most demanding first. */
enum ws_binding {
	WS_BINDING_PYBIND,
	WS_BINDING_TORCH_LIBRARY,
	WS_BINDING_STABLE_ABI,
	WS_BINDING_C_ABI,
	WS_BINDING_NONE,
};

/** "pybind", "torch-library", "stable-abi", "c-abi", "none", NULL. */
extern const char *const ws_binding_words[];

enum ws_source_kind {
	WS_SOURCE_SDIST,  /**< a file of a package on an index */
	WS_SOURCE_GIT,    /**< an exact commit */
	WS_SOURCE_FOLDER, /**< a local folder, relative to the recipe */
};

/** "sdist", "git", "folder". */
extern const char *const ws_source_kind_words[];

/** One way to the sources; a recipe names several in order of preference. */
struct ws_source_spec {
	enum ws_source_kind kind;
	const char *file;              /**< SDIST: file name on the index */
	const char *package;           /**< SDIST: package on the index */
	const char *url;               /**< GIT */
	const char *path;              /**< FOLDER: absolute after reading */
	const char *sha256;            /**< SDIST: of the file, 64 digits */
	const char *commit;            /**< GIT: 40 digits */
	const char *tree;              /**< GIT: tree id expected after checkout; NULL: not given */
	const char *const *submodules; /**< GIT: paths to bring; all others stay empty */
	size_t submodule_count;
	const char *strip; /**< top folder to take off; NULL: the single one there is */
};

/** Where it comes from, for a pin: its file name, URL or path. */
const char *ws_source_spec_from(const struct ws_source_spec *spec);

/** A change of the sources: a patch in unified format, or a new file. */
struct ws_patch {
	const char *
		name; /**< of a patch, below the recipe's folder: "fix.patch"; of a new file, below the top */
	const char *file;   /**< absolute path of a patch; NULL */
	const char *text;   /**< of a new file; NULL */
	const char *sha256; /**< of the patch; of a new file, over its name and text */
	struct ws_condition when;
};

/** Words added to a command. */
struct ws_flags {
	const char *const *c;
	size_t c_count;
	const char *const *cxx;
	size_t cxx_count;
	const char *const *nvcc;
	size_t nvcc_count;
	const char *const *link;
	size_t link_count;
};

/** A list of sources: literal paths, or one glob with the count it must have. */
struct ws_source_list {
	const char *const *paths;
	size_t path_count;
	const char *glob;  /**< NULL: none; '*' and '?' inside one folder */
	unsigned expected; /**< with glob: exactly so many files */
};

/** One extension module. */
struct ws_extension {
	const char *module; /**< dotted import name: "causal_conv1d_cuda" */
	const char *suffix; /**< its file's in the wheel: ".so", ".abi3.so"; NULL: by the wheel's tag */
	enum ws_binding binding;
	const struct ws_source_list *sources;
	size_t source_list_count;
	const struct ws_source_list
		*device; /**< .cu files whose images are embedded, see recipe/recipe_files.h */
	size_t device_list_count;
	bool compiles_cuda;         /**< names .cu files, or device code that is embedded */
	const char *const *include; /**< folders relative to the source tree */
	size_t include_count;
	struct ws_flags flags;
};

/** A measured hint, used until the ledger knows better; the first whose path matches counts. */
struct ws_estimate {
	const char *match; /**< glob over the unit's path, '*' over '/' too */
	unsigned rss_mib;  /**< peak */
	unsigned cpu_s;    /**< for one architecture */
};

/**
 * Files that become the wheel's Python part. As setuptools' find_packages: of each package folder
 * its .py files, and of the folders below that hold an __init__.py theirs; other files only when
 * `data` matches them, so that sdist and git checkout give the same wheel.
 */
struct ws_python_part {
	const char *const *packages; /**< folders below root */
	size_t package_count;
	const char *const *modules; /**< single .py files below root */
	size_t module_count;
	const char *const *data; /**< globs over installed paths, '*' over '/' too */
	size_t data_count;
	const char *const *exclude; /**< globs over installed paths; goes before the rest */
	size_t exclude_count;
	const char *root; /**< folder in the source tree; "" the top */
};

struct ws_project_url {
	const char *label, *url;
};

/** METADATA. */
struct ws_metadata {
	const char *summary;
	const char *home_page;
	const char *author;
	const char *author_email;         /**< may hold names: "A <a@x.org>, B <b@x.org>" */
	const char *license;              /**< free text; NULL */
	const char *license_expression;   /**< SPDX; makes METADATA 2.4; NULL */
	const char *const *license_files; /**< relative to the source tree */
	size_t license_file_count;
	const char *requires_python; /**< ">=3.9" */
	const char *const *requires; /**< PEP 508; a "torch" one is replaced by the product's own */
	size_t require_count;
	const char *const *classifiers;
	size_t classifier_count;
	const char *const *extras; /**< pairs "name", "requirement"; flat, even count */
	size_t extra_count;
	const char *const *keywords;
	size_t keyword_count;
	const struct ws_project_url *project_urls;
	size_t project_url_count;
	const char
		*description_file; /**< relative to the source tree; its suffix gives the type; NULL */
};

/** The checks of an installed wheel, for tests and `verify`. */
struct ws_install_check {
	const char *const *imports; /**< module names that must import */
	size_t import_count;
};

struct ws_recipe {
	const char *path;         /**< path of the recipe */
	struct ws_digest digest;  /**< of the file without `prebuilt`, and the patches it names */
	const char *name;         /**< normalised: "causal-conv1d" */
	const char *distribution; /**< as METADATA's Name writes it: "causal_conv1d" */
	struct ws_version version;
	struct ws_source_spec *sources;
	size_t source_count; /**< 0 where prebuilt_only */
	const struct ws_prebuilt *prebuilt;
	size_t prebuilt_count;
	bool prebuilt_only;      /**< it has neither sources nor extensions and is never built */
	enum ws_binding binding; /**< where prebuilt_only; else the extensions say it */
	struct ws_patch *patches;
	size_t patch_count;
	struct ws_extension *extensions; /**< what `every_extension` says is in each */
	size_t extension_count;
	struct ws_python_part python;
	struct ws_metadata metadata;
	const struct ws_specifiers *needs_torch;  /**< NULL: any */
	const struct ws_specifiers *needs_cuda;   /**< NULL: any */
	const struct ws_specifiers *needs_python; /**< NULL: any */
	/** Archs that the sources support, without suffix: 9.0 allows 9.0a. Count 0: any. */
	struct ws_arch_set archs;
	unsigned cxx_std; /**< minimum: 14, 17, 20, 23; 0: torch's own */
	const struct ws_known_bad *known_bad;
	size_t known_bad_count;
	const struct ws_shared_bad *bad_wheels; /**< published ones, of the facts */
	size_t bad_wheel_count;
	const struct ws_estimate *estimates;
	size_t estimate_count;
	struct ws_install_check check;
};

/**
 * The binding that decides what the wheel depends on: the most demanding of its extensions, in the
 * order of enum ws_binding; WS_BINDING_NONE when it has none. For prebuilt_only the recipe's
 * `binding`.
 */
enum ws_binding ws_recipe_binding(const struct ws_recipe *recipe);

#endif
