/* candidate_wheel.c - a look at what a wheel says of itself, then the whole of it. */
#include "prebuilt/candidate_wheel.h"

#include "archive/file_source.h"
#include "base/fs.h"
#include "net/download.h"
#include "net/remote.h"
#include "net/url.h"
#include "store/cas.h"
#include "store/scratch.h"
#include "wheelfile/claims.h"

#include <string.h>

#define TAIL_BYTES \
	((uint64_t)64 << 10) /* holds the directory of most wheels, and often dist-info */

struct getting {
	const struct ws_fetch *fetch;
	const struct ws_candidate_wish *wish;
	struct ws_candidate *candidate;
	struct ws_arena *a;
	bool looked; /* at what it says of itself */
};

/* Nothing more is to be done about it. */
static bool
end_as(struct getting *g, enum ws_candidate_state state, const char *why)
{
	g->candidate->state = state;
	g->candidate->why = ws_arena_strdup(g->a, why);
	return true;
}

static bool
is_settled(const struct getting *g)
{
	return g->candidate->state != WS_CANDIDATE_UNOPENED;
}

/* ---- what it says of itself ---- */

/* A Python of the product's cells that METADATA rules out; NULL: none. */
static const char *
refuse_pythons(const struct getting *g, const struct ws_metadata_info *metadata)
{
	const struct ws_product *product = g->wish->product;
	const char *why = NULL;
	for (size_t i = 0; i < product->cell_count && !why; i++) {
		const struct ws_python_choice *python = product->cells[i]->point.python;
		why = python ? ws_claims_refuse_python(metadata, &python->tag, g->a) : NULL;
	}
	return why;
}

/* Whether it is the package, version and kind of wheel that its name says, and for whom. Neither its
 * label nor the torch that it asks for is held against it here: the symbols that the judge misses say
 * more. What cannot be read here is the judge's to refuse, who reads all. */
static bool
look_at(struct getting *g, struct ws_source *source)
{
	struct ws_wheel_name name;
	struct ws_dist_info info;
	struct ws_zip zip;
	const char *why;
	if (!ws_wheel_name_parse(g->candidate->file, g->a, &name, &why)
		|| !ws_zip_open(source, NULL, g->a, &zip, NULL)
		|| !ws_dist_info_read(&zip, g->a, &info, NULL)) {
		return false;
	}
	why = ws_claims_contradict(&name, &info, g->a);
	why = why ? why : ws_claims_other_tags(&name, &info, g->a);
	why = why ? why : refuse_pythons(g, &info.metadata);
	return !why || end_as(g, WS_CANDIDATE_FAILS, why);
}

/* ---- from a server ---- */

/* A server that answered has said what it thinks; one that did not may be asked another day. */
static bool
end_unfetched(struct getting *g, unsigned status, const struct ws_err *err)
{
	bool absent = status == 404 || status == 410 || status == 403;
	return end_as(g, absent ? WS_CANDIDATE_ABSENT : WS_CANDIDATE_UNREACHABLE,
		absent ? ws_arena_printf(g->a, "the server does not have it (%u)", status) : err->text);
}

static bool
look_from_afar(struct getting *g, struct ws_err *err)
{
	struct ws_remote remote;
	struct ws_err ignored = {0};
	switch (
		ws_remote_open(g->fetch->http, g->candidate->url, TAIL_BYTES, g->a, &remote, &ignored)) {
	case WS_REMOTE_OPEN:
		g->looked = look_at(g, &remote.source);
		ws_remote_close(&remote);
		return true;
	case WS_REMOTE_NO_RANGES:
		return true;
	case WS_REMOTE_FAILED:
		break;
	}
	if (ws_err_is_stop(&ignored)) {
		*err = ignored;
		return false;
	}
	return end_unfetched(g, remote.status, &ignored);
}

/* The digest that it must have, or that the index promises; NULL: nobody said. */
static const char *
expected(const struct getting *g)
{
	const char *promised = g->candidate->sha256;
	return g->wish->sha256 ? g->wish->sha256 : promised && promised[0] ? promised : NULL;
}

static bool
fail_other_bytes(const struct getting *g, const char *found, struct ws_err *err)
{
	const struct ws_candidate *candidate = g->candidate;
	ws_err_set(err, WS_ERR_FETCH, "'%s' is not the wheel that the lock pins", candidate->file);
	ws_err_cure(err, "locked: %s", g->wish->sha256);
	ws_err_cure(err, "found:  %s, at %s", found, ws_url_shown(candidate->url, g->a));
	return ws_err_cure_code(err, WS_CURE_LOCK_UPDATE, g->wish->product->recipe->name);
}

/* A file that came whole: looked at here where that was not possible before, then moved into the store. */
static bool
take_in(struct getting *g, const char *path, struct ws_err *err)
{
	struct ws_digest digest;
	struct ws_file_source file;
	uint64_t size;
	if (!g->looked && ws_file_source_open(path, &file, NULL)) {
		look_at(g, &file.source);
		ws_file_source_close(&file);
	}
	if (is_settled(g)) {
		return true;
	}
	if (!ws_cas_take(g->fetch->store, path, &digest, &size, err)) {
		return false;
	}
	g->candidate->sha256 = ws_arena_strdup(g->a, digest.hex);
	return true;
}

static bool
download(struct getting *g, struct ws_err *err)
{
	struct ws_candidate *candidate = g->candidate;
	struct ws_digest url = ws_digest_bytes(candidate->url, strlen(candidate->url));
	struct ws_err why = {0};
	WS_AUTO_SCRATCH struct ws_scratch scratch = {.fd = -1};
	if (!ws_scratch_make(
			ws_store_path(g->fetch->store, g->a, "partial"), "wheel-", g->a, &scratch, err)) {
		return false;
	}
	struct ws_download file = {
		.url = candidate->url,
		.path = ws_path_join(g->a, scratch.path, "whole.whl", NULL),
		.partial = ws_store_path(
			g->fetch->store, g->a, ws_arena_printf(g->a, "partial/prebuilt-%.16s.part", url.hex)),
	};
	if (ws_download_all(g->fetch->http, &file, 1, &why)) {
		const char *wanted = expected(g);
		if (g->wish->sha256 && !ws_digest_is(&file.digest, wanted)) {
			return fail_other_bytes(g, file.digest.hex, err);
		}
		if (wanted && !ws_digest_is(&file.digest, wanted)) {
			return end_as(g, WS_CANDIDATE_FAILS, "it is not the file that its index promises");
		}
		return take_in(g, file.path, err);
	}
	if (ws_err_is_stop(&why) || why.kind != WS_ERR_FETCH) {
		*err = why;
		return false;
	}
	return end_unfetched(g, file.status, &why);
}

/* ---- from the store ---- */

/* The store has it already, as the lock, the index or an earlier run knows it. */
static bool
is_stored(struct getting *g)
{
	const char *known = expected(g);
	known = known ? known : g->wish->likely;
	if (!known || !ws_cas_has(g->fetch->store, known)) {
		return false;
	}
	g->candidate->sha256 = known;
	return true;
}

/* ---- from a folder ---- */

static bool
copy(struct getting *g, struct ws_err *err)
{
	const struct ws_fetch *fetch = g->fetch;
	struct ws_candidate *candidate = g->candidate;
	struct ws_digest digest;
	WS_AUTO_SCRATCH struct ws_scratch scratch = {.fd = -1};
	if (!ws_ledger_file_digest(fetch->ledger, candidate->url, &digest)) {
		/* The folder may be another host's: a bundle brings what the lock pins. */
		return (g->wish->sha256 && is_stored(g))
			|| end_as(g, WS_CANDIDATE_ABSENT, "it cannot be read");
	}
	if (g->wish->sha256 && !ws_digest_is(&digest, g->wish->sha256)) {
		return fail_other_bytes(g, digest.hex, err);
	}
	if (ws_cas_has(fetch->store, digest.hex)) {
		candidate->sha256 = ws_arena_strdup(g->a, digest.hex);
		return true;
	}
	if (!ws_scratch_make(
			ws_store_path(fetch->store, g->a, "partial"), "wheel-", g->a, &scratch, err)) {
		return false;
	}
	const char *path = ws_path_join(g->a, scratch.path, "whole.whl", NULL);
	return ws_fs_copy(candidate->url, path, 0600, err) && take_in(g, path, err);
}

/* ---- the way ---- */

bool
ws_candidate_wheel_get(const struct ws_fetch *fetch, const struct ws_candidate_wish *wish,
	struct ws_arena *a, struct ws_candidate *candidate, struct ws_err *err)
{
	struct getting g = {.fetch = fetch, .wish = wish, .candidate = candidate, .a = a};
	const char *promised = candidate->sha256;
	if (wish->sha256 && promised && promised[0] && !ws_same(promised, wish->sha256)) {
		return fail_other_bytes(&g, promised, err);
	}
	if (candidate->place == WS_PLACE_FOLDER) {
		return copy(&g, err);
	}
	if (is_stored(&g)) {
		return true;
	}
	if (fetch->offline) {
		return end_as(&g, WS_CANDIDATE_UNREACHABLE, "it is missing, and this run is offline");
	}
	return look_from_afar(&g, err) && (is_settled(&g) || download(&g, err));
}
