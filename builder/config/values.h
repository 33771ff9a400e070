/**
 * values.h - types of single values in people's files: text, version, condition, indexes, policy
 *
 * Texts are never empty and live in the reader's arena.
 */
#ifndef WS_CONFIG_VALUES_H
#define WS_CONFIG_VALUES_H

#include "base/table.h"
#include "model/matrix.h"

extern const struct ws_type ws_type_text;    /**< const char * */
extern const struct ws_type ws_type_line;    /**< const char *: no line breaks */
extern const struct ws_type ws_type_inside;  /**< const char *: a path below a folder, no ".." */
extern const struct ws_type ws_type_folder;  /**< const char *: as ws_type_inside, or "." */
extern const struct ws_type ws_type_path;    /**< const char *: made absolute, see ws_path_from */
extern const struct ws_type ws_type_sha256;  /**< const char *: 64 lower-case digits */
extern const struct ws_type ws_type_commit;  /**< const char *: 40 lower-case digits */
extern const struct ws_type ws_type_url;     /**< const char *: http, https; no credentials */
extern const struct ws_type ws_type_package; /**< const char *: normalised */
extern const struct ws_type ws_type_number;  /**< unsigned, at least 1 */
extern const struct ws_type ws_type_size;    /**< uint64_t, at least 1 */
extern const struct ws_type ws_type_range;   /**< const struct ws_specifiers * */
extern const struct ws_type ws_type_version; /**< struct ws_version */
extern const struct ws_type ws_type_python;  /**< struct ws_python_tag */
extern const struct ws_type ws_type_ignored; /**< any string; the value is dropped */

/** A string, neither empty nor with control characters but line breaks and tabs; else NULL. */
const char *ws_text_of(struct ws_reader *r, const struct ws_json *value, const char *name);

/** Absolute: "~/x" below the reader's home, else relative to the reader's folder. */
const char *ws_path_from(const struct ws_reader *r, const char *path);

/** False unless @a name can be imported: identifiers of ASCII with dots between them. */
bool ws_is_module_name(const char *name);

/** False unless @a name can name a package (PEP 508). */
bool ws_is_package_name(const char *name);

/* ---- conditions ---- */

/** Fills a struct ws_condition. */
extern const struct ws_type ws_type_condition;

/** For tables that hold a condition's keys among their own: its types. */
extern const struct ws_type ws_type_archs;    /**< struct ws_arch_set; a list or one text */
extern const struct ws_type ws_type_abi;      /**< int: 0 or 1 */
extern const struct ws_type ws_type_platform; /**< const struct ws_machine * */
extern const struct ws_type ws_type_either;   /**< int: a boolean as 0 or 1 */

/** The seven keys of the condition that is @a path (`when.`, or nothing) in @a owner. */
#define WS_CONDITION_FIELDS(owner, path) \
	{WS_ONE(owner, path torch, "torch", ws_type_range)}, \
		{WS_ONE(owner, path cuda, "cuda", ws_type_range)}, \
		{WS_ONE(owner, path python, "python", ws_type_range)}, \
		{WS_ONE(owner, path archs, "arch", ws_type_archs)}, \
		{WS_ONE(owner, path machine, "platform", ws_type_platform)}, \
		{WS_ONE(owner, path cxx11abi, "cxx11abi", ws_type_abi)}, \
	{ \
		WS_ONE(owner, path free_threaded, "free_threaded", ws_type_either) \
	}

/** A condition that always holds: the initial value in a table's struct. */
#define WS_CONDITION_ANY ((struct ws_condition){.cxx11abi = -1, .free_threaded = -1})

/** Reads 0 or 1; @a allowed is for messages: "0, 1 or \"auto\"". */
bool ws_abi_read(struct ws_reader *r, const struct ws_json *value, const char *allowed, int *abi);

extern const struct ws_type ws_type_indexes; /**< struct ws_index_roles */
extern const struct ws_type ws_type_policy;  /**< enum ws_policy */

#endif
