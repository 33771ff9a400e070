/* index.c - which page of which index. Pages are read in index_page.c. */
#include "net/index.h"

#include "net/download.h"
#include "net/url.h"

#define LARGEST_PAGE ((size_t)16 << 20)
#define LARGEST_TREE ((size_t)3 << 20) /* reading JSON needs twelve times its size */

/* Both forms, JSON preferred; HTML alone is read without a tree. */
static const char accept_both[] = "application/vnd.pypi.simple.v1+json, "
								  "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";
static const char accept_html[] = "application/vnd.pypi.simple.v1+html, text/html;q=0.5";

/* A requested page. */
struct asked {
	const char *index, *package;
	const struct ws_index_page *page; /* NULL: not there */
	bool refused;                     /* 403: absent, or a login is missing */
};

struct ws_index {
	struct ws_http *http;
	struct ws_arena *a;
	WS_VEC(struct asked) asked;
};

struct ws_index *
ws_index_open(struct ws_http *http, struct ws_arena *a)
{
	struct ws_index *x = WS_NEW(a, struct ws_index);
	x->http = http;
	x->a = a;
	return x;
}

static const struct asked *
recall(const struct ws_index *x, const char *index, const char *package)
{
	for (size_t i = 0; i < x->asked.len; i++) {
		const struct asked *asked = &x->asked.at[i];
		if (strcmp(asked->index, index) == 0 && strcmp(asked->package, package) == 0) {
			return asked;
		}
	}
	return NULL;
}

/* Downloads and reads the page; NULL if the index does not have the package. */
static bool
ask(struct ws_index *x, const char *index, struct asked *asked, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	size_t end = strlen(index);
	while (end > 0 && index[end - 1] == '/') {
		end--;
	}
	struct ws_get get = {
		.url = ws_arena_printf(x->a, "%.*s/%s/", (int)end, index, asked->package),
		.accept = accept_both,
		.limit_bytes = LARGEST_TREE,
	};
	bool came = ws_get_text(x->http, &get, x->a, &text, err);
	if (!came && get.is_too_long) { /* a large page as HTML, which is read without a tree */
		get.accept = accept_html;
		get.limit_bytes = LARGEST_PAGE;
		came = ws_get_text(x->http, &get, x->a, &text, err);
	}
	if (!came) {
		bool is_absent = ws_reply_is_absent(&get.reply);
		asked->refused = get.reply.status == 403;
		if (is_absent && err) {
			*err = (struct ws_err){0};
		}
		return is_absent
			|| (asked->refused
				&& ws_err_cure(err,
					"the search ends here: what another index has of this name may be "
					"another's"));
	}
	struct ws_index_page *fresh = WS_NEW(x->a, struct ws_index_page);
	fresh->url = get.final_url;
	fresh->package = asked->package;
	if (!ws_index_page_parse(fresh, get.reply.type, ws_buf_str(&text), x->a, err)) {
		return false;
	}
	asked->page = fresh;
	return true;
}

bool
ws_index_page(struct ws_index *x, const char *url, const char *package,
	const struct ws_index_page **page, struct ws_err *err)
{
	package = ws_package_normal(package, x->a);
	*page = NULL;
	if (!package[0] || package[strspn(package, "abcdefghijklmnopqrstuvwxyz0123456789-")]) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' is not a package name", package);
	}
	const struct asked *before = recall(x, url, package);
	if (before) {
		*page = before->page;
		return true;
	}
	struct asked asked = {.index = ws_arena_strdup(x->a, url), .package = package};
	if (!ask(x, url, &asked, err)) {
		return ws_err_wrap(err, "looking for '%s' on an index", package);
	}
	*ws_vec_push(&x->asked, x->a) = asked;
	*page = asked.page;
	return true;
}

bool
ws_index_pages(struct ws_index *x, const struct ws_index_list *list, const char *package,
	const struct ws_index_page ***pages, size_t *count, struct ws_err *err)
{
	*pages = WS_NEW_N(x->a, const struct ws_index_page *, list->count);
	*count = 0;
	for (size_t i = 0; i < list->count && (list->all || *count == 0); i++) {
		const struct ws_index_page *page;
		if (!ws_index_page(x, list->urls[i], package, &page, err)) {
			return false;
		}
		if (page) {
			(*pages)[(*count)++] = page;
		}
	}
	return true;
}

void
ws_index_cure_asked(const struct ws_index *x, const struct ws_index_list *list, const char *package,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	package = ws_package_normal(package, a);
	for (size_t i = 0; i < list->count; i++) {
		const struct asked *asked = recall(x, list->urls[i], package);
		ws_err_cure(err, "asked: %s%s", ws_url_shown(list->urls[i], a),
			asked && asked->refused
				? " (403: it is not there, or a login that may read it is missing)"
				: "");
	}
	ws_err_cure_code(err, WS_CURE_INDEX, NULL);
}

/* No file: why, and the nearest name on the page @a last. */
static void
fail_not_found(const char *package, const char *name, const struct ws_index_file *other,
	const struct ws_index_page *last, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (other) {
		ws_err_set(err, WS_ERR_FETCH, "no index has the pinned '%s'", name);
		ws_err_cure(err, "'%s' has sha256 %s", ws_url_shown(other->url, a), other->sha256);
	} else if (last) {
		const char **names = WS_NEW_N(a, const char *, last->count);
		for (size_t i = 0; i < last->count; i++) {
			names[i] = last->files[i].name;
		}
		const char *near = ws_suggest(name, names, last->count);
		ws_err_set(err, WS_ERR_FETCH, "no index has '%s'", name);
		if (near) {
			ws_err_cure(err, "it has '%s'", near);
		}
	} else {
		ws_err_set(err, WS_ERR_FETCH, "no index has the package '%s'", package);
	}
}

const struct ws_index_file *
ws_index_find(struct ws_index *x, const struct ws_index_list *list, const char *package,
	const char *file_name, const char *sha256, struct ws_err *err)
{
	const struct ws_index_file *other = NULL; /* of the same name, with another digest */
	const struct ws_index_page *last = NULL;
	bool is_pinned = sha256 && sha256[0];
	for (size_t i = 0; i < list->count; i++) {
		const struct ws_index_page *page;
		if (!ws_index_page(x, list->urls[i], package, &page, err)) {
			return NULL;
		}
		for (size_t j = 0; page && j < page->count; j++) {
			const struct ws_index_file *file = &page->files[j];
			if (strcmp(file->name, file_name) != 0) {
				continue;
			}
			/* An index without digests may have it; the download decides. */
			if (!is_pinned || !file->sha256[0] || strcmp(file->sha256, sha256) == 0) {
				return file;
			}
			other = file;
		}
		last = page ? page : last;
		if (page && !is_pinned && !list->all) {
			break; /* without a pin only the first index that has the package is trusted */
		}
	}
	fail_not_found(package, file_name, other, last, err);
	ws_index_cure_asked(x, list, package, err);
	return NULL;
}

/* The file is a wheel of this version. Its name is left in @a a then. */
static bool
is_wheel_of(const char *file, const struct ws_version *version, struct ws_wheel_name *name,
	struct ws_arena *a)
{
	const char *why;
	struct ws_version public;
	if (!ws_ends_with(file, ".whl") || !ws_wheel_name_parse(file, a, name, &why)) {
		return false;
	}
	if (version->local) {
		return ws_version_cmp(&name->version, version) == 0;
	}
	return ws_version_parse(name->version.public_text, a, &public)
		&& ws_version_cmp(&public, version) == 0;
}

bool
ws_index_wheels(struct ws_index *x, const struct ws_index_list *list, const char *package,
	const struct ws_version *version, const struct ws_index_wheel **wheels, size_t *count,
	struct ws_err *err)
{
	const struct ws_index_page **pages;
	size_t page_count;
	WS_VEC(struct ws_index_wheel) found = {0};
	*count = 0;
	if (!ws_index_pages(x, list, package, &pages, &page_count, err)) {
		return false;
	}
	for (size_t i = 0; i < page_count; i++) {
		for (size_t j = 0; j < pages[i]->count; j++) {
			struct ws_index_wheel wheel = {.file = &pages[i]->files[j]};
			struct ws_arena_mark mark = ws_arena_mark(x->a);
			if (is_wheel_of(wheel.file->name, version, &wheel.name, x->a)) {
				*ws_vec_push(&found, x->a) = wheel;
			} else {
				ws_arena_rewind(x->a, mark);
			}
		}
	}
	*wheels = found.at;
	*count = found.len;
	return true;
}
