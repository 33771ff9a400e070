/**
 * form.h - a wheel as the upload API of package indexes wants it: fields of a form
 *
 * The "legacy" API: multipart/form-data (RFC 7578) with a field for each field of METADATA
 * (warehouse, forklift/forms.py), its SHA-256, and the file last. Texts only; sends nothing.
 */
#ifndef WS_PUBLISH_SERVER_FORM_H
#define WS_PUBLISH_SERVER_FORM_H

#include "base/text.h"
#include "model/wheel_name.h"

struct ws_index_form {
	const char *file;                 /**< its name */
	const struct ws_wheel_name *name; /**< the same, taken apart */
	const char *sha256;
	struct ws_str metadata; /**< METADATA, which was read before: well-formed */
	const char *boundary;   /**< a text that is not in the wheel */
};

/** Appends what stands before the bytes of the wheel to @a head, what stands behind them to @a
 * tail. */
void ws_index_form_write(
	const struct ws_index_form *form, struct ws_arena *a, struct ws_buf *head, struct ws_buf *tail);

#endif
