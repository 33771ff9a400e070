/* index.c - which page of which index. Pages are read in index_page.c. */
#include "net/index.h"

#include "net/download.h"
#include "net/url.h"

#define LARGEST_PAGE ((size_t)16 << 20)
#define LARGEST_TREE ((size_t)3 << 20) /* reading JSON needs twelve times its size */

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

/* A large page is requested as HTML, which is read without a tree. */
static bool
get_page(struct ws_index *x, struct ws_get *get, struct ws_buf *text, struct ws_err *err)
{
	get->accept = ws_index_page_accept;
	get->limit_bytes = LARGEST_TREE;
	if (ws_get_text(x->http, get, x->a, text, err)) {
		return true;
	}
	if (!get->is_too_long) {
		return false;
	}
	get->accept = ws_index_page_accept_html;
	get->limit_bytes = LARGEST_PAGE;
	return ws_get_text(x->http, get, x->a, text, err);
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
	};
	if (!get_page(x, &get, &text, err)) {
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

static bool
is_pinned(const char *sha256)
{
	return sha256 && sha256[0];
}

/* The file of a page; *other gets one of the same name with another digest. */
static const struct ws_index_file *
find_on_page(const struct ws_index_page *page, const char *name, const char *sha256,
	const struct ws_index_file **other)
{
	for (size_t i = 0; i < page->count; i++) {
		const struct ws_index_file *file = &page->files[i];
		if (strcmp(file->name, name) != 0) {
			continue;
		}
		/* An index without digests may have it; the download decides. */
		if (!is_pinned(sha256) || !file->sha256[0] || strcmp(file->sha256, sha256) == 0) {
			return file;
		}
		*other = file;
	}
	return NULL;
}

static void
suggest(const struct ws_index_page *page, const char *name, struct ws_arena *a, struct ws_err *err)
{
	const char **names = WS_NEW_N(a, const char *, page->count);
	for (size_t i = 0; i < page->count; i++) {
		names[i] = page->files[i].name;
	}
	const char *near = ws_suggest(name, names, page->count);
	if (near) {
		ws_err_cure(err, "it has '%s'", near);
	}
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

static void
fail_not_found(const struct ws_index *x, const struct ws_index_list *list, const char *package,
	const char *name, const struct ws_index_file *other, const struct ws_index_page *last,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (other) {
		ws_err_set(err, WS_ERR_FETCH, "no index has the pinned '%s'", name);
		ws_err_cure(err, "'%s' has sha256 %s", ws_url_shown(other->url, a), other->sha256);
	} else if (last) {
		ws_err_set(err, WS_ERR_FETCH, "no index has '%s'", name);
		suggest(last, name, a, err);
	} else {
		ws_err_set(err, WS_ERR_FETCH, "no index has the package '%s'", package);
	}
	ws_index_cure_asked(x, list, package, err);
}

const struct ws_index_file *
ws_index_find(struct ws_index *x, const struct ws_index_list *list, const char *package,
	const char *file_name, const char *sha256, struct ws_err *err)
{
	const struct ws_index_file *other = NULL;
	const struct ws_index_page *last = NULL;
	for (size_t i = 0; i < list->count; i++) {
		const struct ws_index_page *page;
		if (!ws_index_page(x, list->urls[i], package, &page, err)) {
			return NULL;
		}
		if (!page) {
			continue;
		}
		const struct ws_index_file *file = find_on_page(page, file_name, sha256, &other);
		if (file) {
			return file;
		}
		last = page;
		if (!is_pinned(sha256) && !list->all) {
			break; /* without a pin only the first index that has the package is trusted */
		}
	}
	fail_not_found(x, list, package, file_name, other, last, err);
	return NULL;
}

static bool
is_of_version(
	const struct ws_wheel_name *name, const struct ws_version *version, struct ws_arena *a)
{
	struct ws_version public;
	if (version->local) {
		return ws_version_cmp(&name->version, version) == 0;
	}
	return ws_version_parse(name->version.public_text, a, &public)
		&& ws_version_cmp(&public, version) == 0;
}

struct wheels {
	WS_VEC(struct ws_index_wheel) wheels;
};

static void
add_wheels(struct wheels *found, const struct ws_index_page *page, const struct ws_version *version,
	struct ws_arena *a)
{
	for (size_t i = 0; i < page->count; i++) {
		struct ws_index_wheel wheel = {.file = &page->files[i]};
		const char *why;
		struct ws_arena_mark mark = ws_arena_mark(a);
		if (ws_ends_with(wheel.file->name, ".whl")
			&& ws_wheel_name_parse(wheel.file->name, a, &wheel.name, &why)
			&& is_of_version(&wheel.name, version, a)) {
			*ws_vec_push(&found->wheels, a) = wheel;
		} else {
			ws_arena_rewind(a, mark);
		}
	}
}

bool
ws_index_wheels(struct ws_index *x, const struct ws_index_list *list, const char *package,
	const struct ws_version *version, const struct ws_index_wheel **wheels, size_t *count,
	struct ws_err *err)
{
	const struct ws_index_page **pages;
	size_t page_count;
	struct wheels found = {0};
	*count = 0;
	if (!ws_index_pages(x, list, package, &pages, &page_count, err)) {
		return false;
	}
	for (size_t i = 0; i < page_count; i++) {
		add_wheels(&found, pages[i], version, x->a);
	}
	*wheels = found.wheels.at;
	*count = found.wheels.len;
	return true;
}
