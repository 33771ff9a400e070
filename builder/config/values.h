/**
 * values.h - the types of plain values in files that people write
 *
 * For the tables of fields.h. Texts are never empty and live in the reader's arena.
 */
#ifndef WS_CONFIG_VALUES_H
#define WS_CONFIG_VALUES_H

#include "base/table.h"

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
extern const struct ws_type ws_type_truth;   /**< bool */
extern const struct ws_type ws_type_range;   /**< const struct ws_specifiers * */
extern const struct ws_type ws_type_version; /**< struct ws_version */
extern const struct ws_type ws_type_python;  /**< struct ws_python_tag */
extern const struct ws_type ws_type_ignored; /**< a string; nothing is stored */

/** A string, neither empty nor with control characters but line breaks and tabs; else NULL. */
const char *ws_text_of(struct ws_reader *r, const struct ws_json *value, const char *name);

/** Absolute: "~/x" below the reader's home, else relative to the reader's folder. */
const char *ws_path_from(const struct ws_reader *r, const char *path);

/** False unless @a name can be imported: identifiers of ASCII with dots between them. */
bool ws_is_module_name(const char *name);

/** False unless @a name can name a package (PEP 508). */
bool ws_is_package_name(const char *name);

#endif
