#include "publish/server/form.h"

#include "wheelfile/dist_info.h"

#include <string.h>
#include <strings.h>

/* Fields of METADATA whose name in the form does not follow from their own (forms.py of
 * warehouse). */
static const struct {
	const char *field, *form;
} others[] = {
	{"Classifier", "classifiers"},
	{"Project-URL", "project_urls"},
};

/* Fields of the form that are measured here, or that no METADATA has: a wheel cannot set them. */
static const char *const own[] = {
	"attestations",
	"content",
	"filetype",
	"gpg_signature",
	"protocol_version",
	"pyversion",
};

static void
put(struct ws_buf *out, const char *boundary, const char *name, struct ws_str value)
{
	ws_buf_printf(out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%.*s\r\n",
		boundary, name, WS_STR_ARGS(value));
}

static void
put_text(struct ws_buf *out, const char *boundary, const char *name, const char *value)
{
	put(out, boundary, name, ws_str_of(value));
}

/* "Requires-Dist" is "requires_dist"; NULL: not a field of METADATA. */
static const char *
form_name(struct ws_str field, struct ws_arena *a)
{
	for (size_t i = 0; i < WS_LEN(others); i++) {
		if (field.n == strlen(others[i].field)
			&& strncasecmp(field.s, others[i].field, field.n) == 0) {
			return others[i].form;
		}
	}
	char *name = ws_str_copy(field, a);
	for (char *c = name; *c; c++) {
		*c = *c == '-' ? '_' : ws_lower(*c);
	}
	return name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")] == '\0'
			&& !ws_is_among(name, own, WS_LEN(own))
		? name
		: NULL;
}

static void
put_metadata(const struct ws_index_form *form, struct ws_arena *a, struct ws_buf *out)
{
	struct ws_headers headers = {.rest = form->metadata};
	struct ws_header field;
	bool says_python = false;
	while (ws_headers_next(&headers, &field)) {
		const char *name = field.name.s ? form_name(field.name, a) : NULL;
		if (name) {
			put(out, form->boundary, name, field.value);
			says_python = says_python || strcmp(name, "requires_python") == 0;
		}
	}
	if (!says_python) {
		put_text(out, form->boundary, "requires_python", ""); /* some servers require it */
	}
	if (ws_str_trim(headers.rest).n > 0) {
		put(out, form->boundary, "description", headers.rest);
	}
}

void
ws_index_form_write(
	const struct ws_index_form *form, struct ws_arena *a, struct ws_buf *head, struct ws_buf *tail)
{
	const char *b = form->boundary;
	WS_AUTO_BUF struct ws_buf pythons = {0};
	for (size_t i = 0; i < form->name->python_count; i++) {
		ws_buf_printf(&pythons, "%s%s", i ? "." : "", form->name->pythons[i]);
	}
	put_text(head, b, ":action", "file_upload");
	put_text(head, b, "protocol_version", "1");
	put_text(head, b, "filetype", "bdist_wheel");
	put_text(head, b, "pyversion", ws_buf_text(&pythons));
	put_text(head, b, "sha256_digest", form->sha256);
	put_metadata(form, a, head);
	ws_buf_printf(head,
		"--%s\r\nContent-Disposition: form-data; name=\"content\"; filename=\"%s\"\r\n"
		"Content-Type: application/octet-stream\r\n\r\n",
		b, form->file);
	ws_buf_printf(tail, "\r\n--%s--\r\n", b);
}
