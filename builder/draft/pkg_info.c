/* pkg_info.c - headers into the members of struct ws_metadata. Everything here is untrusted:
 * only what the reader of recipes takes gets through. */
#include "draft/pkg_info.h"

#include "base/fs.h"
#include "base/headers.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "model/tag.h"

#include <string.h>
#include <strings.h>

#define MOST 400 /* entries of a list */

typedef WS_VEC(const char *) text_list;

struct reader {
	struct ws_arena *a;
	struct ws_pkg_info *info;
	text_list license_files, requires, classifiers, extras, keywords, urls;
};

/* One line of sound UTF-8 without control characters, not empty, not "UNKNOWN"; else NULL. */
static const char *
plain_line(struct ws_str text, struct ws_arena *a)
{
	text = ws_str_trim(text);
	for (size_t i = 0; i < text.n;) {
		size_t len = ws_utf8_len(text.s + i, text.n - i);
		if (len == 0 || (unsigned char)text.s[i] < ' ' || text.s[i] == 0x7f) {
			return NULL;
		}
		i += len;
	}
	return text.n == 0 || ws_str_is(text, "UNKNOWN") ? NULL : ws_str_copy(text, a);
}

static void
add_once(text_list *list, const char *text, struct ws_arena *a)
{
	for (size_t i = 0; i < list->len; i++) {
		if (strcmp(list->at[i], text) == 0) {
			return;
		}
	}
	if (list->len < MOST) {
		*ws_vec_push(list, a) = text;
	}
}

static bool
is_url(const char *text)
{
	bool known = ws_starts_with(text, "https://") || ws_starts_with(text, "http://");
	const char *host = known ? strstr(text, "://") + 3 : text;
	return known && *host && !strpbrk(text, " \t<>\"") && !memchr(host, '@', strcspn(host, "/?#"));
}

/* PEP 508 names: what a requirement starts with. */
static bool
names_package(const char *requirement)
{
	static const char inner[] = "-_.";
	size_t len = strcspn(requirement, " <>=!~;[(@");
	for (size_t i = 0; i < len; i++) {
		char c = requirement[i];
		bool letter = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
		if (!letter && (i == 0 || i + 1 == len || !strchr(inner, c))) {
			return false;
		}
	}
	return len > 0;
}

/* Cuts `extra == "dev"` out of a marker. The name is in @a a; NULL when there is none, or when the
 * marker is not a plain conjunction. */
static const char *
cut_extra(char *marker, struct ws_arena *a)
{
	char *at = strstr(marker, "extra");
	if (!at || strstr(marker, " or ") || strchr(marker, '(')) {
		return NULL;
	}
	char *value = at + strlen("extra");
	value += strspn(value, " ");
	if (strncmp(value, "==", 2) != 0) {
		return NULL;
	}
	value += 2 + strspn(value + 2, " ");
	size_t len = *value == '"' || *value == '\'' ? strcspn(value + 1, "\"'") : 0;
	if (len == 0 || value[1 + len] != value[0]) {
		return NULL;
	}
	const char *name = ws_arena_copy(a, value + 1, len);
	char *rest = value + len + 2;
	rest += strspn(rest, " ");
	if (strncmp(rest, "and ", 4) == 0) {
		rest += 4;
	}
	memmove(at, rest, strlen(rest) + 1);
	size_t left = strlen(marker);
	while (left > 0 && marker[left - 1] == ' ') {
		marker[--left] = '\0';
	}
	if (left >= 4 && strcmp(marker + left - 4, " and") == 0) {
		marker[left - 4] = '\0';
	}
	return name;
}

static void
add_extra(struct reader *r, const char *extra, const char *requirement)
{
	if (r->extras.len < MOST) {
		*ws_vec_push(&r->extras, r->a) = extra;
		*ws_vec_push(&r->extras, r->a) = requirement;
	}
}

/* 'x>=1 ; python_version < "3.8" and extra == "dev"' */
static void
add_requirement(struct reader *r, const char *text)
{
	if (!names_package(text)) {
		return;
	}
	struct ws_str rest = ws_str_of(text);
	struct ws_str plain = ws_str_trim(ws_str_cut(&rest, ';'));
	char *marker = rest.s ? ws_str_copy(ws_str_trim(rest), r->a) : NULL;
	const char *extra = marker ? cut_extra(marker, r->a) : NULL;
	const char *requirement = marker && *marker
		? ws_arena_printf(r->a, "%.*s ; %s", WS_STR_ARGS(plain), marker)
		: ws_str_copy(plain, r->a);
	if (extra && names_package(extra)) {
		add_extra(r, extra, requirement);
	} else {
		add_once(&r->requires, requirement, r->a);
	}
}

/* "pytorch,scatter" or "pytorch scatter". */
static void
add_keywords(struct reader *r, const char *text)
{
	char separator = strchr(text, ',') ? ',' : ' ';
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		struct ws_str word = ws_str_trim(ws_str_cut(&rest, separator));
		if (word.n > 0) {
			add_once(&r->keywords, ws_str_copy(word, r->a), r->a);
		}
	}
}

/* "Repository, https://..." */
static void
add_project_url(struct reader *r, const char *text)
{
	struct ws_str rest = ws_str_of(text);
	struct ws_str label = ws_str_trim(ws_str_cut(&rest, ','));
	const char *url = rest.s ? ws_str_copy(ws_str_trim(rest), r->a) : "";
	const char *name = ws_str_copy(label, r->a);
	for (size_t i = 0; i < r->urls.len; i += 2) {
		if (strcmp(r->urls.at[i], name) == 0) {
			return;
		}
	}
	if (label.n > 0 && r->urls.len < MOST && is_url(url)) {
		*ws_vec_push(&r->urls, r->a) = name;
		*ws_vec_push(&r->urls, r->a) = url;
	}
}

/* Fields that are a text of their own. */
static const char **
member_of(struct ws_pkg_info *info, const char *field)
{
	struct ws_metadata *m = &info->metadata;
	const struct {
		const char *field;
		const char **member;
	} members[] = {
		{"Name", &info->name},
		{"Version", &info->version},
		{"Description-Content-Type", &info->description_type},
		{"Summary", &m->summary},
		{"Home-page", &m->home_page},
		{"Author", &m->author},
		{"Author-email", &m->author_email},
		{"License", &m->license},
		{"License-Expression", &m->license_expression},
		{"Requires-Python", &m->requires_python},
	};
	for (size_t i = 0; i < WS_LEN(members); i++) {
		if (strcasecmp(members[i].field, field) == 0) {
			return members[i].member;
		}
	}
	return NULL;
}

static void
take_field(struct reader *r, const char *field, struct ws_str value)
{
	const char **member = member_of(r->info, field);
	const char *text = plain_line(value, r->a);
	if (!text) {
		r->info->has_long_license =
			r->info->has_long_license || (strcasecmp(field, "License") == 0 && value.n > 40);
	} else if (member) {
		*member = *member ? *member : text;
	} else if (strcasecmp(field, "License-File") == 0) {
		if (ws_path_is_inside(text)) {
			add_once(&r->license_files, text, r->a);
		}
	} else if (strcasecmp(field, "Classifier") == 0) {
		add_once(&r->classifiers, text, r->a);
	} else if (strcasecmp(field, "Requires-Dist") == 0) {
		add_requirement(r, text);
	} else if (strcasecmp(field, "Keywords") == 0) {
		add_keywords(r, text);
	} else if (strcasecmp(field, "Project-URL") == 0) {
		add_project_url(r, text);
	}
}

static void
finish(struct reader *r)
{
	struct ws_metadata *m = &r->info->metadata;
	m->license_files = r->license_files.at;
	m->license_file_count = r->license_files.len;
	m->requires = r->requires.at;
	m->require_count = r->requires.len;
	m->classifiers = r->classifiers.at;
	m->classifier_count = r->classifiers.len;
	m->extras = r->extras.at;
	m->extra_count = r->extras.len;
	m->keywords = r->keywords.at;
	m->keyword_count = r->keywords.len;
	m->project_urls = r->urls.at;
	m->project_url_count = r->urls.len;
	if (m->home_page && !is_url(m->home_page)) {
		m->home_page = NULL;
	}
}

void
ws_pkg_info_read(struct ws_str text, struct ws_arena *a, struct ws_pkg_info *info)
{
	*info = (struct ws_pkg_info){0};
	struct reader r = {.a = a, .info = info};
	struct ws_headers headers = {.rest = text};
	struct ws_header field;
	while (ws_headers_next(&headers, &field)) {
		if (field.name.s) {
			take_field(&r, ws_str_copy(ws_str_trim(field.name), a), field.value);
		}
	}
	finish(&r);
}

/* "[dev]", "[:python_version < '3.8']", "[dev:python_version < '3.8']" above requirements. */
void
ws_requires_txt_read(struct ws_str text, struct ws_arena *a, struct ws_metadata *metadata)
{
	struct ws_pkg_info info = {.metadata = *metadata};
	struct reader r = {.a = a, .info = &info};
	const char *extra = "", *marker = "";
	while (text.s) {
		const char *line = plain_line(ws_str_cut(&text, '\n'), a);
		if (line && line[0] == '[' && ws_ends_with(line, "]")) {
			struct ws_str rest = {line + 1, strlen(line) - 2};
			extra = ws_str_copy(ws_str_cut(&rest, ':'), a);
			marker = rest.s ? ws_str_copy(rest, a) : "";
		} else if (line) {
			const char *with = marker[0] ? ws_arena_printf(a, "%s ; %s", line, marker) : line;
			if (extra[0] && names_package(extra) && names_package(line)) {
				add_extra(&r, extra, with);
			} else if (!extra[0]) {
				add_requirement(&r, with);
			}
		}
	}
	metadata->requires = r.requires.at;
	metadata->require_count = r.requires.len;
	metadata->extras = r.extras.at;
	metadata->extra_count = r.extras.len;
}
