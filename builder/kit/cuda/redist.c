/* redist.c - getting and reading manifests. What a kit takes of them is redist_kit.c's. */
#include "kit/cuda/redist.h"

#include "base/arena.h"
#include "base/fs.h"
#include "base/json.h"
#include "net/get.h"

#include <string.h>

#define NVIDIA "https://developer.download.nvidia.com/compute/cuda/redist"
#ifdef __aarch64__ /* nvcc runs here, whatever it compiles for */
#define PLATFORM "linux-sbsa"
#else
#define PLATFORM "linux-x86_64"
#endif
#define LARGEST_MANIFEST ((size_t)4 << 20) /* that of 13.4.2 has 52 kB */
#define LAST_BUILD 6                       /* no release has had a higher third number than 4 */

/* ---- reading ---- */

/* An object with an archive, or one level of them by "cuda12.4" or "cuda12". */
static const struct ws_json *
choose_variant(const struct ws_json *platform, const char *label, struct ws_arena *a)
{
	if (!platform || ws_json_find(platform, "relative_path")) {
		return platform;
	}
	struct ws_str rest = ws_str_of(label);
	struct ws_str major = ws_str_cut(&rest, '.');
	struct ws_str minor = rest.s ? ws_str_cut(&rest, '.') : (struct ws_str){"", 0};
	const char *exact = ws_arena_printf(a, "cuda%.*s.%.*s", WS_STR_ARGS(major), WS_STR_ARGS(minor));
	const char *broad = ws_arena_printf(a, "cuda%.*s", WS_STR_ARGS(major));
	const struct ws_json *found = ws_json_find(platform, exact);
	return found ? found : ws_json_find(platform, broad);
}

static bool
read_component(const struct ws_json *value, const char *label, struct ws_arena *a,
	struct ws_redist_component *c)
{
	const struct ws_json *archive = choose_variant(ws_json_find(value, PLATFORM), label, a);
	struct ws_digest digest;
	*c = (struct ws_redist_component){
		.name = ws_arena_strdup(a, value->key),
		.version = ws_arena_strdup(a, ws_json_text(value, "version")),
		.path = ws_arena_strdup(a, ws_json_text(archive, "relative_path")),
	};
	const char *sha256 = ws_json_text(archive, "sha256");
	const char *size = ws_json_text(archive, "size");
	if (!c->version || !c->path || !ws_path_is_inside(c->path) || !sha256
		|| !ws_digest_parse(sha256, &digest)) {
		return false;
	}
	c->sha256 = ws_arena_strdup(a, digest.hex);
	return !size || ws_str_to_u64(ws_str_of(size), &c->size);
}

bool
ws_redist_parse(struct ws_str text, const char *label, struct ws_arena *a, struct ws_redist *r,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	const char *name = ws_arena_printf(scratch, "redistrib_%s.json", label);
	struct ws_json_doc doc;
	WS_VEC(struct ws_redist_component) components = {0};
	if (!ws_json_parse(name, text.s, text.n, WS_JSON_STRICT, scratch, &doc, err)) {
		if (err) {
			err->kind = WS_ERR_FETCH; /* not a file that a person wrote here */
		}
		return false;
	}
	for (WS_JSON_EACH(value, doc.root)) {
		/* "release_date" and its like are texts. */
		struct ws_redist_component component;
		if (ws_json_text(value, "name") && read_component(value, label, a, &component)) {
			*ws_vec_push(&components, a) = component;
		}
	}
	if (components.len == 0) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' does not name an archive for " PLATFORM, name);
	}
	*r = (struct ws_redist){
		.label = ws_arena_strdup(a, label),
		.digest = ws_digest_bytes(text.s, text.n),
		.components = components.at,
		.count = components.len,
	};
	return true;
}

const struct ws_redist_component *
ws_redist_find(const struct ws_redist *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++) {
		if (strcmp(r->components[i].name, name) == 0) {
			return &r->components[i];
		}
	}
	return NULL;
}

/* ---- getting ---- */

/* The folder that is asked, without '/' at its end. */
static const char *
folder_of(const struct ws_fetch *fetch, struct ws_arena *a)
{
	const char *url = fetch->redist_url ? fetch->redist_url : NVIDIA;
	size_t len = strlen(url);
	len -= len > 0 && url[len - 1] == '/';
	return ws_arena_copy(a, url, len);
}

const char *
ws_redist_mirrored(const struct ws_fetch *fetch, const char *url, struct ws_arena *a)
{
	return ws_starts_with(url, NVIDIA "/")
		? ws_arena_printf(a, "%s/%s", folder_of(fetch, a), url + strlen(NVIDIA "/"))
		: url;
}

enum got {
	GOT,
	GOT_NONE, /* the server has no such manifest */
	GOT_ERROR,
};

static enum got
get(const struct ws_fetch *fetch, const char *label, struct ws_arena *a, struct ws_redist *r,
	struct ws_err *err)
{
	const char *folder = folder_of(fetch, a);
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_get get = {
		.url = ws_arena_printf(a, "%s/redistrib_%s.json", folder, label),
		.limit_bytes = LARGEST_MANIFEST,
	};
	if (!ws_get_text(fetch->http, &get, a, &text, err)) {
		return ws_reply_is_absent(&get.reply) ? GOT_NONE : GOT_ERROR;
	}
	if (!ws_redist_parse(ws_buf_str(&text), label, a, r, err)) {
		return GOT_ERROR;
	}
	r->url = folder;
	return GOT;
}

static bool
fail_none(const char *cuda, struct ws_err *err)
{
	return ws_err_set(
		err, WS_ERR_FETCH, "the index of NVIDIA's redistributables does not list CUDA %s", cuda);
}

static bool
is_of(const struct ws_redist *r, const char *nvcc)
{
	const struct ws_redist_component *component = ws_redist_find(r, "cuda_nvcc");
	return !nvcc || (component && strcmp(component->version, nvcc) == 0);
}

bool
ws_redist_get(const struct ws_fetch *fetch, const char *cuda, const char *nvcc, struct ws_arena *a,
	struct ws_redist *r, struct ws_err *err)
{
	const char *dot = strchr(cuda, '.');
	if (dot && strchr(dot + 1, '.')) {
		enum got got = get(fetch, cuda, a, r, err);
		return got == GOT || (got == GOT_NONE && fail_none(cuda, err));
	}
	bool found = false;
	for (int build = LAST_BUILD; build >= 0; build--) {
		struct ws_redist one;
		enum got got = get(fetch, ws_arena_printf(a, "%s.%d", cuda, build), a, &one, err);
		if (got == GOT_ERROR) {
			return false;
		}
		if (got == GOT && (!found || is_of(&one, nvcc))) {
			*r = one;
			found = true;
		}
		if (found && is_of(r, nvcc)) {
			return true;
		}
	}
	return found || fail_none(cuda, err);
}
