#include "prebuilt/wheel_files.h"

#include "base/fs.h"
#include "fetch/shared_downloads.h"
#include "net/download.h"
#include "net/range_source.h"
#include "net/url.h"
#include "store/cas.h"
#include "wheelfile/label_check.h"

#define TAIL_BYTES \
	((uint64_t)64 << 10) /* holds the directory of most wheels, and often dist-info */

struct getting {
	const struct ws_fetch *fetch;
	struct ws_arena *a;
	struct ws_scratch *scratch; /* folder of the downloads; made when needed */
	struct ws_download *files;  /* wishes may share one */
	size_t count;
};

static void
end_as(struct ws_wheel_wish *wish, enum ws_candidate_state state, const char *why)
{
	wish->state = state;
	wish->why = why;
}

/* The digest that the file must have; NULL: any. */
static const char *
expected(const struct ws_wheel_wish *wish)
{
	return wish->pin ? wish->pin->sha256 : wish->candidate->sha256;
}

static bool
fail_other_bytes(const struct getting *g, const struct ws_wheel_wish *wish, const char *found,
	struct ws_err *err)
{
	const struct ws_candidate *candidate = wish->candidate;
	ws_err_set(err, WS_ERR_FETCH, "'%s' is not the wheel that the lock pins", candidate->file);
	ws_err_cure(err, "locked: %s", wish->pin->sha256);
	ws_err_cure(err, "found:  %s, at %s", found, ws_url_shown(candidate->url, g->a));
	return ws_err_cure_code(err, WS_CURE_LOCK_UPDATE, wish->product->recipe->name);
}

/* A path for a file before it enters the store; NULL with @err. */
static const char *
place_of(const struct getting *g, const char *name, struct ws_err *err)
{
	const char *partial = ws_store_path(g->fetch->store, g->a, "partial");
	return g->scratch->path || ws_scratch_make(partial, "wheel-", g->a, g->scratch, err)
		? ws_path_join(g->a, g->scratch->path, name, NULL)
		: NULL;
}

/* ---- the metadata of a wheel ---- */

/* Ends a wheel whose metadata contradicts its name or excludes a Python. Its label and the torch
 * that it requires are not checked here: missing symbols are better evidence. The judge refuses a
 * file that cannot be read. */
static void
check_labels(const struct getting *g, struct ws_wheel_wish *wish, struct ws_byte_source *source)
{
	struct ws_dist_info info;
	struct ws_zip zip;
	struct ws_wheel_name parsed;
	const struct ws_wheel_name *name = wish->candidate->name;
	const char *why;
	if (!name && ws_wheel_name_parse(wish->candidate->file, g->a, &parsed, &why)) {
		name = &parsed; /* of a template */
	}
	if (!name || !ws_zip_open(source, NULL, g->a, &zip, NULL)
		|| !ws_dist_info_read(&zip, g->a, &info, NULL)) {
		return;
	}
	why = ws_label_check_name(name, &info.metadata, g->a);
	why = why ? why : ws_label_check_tags(name, &info.wheel, g->a);
	for (size_t i = 0; i < wish->product->cell_count && !why; i++) {
		const struct ws_python_choice *python = wish->product->cells[i]->point.python;
		why = python ? ws_label_check_python(&info.metadata, &python->tag, g->a) : NULL;
	}
	if (why) {
		wish->ruled_out = true;
		end_as(wish, WS_CANDIDATE_FAILS, why);
	}
}

/* ---- from servers ---- */

/* A wheel is absent only if the server returned that answer. */
static void
end_unfetched(const struct getting *g, struct ws_wheel_wish *wish, bool is_absent, unsigned status,
	const struct ws_err *err)
{
	if (is_absent) {
		end_as(wish, WS_CANDIDATE_ABSENT,
			ws_arena_printf(g->a, "the server does not have it (%u)", status));
	} else {
		end_as(wish, WS_CANDIDATE_UNREACHABLE, ws_arena_strdup(g->a, err->text));
	}
}

static bool
read_remote_labels(const struct getting *g, struct ws_wheel_wish *wish, struct ws_err *err)
{
	struct ws_range_source remote;
	struct ws_err why = {0};
	switch (ws_range_source_open(
		g->fetch->http, wish->candidate->url, TAIL_BYTES, g->a, &remote, &why)) {
	case WS_RANGES_OPEN:
		check_labels(g, wish, &remote.source);
		ws_range_source_close(&remote);
		return true;
	case WS_RANGES_NO_RANGES:
		return true;
	case WS_RANGES_FAILED:
		break;
	}
	if (ws_err_is_stop(&why)) {
		*err = why;
		return false;
	}
	end_unfetched(g, wish, remote.is_absent, remote.status, &why);
	return true;
}

/* Products share the download of one file. */
static bool
add_download(struct getting *g, struct ws_wheel_wish *wish, struct ws_err *err)
{
	const struct ws_candidate *candidate = wish->candidate;
	const char *sha256 = expected(wish);
	for (size_t i = 0; i < g->count; i++) {
		if (ws_same(g->files[i].url, candidate->url) && ws_same(g->files[i].sha256, sha256)) {
			wish->download = &g->files[i];
			return true;
		}
	}
	const char *what = ws_arena_printf(g->a, "%s %s", candidate->url, sha256 ? sha256 : "");
	struct ws_digest key = ws_digest_bytes(what, strlen(what));
	const char *path = place_of(g, ws_arena_printf(g->a, "%zu.whl", g->count), err);
	wish->download = &g->files[g->count++];
	*wish->download = (struct ws_download){
		.url = candidate->url,
		.path = path,
		.partial = ws_store_path(
			g->fetch->store, g->a, ws_arena_printf(g->a, "partial/prebuilt-%.16s.part", key.hex)),
		.sha256 = sha256,
		.size_bytes = candidate->size_bytes,
	};
	return path;
}

static bool
finish_download(const struct getting *g, struct ws_wheel_wish *wish, struct ws_err *err)
{
	const struct ws_download *file = wish->download;
	if (!file) {
		return true;
	}
	const char *wanted = expected(wish), *found = file->digest.hex;
	if (file->failure.kind == WS_ERR_NONE) {
		wish->sha256 = ws_arena_strdup(g->a, found);
	} else if (!wanted || !found[0] || ws_same(wanted, found)) {
		end_unfetched(g, wish, file->is_absent, file->status, &file->failure);
	} else if (wish->pin) {
		return fail_other_bytes(g, wish, found, err);
	} else {
		end_as(wish, WS_CANDIDATE_FAILS, "it is not the file that its index promises");
	}
	return true;
}

/* ---- from the store ---- */

/* The file is in the store, by the digest of the lock, the index or an earlier download. */
static bool
is_stored(const struct getting *g, struct ws_wheel_wish *wish)
{
	const char *known = expected(wish);
	known = known ? known : wish->likely;
	if (!known || !ws_cas_has(g->fetch->store, known)) {
		return false;
	}
	wish->sha256 = known;
	return true;
}

/* ---- from a folder ---- */

static bool
copy_from_folder(const struct getting *g, struct ws_wheel_wish *wish, struct ws_err *err)
{
	const struct ws_fetch *fetch = g->fetch;
	const struct ws_candidate *candidate = wish->candidate;
	struct ws_digest digest;
	uint64_t size;
	if (!ws_ledger_file_digest(fetch->ledger, candidate->url, &digest)) {
		/* The folder may exist on another host alone: a bundle contains pinned wheels. */
		if (!wish->pin || !is_stored(g, wish)) {
			end_as(wish, WS_CANDIDATE_ABSENT, "it cannot be read");
		}
		return true;
	}
	if (wish->pin && !ws_digest_is(&digest, wish->pin->sha256)) {
		return fail_other_bytes(g, wish, digest.hex, err);
	}
	wish->sha256 = ws_arena_strdup(g->a, digest.hex);
	if (ws_cas_has(fetch->store, digest.hex)) {
		return true;
	}
	const char *path = place_of(g, "copy.whl", err);
	if (!path || !ws_fs_copy(candidate->url, path, 0600, err)
		|| !ws_cas_take(fetch->store, path, &digest, &size, err)) {
		return false;
	}
	wish->sha256 = ws_arena_strdup(g->a, digest.hex); /* of the copy */
	return true;
}

/* Everything before the downloads. */
static bool
begin_wish(struct getting *g, struct ws_wheel_wish *wish, struct ws_err *err)
{
	const struct ws_candidate *candidate = wish->candidate;
	const char *promised = candidate->sha256, *known = expected(wish);
	if (candidate->place == WS_PLACE_FOLDER) {
		return copy_from_folder(g, wish, err);
	}
	if (wish->pin && promised && !ws_same(promised, wish->pin->sha256)) {
		return fail_other_bytes(g, wish, promised, err);
	}
	if (is_stored(g, wish)) {
		return true;
	}
	if (g->fetch->offline) {
		end_as(wish, WS_CANDIDATE_UNREACHABLE, "it is missing, and this run is offline");
		return true;
	}
	if (known && ws_shared_file_get(g->fetch, known, candidate->size_bytes)) {
		wish->sha256 = known;
		return true;
	}
	if (!read_remote_labels(g, wish, err)) {
		return false;
	}
	return wish->state != WS_CANDIDATE_UNOPENED || add_download(g, wish, err);
}

bool
ws_wheel_files_get(const struct ws_fetch *fetch, struct ws_wheel_wish *const *wishes, size_t count,
	struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_SCRATCH struct ws_scratch scratch = {.fd = -1};
	struct ws_download *files = WS_NEW_N(a, struct ws_download, count + 1);
	struct getting g = {.fetch = fetch, .a = a, .scratch = &scratch, .files = files};
	uint64_t size;
	for (size_t i = 0; i < count; i++) {
		if (!begin_wish(&g, wishes[i], err)) {
			return false;
		}
	}
	if (g.count > 0 && !ws_download_each(fetch->http, files, g.count, err)) {
		return false;
	}
	for (size_t i = 0; i < g.count; i++) {
		if (files[i].failure.kind == WS_ERR_NONE) {
			if (!ws_cas_take(fetch->store, files[i].path, &files[i].digest, &size, err)) {
				return false;
			}
			ws_shared_file_tell(fetch, files[i].digest.hex);
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (!finish_download(&g, wishes[i], err)) {
			return false;
		}
	}
	return true;
}
