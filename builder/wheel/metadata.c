/* metadata.c - METADATA, field by field (core metadata specifications; PEP 639, 685). Judging
 * requirements and classifiers is the index's. */
#include "wheel/wheel.h"

/* The output, and its first error. */
struct writer {
	struct ws_buf *out;
	struct ws_arena *a;
	struct ws_err *err;
	bool failed;
};

/* "\n" for every kind of line end, U+FFFD for what is not text. */
static void
add_text(struct ws_buf *out, struct ws_str text)
{
	for (size_t i = 0; i < text.n;) {
		size_t len = ws_utf8_len(text.s + i, text.n - i);
		if (text.s[i] == '\r') {
			ws_buf_puts(out, i + 1 < text.n && text.s[i + 1] == '\n' ? "" : "\n");
		} else if (len == 0 || text.s[i] == '\0') {
			ws_buf_puts(out, "\xef\xbf\xbd");
		} else {
			ws_buf_add(out, text.s + i, len);
		}
		i += len ? len : 1;
	}
}

static void
add_field(struct writer *w, const char *name, const char *value)
{
	if (!value || w->failed) {
		return;
	}
	/* NEL, LINE and PARAGRAPH SEPARATOR break lines for Python, too. */
	if (ws_has_control(value) || strstr(value, "\xc2\x85") || strstr(value, "\xe2\x80\xa8")
		|| strstr(value, "\xe2\x80\xa9")) {
		ws_err_set(w->err, WS_ERR_CONFIG, "the metadata field '%s' is more than one line", name);
		ws_err_cure(w->err, "write it in one line; longer texts go to description_file");
		w->failed = true;
		return;
	}
	ws_buf_printf(w->out, "%s: ", name);
	add_text(w->out, ws_str_of(value));
	ws_buf_putc(w->out, '\n');
}

/* The product's own torch in place of the recipe's, then the rest. */
static void
add_requirements(struct writer *w, const struct ws_metadata *m, const char *torch)
{
	add_field(w, "Requires-Dist", torch);
	for (size_t i = 0; i < m->require_count; i++) {
		/* A requirement (PEP 508) starts with a name. */
		const char *name = m->requires[i] + strspn(m->requires[i], " \t");
		size_t len = strcspn(name, " \t[]()<>=!~;@,");
		if (!torch
			|| strcmp(ws_package_normal(ws_arena_copy(w->a, name, len), w->a), "torch") != 0) {
			add_field(w, "Requires-Dist", m->requires[i]);
		}
	}
}

/* Each extra once, with a Requires-Dist for each of its requirements:
 * "triton>=3 ; (python_version < '3.13') and extra == "fast"". */
static void
add_extras(struct writer *w, const struct ws_metadata *m)
{
	for (size_t i = 0; i + 1 < m->extra_count; i += 2) {
		const char *extra = ws_package_normal(m->extras[i], w->a);
		bool known = false;
		for (size_t j = 0; j < i; j += 2) {
			known = known || strcmp(ws_package_normal(m->extras[j], w->a), extra) == 0;
		}
		if (!known) {
			add_field(w, "Provides-Extra", extra);
		}
		/* In a URL, ';' is a character like any other; the marker stands behind a space. */
		const char *requirement = m->extras[i + 1];
		const char *marker = strstr(requirement, strchr(requirement, '@') ? " ;" : ";");
		size_t len = marker ? (size_t)(marker - requirement) : strlen(requirement);
		struct ws_str plain = ws_str_trim((struct ws_str){requirement, len});
		struct ws_str rest = ws_str_trim(ws_str_of(marker ? strchr(marker, ';') + 1 : NULL));
		add_field(w, "Requires-Dist",
			ws_arena_printf(w->a, "%.*s ; %s%.*s%sextra == \"%s\"", WS_STR_ARGS(plain),
				marker ? "(" : "", WS_STR_ARGS(rest), marker ? ") and " : "", extra));
	}
}

bool
ws_metadata_write(const struct ws_wheel_spec *spec, struct ws_str description, struct ws_buf *out,
	struct ws_err *err)
{
	const struct ws_metadata *metadata = spec->metadata;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct writer w = {.out = out, .a = a, .err = err};
	bool licensed = metadata->license_expression || metadata->license_file_count > 0;
	add_field(&w, "Metadata-Version", licensed ? "2.4" : "2.1");
	add_field(&w, "Name", spec->distribution);
	add_field(&w, "Version", spec->version);
	add_field(&w, "Summary", metadata->summary);
	if (metadata->keyword_count > 0) {
		add_field(&w, "Keywords", ws_join(metadata->keywords, metadata->keyword_count, ",", a));
	}
	add_field(&w, "Home-page", metadata->home_page);
	add_field(&w, "Author", metadata->author);
	add_field(&w, "Author-email", metadata->author_email);
	if (metadata->license_expression) {
		add_field(&w, "License-Expression", metadata->license_expression);
	} else {
		add_field(&w, "License", metadata->license);
	}
	for (size_t i = 0; i < metadata->license_file_count; i++) {
		add_field(&w, "License-File", metadata->license_files[i]);
	}
	for (size_t i = 0; i < metadata->classifier_count; i++) {
		const char *classifier = metadata->classifiers[i];
		if (!metadata->license_expression || !ws_starts_with(classifier, "License ::")) {
			add_field(&w, "Classifier", classifier);
		}
	}
	add_field(&w, "Requires-Python", metadata->requires_python);
	add_requirements(&w, metadata, spec->torch);
	for (size_t i = 0; i < metadata->project_url_count; i++) {
		const struct ws_project_url *page = &metadata->project_urls[i];
		add_field(&w, "Project-URL", ws_arena_printf(a, "%s, %s", page->label, page->url));
	}
	add_extras(&w, metadata);
	const char *file = metadata->description_file;
	if (description.n > 0 && file) {
		bool markdown = ws_ends_with(file, ".md") || ws_ends_with(file, ".markdown");
		add_field(&w, "Description-Content-Type",
			markdown                         ? "text/markdown"
				: ws_ends_with(file, ".rst") ? "text/x-rst"
											 : "text/plain");
		ws_buf_putc(out, '\n');
		add_text(out, description);
	}
	return !w.failed;
}

const char *
ws_wheel_tag_sorted(const char *set, struct ws_arena *a)
{
	WS_VEC(const char *) members = {0};
	struct ws_str rest = ws_str_of(set);
	while (rest.s) {
		*ws_vec_push(&members, a) = ws_str_copy(ws_str_cut(&rest, '.'), a);
	}
	qsort(members.at, members.len, sizeof(*members.at), ws_cmp_strings);
	return ws_join(members.at, members.len, ".", a);
}

void
ws_wheel_file_write(const struct ws_wheel_tags *tags, bool purelib, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_buf_printf(out, "Wheel-Version: 1.0\nGenerator: wheelsmith (%s)\nRoot-Is-Purelib: %s\n",
		WS_VERSION, purelib ? "true" : "false");
	struct ws_str pythons = ws_str_of(ws_wheel_tag_sorted(tags->python, a));
	while (pythons.s) {
		struct ws_str python = ws_str_cut(&pythons, '.');
		struct ws_str abis = ws_str_of(ws_wheel_tag_sorted(tags->abi, a));
		while (abis.s) {
			struct ws_str abi = ws_str_cut(&abis, '.');
			struct ws_str platforms = ws_str_of(ws_wheel_tag_sorted(tags->platform, a));
			while (platforms.s) {
				struct ws_str platform = ws_str_cut(&platforms, '.');
				ws_buf_printf(out, "Tag: %.*s-%.*s-%.*s\n", WS_STR_ARGS(python), WS_STR_ARGS(abi),
					WS_STR_ARGS(platform));
			}
		}
	}
}
