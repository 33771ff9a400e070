#include "kit/archive_kit.h"

#include "archive/unpack.h"
#include "base/fs.h"
#include "fetch/shared_downloads.h"
#include "kit/cuda/redist.h"
#include "net/download.h"
#include "net/index_config.h"
#include "store/cas.h"
#include "wheelfile/opened_wheel.h"

/* ---- whole archives, in one batch of downloads ---- */

/* The index's file of a wheel; NULL on failure. */
static const struct ws_index_file *
find_wheel(const struct ws_fetch *fetch, const struct ws_kit_archive *archive, struct ws_arena *a,
	struct ws_err *err)
{
	struct ws_index_list list = ws_index_config_list(fetch->indexes, NULL, a);
	return ws_index_find(
		fetch->index, &list, archive->package, archive->file, archive->sha256, err);
}

/* A batch being gathered. */
struct batch {
	const struct ws_fetch *fetch;
	struct ws_download *files;
	struct ws_cas_incoming *incoming;       /* of each file */
	const struct ws_kit_archive **archives; /* likewise */
	size_t count;
	struct ws_arena *a;
};

/* NULL on failure. */
static const char *
url_of(const struct batch *b, const struct ws_kit_archive *archive, struct ws_err *err)
{
	const struct ws_index_file *file;
	const char *mirror = b->fetch->debian_mirror;
	size_t len = mirror ? strlen(mirror) : 0;
	switch (archive->origin) {
	case WS_ORIGIN_INDEX:
		file = find_wheel(b->fetch, archive, b->a, err);
		return file ? file->url : NULL;
	case WS_ORIGIN_DEBIAN:
		if (!mirror) {
			ws_err_set(err, WS_ERR_FETCH,
				"'%s' is a Debian package, and this host has no Debian mirror configured",
				archive->file);
			ws_err_cure_code(err, WS_CURE_DEBIAN_MIRROR, NULL);
			return NULL;
		}
		len -= len > 0 && mirror[len - 1] == '/';
		return ws_arena_printf(b->a, "%.*s/%s", (int)len, mirror, archive->pool);
	case WS_ORIGIN_URL:
		break;
	}
	return ws_redist_mirrored(b->fetch, archive->pool, b->a);
}

static bool
add_download(struct batch *b, const struct ws_kit_archive *archive, struct ws_err *err)
{
	const struct ws_store *store = b->fetch->store;
	struct ws_digest digest;
	if (!archive->sha256 || !ws_digest_parse(archive->sha256, &digest)) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' of a kit has no sha256", archive->file);
	}
	if (ws_cas_has(store, digest.hex)) {
		return true;
	}
	const char *url = url_of(b, archive, err);
	struct ws_cas_incoming *incoming = &b->incoming[b->count];
	if (!url || !ws_cas_begin(store, digest.hex, b->a, incoming, err)) {
		return false;
	}
	b->archives[b->count] = archive;
	b->files[b->count++] = (struct ws_download){
		.url = url,
		.path = incoming->path,
		.partial = incoming->partial,
		.sha256 = incoming->digest,
		.size_bytes = archive->size,
	};
	return true;
}

/* Brings every archive that is not read by ranges: in the store by its sha256 afterwards. They are
 * fetched together, resumed where an earlier run stopped, and are in the store only once their
 * digest was right. */
static enum ws_archive_files_result
get_files(const struct ws_fetch *fetch, const struct ws_kit_def *def, struct ws_arena *a,
	struct ws_err *err)
{
	struct batch b = {.fetch = fetch, .a = a};
	b.files = WS_NEW_N(a, struct ws_download, def->archive_count);
	b.incoming = WS_NEW_N(a, struct ws_cas_incoming, def->archive_count);
	b.archives = WS_NEW_N(a, const struct ws_kit_archive *, def->archive_count);
	/* Debian's packages first: without a mirror no other archive is downloaded. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < def->archive_count; i++) {
			const struct ws_kit_archive *archive = &def->archives[i];
			bool debian = archive->origin == WS_ORIGIN_DEBIAN;
			if (debian == (round == 0) && !archive->by_range && !add_download(&b, archive, err)) {
				return debian && !fetch->debian_mirror ? WS_ARCHIVE_FILES_NO_DEBIAN
													   : WS_ARCHIVE_FILES_FAILED;
			}
		}
	}
	if (b.count > 0 && !ws_download_all(fetch->http, b.files, b.count, err)) {
		/* Old packages leave a mirror. */
		for (size_t i = 0; i < b.count; i++) {
			unsigned status = b.files[i].status;
			if (b.archives[i]->origin == WS_ORIGIN_DEBIAN && (status == 404 || status == 410)) {
				return WS_ARCHIVE_FILES_NO_DEBIAN;
			}
		}
		return WS_ARCHIVE_FILES_FAILED;
	}
	for (size_t i = 0; i < b.count; i++) {
		if (!ws_cas_commit(fetch->store, &b.incoming[i], err)) {
			return WS_ARCHIVE_FILES_FAILED;
		}
	}
	return WS_ARCHIVE_FILES_THERE;
}

/* ---- members of archives to their places ---- */

/* Version of the recipe for this tree; changing it rebuilds all kits. */
#define MAKING "wheelsmith.archive-kit/1"

/* The directory, RECORD and often the headers of a wheel of CUDA's libraries. */
#define TAIL_BYTES ((uint64_t)128 << 10)

/* A tree being assembled. */
struct assembly {
	const struct ws_fetch *fetch;
	const struct ws_kit_def *def;
	struct ws_tree_builder *tree;
	struct ws_arena *a; /* of the current archive */
};

/* ---- places ---- */

static bool
is_written_later(const struct ws_kit_def *def, const char *path)
{
	for (size_t i = 0; i < def->file_count; i++) {
		if (strcmp(def->files[i].path, path) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < def->link_count; i++) {
		if (strcmp(def->links[i].path, path) == 0) {
			return true;
		}
	}
	return false;
}

const char *
ws_archive_kit_place(const struct ws_kit_def *def, const struct ws_kit_archive *archive,
	const char *member, struct ws_arena *a)
{
	if (archive->strip_top) {
		const char *slash = strchr(member, '/');
		member = slash ? slash + 1 : "";
	}
	if (!member[0] || strcmp(ws_path_base(member), "__init__.py") == 0) {
		return NULL;
	}
	for (size_t i = 0; i < archive->map_count; i++) {
		const struct ws_map_entry *map = &archive->map[i];
		const char *place = NULL;
		if (strcmp(member, map->from) == 0) {
			place = map->to;
		} else if (ws_ends_with(map->from, "/") && ws_starts_with(member, map->from)) {
			place = ws_arena_printf(a, "%s%s", map->to, member + strlen(map->from));
		}
		if (place) {
			return is_written_later(def, place) ? NULL : place;
		}
	}
	return NULL;
}

static bool
fail_nothing_taken(const struct ws_kit_archive *archive, struct ws_err *err)
{
	return ws_err_set(
		err, WS_ERR_CONFIG, "'%s' holds none of the files that its map names", archive->file);
}

/* ---- wheels ---- */

static bool
copy_wheel(const struct assembly *m, const struct ws_kit_archive *archive, struct ws_err *err)
{
	WS_AUTO_OPENED_WHEEL struct ws_opened_wheel w = {.file.fd = -1};
	if (archive->by_range) {
		const struct ws_index_file *file = find_wheel(m->fetch, archive, m->a, err);
		if (!file || !ws_opened_wheel_get(m->fetch, file, TAIL_BYTES, m->a, &w, err)) {
			return false;
		}
	} else {
		const char *path = ws_cas_open(m->fetch->store, archive->sha256, m->a, err);
		if (!path || !ws_opened_wheel_read(path, archive->file, m->a, &w, err)) {
			return false;
		}
	}
	if (archive->record_sha256 && !ws_digest_is(&w.record_sha256, archive->record_sha256)) {
		return ws_err_set(err, WS_ERR_FETCH,
			"RECORD of '%s' is not what was pinned: expected sha256 %s, got %s", w.name,
			archive->record_sha256, w.record_sha256.hex);
	}
	struct ws_pick *picks = WS_NEW_N(m->a, struct ws_pick, w.zip.count);
	size_t count = 0;
	for (size_t i = 0; i < w.zip.count; i++) {
		const struct ws_zip_entry *entry = &w.zip.entries[i];
		const char *place =
			entry->is_dir ? NULL : ws_archive_kit_place(m->def, archive, entry->name, m->a);
		if (place) {
			picks[count++] = (struct ws_pick){entry, place};
		}
	}
	if (count == 0) {
		return fail_nothing_taken(archive, err);
	}
	struct ws_member_sink sink = ws_member_sink_make(m->tree, w.name, m->fetch->stop);
	return ws_opened_wheel_take(&w, picks, count, &sink, err);
}

/* ---- Debian packages and tar archives ---- */

struct unpacking {
	struct ws_unpack_sink sink; /* first */
	const struct assembly *m;
	const struct ws_kit_archive *archive;
	struct ws_member_sink file;
	size_t taken;
};

static bool
wants(struct ws_unpack_sink *self, const struct ws_member *member)
{
	struct unpacking *u = (struct unpacking *)self;
	/* Links of packages lead all over a system. */
	bool kind = member->kind == WS_MEMBER_FILE || member->kind == WS_MEMBER_HARD_LINK
		|| (member->kind == WS_MEMBER_LINK && u->archive->format == WS_FORMAT_TAR);
	return kind && ws_archive_kit_place(u->m->def, u->archive, member->name, u->m->a);
}

static bool
begin(struct ws_unpack_sink *self, const struct ws_member *member, struct ws_err *err)
{
	struct unpacking *u = (struct unpacking *)self;
	const struct assembly *m = u->m;
	const char *place = ws_archive_kit_place(m->def, u->archive, member->name, m->a);
	if (member->kind == WS_MEMBER_FILE) {
		u->taken++;
		return ws_member_sink_open(&u->file, place, err);
	}
	if (member->kind == WS_MEMBER_LINK) {
		return ws_tree_add_link(m->tree, place, member->target, err);
	}
	return ws_err_set(err, WS_ERR_FETCH, "'%s' holds '%s' as a hard link, which kits do not take",
		u->archive->file, member->name);
}

static bool
add_bytes(struct ws_unpack_sink *self, const void *bytes, size_t len, struct ws_err *err)
{
	return ws_member_sink_add(&((struct unpacking *)self)->file, bytes, len, err);
}

static bool
end(struct ws_unpack_sink *self, struct ws_err *err)
{
	struct ws_digest digest;
	return ws_member_sink_close(&((struct unpacking *)self)->file, &digest, err);
}

static bool
copy_archive(const struct assembly *m, const struct ws_kit_archive *archive, struct ws_err *err)
{
	enum ws_unpack_format format = WS_UNPACK_TAR;
	ws_unpack_format_of(archive->file, &format);
	const char *path = ws_cas_open(m->fetch->store, archive->sha256, m->a, err);
	struct unpacking u = {
		.sink = {wants, begin, add_bytes, end},
		.m = m,
		.archive = archive,
		.file = ws_member_sink_make(m->tree, archive->file, m->fetch->stop),
	};
	if (!path || !ws_unpack(path, archive->file, format, NULL, &u.sink, err)) {
		ws_member_sink_drop(&u.file);
		return false;
	}
	return u.taken > 0 || fail_nothing_taken(archive, err);
}

/* Fills the tree: members of the archives, then the definition's own files. */
static bool
fill_tree(struct assembly *m, struct ws_err *err)
{
	const struct ws_kit_def *def = m->def;
	for (size_t i = 0; i < def->archive_count; i++) {
		const struct ws_kit_archive *archive = &def->archives[i];
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		m->a = a;
		if (archive->format == WS_FORMAT_WHEEL ? !copy_wheel(m, archive, err)
											   : !copy_archive(m, archive, err)) {
			return false;
		}
	}
	for (size_t i = 0; i < def->file_count; i++) {
		const struct ws_kit_file *file = &def->files[i];
		if (!ws_tree_add_file(
				m->tree, file->path, file->text, strlen(file->text), file->mode & 0100, err)) {
			return false;
		}
	}
	for (size_t i = 0; i < def->link_count; i++) {
		if (!ws_tree_add_link(m->tree, def->links[i].path, def->links[i].target, err)) {
			return false;
		}
	}
	for (size_t i = 0; i < def->executable_count; i++) {
		if (!ws_tree_set_executable(m->tree, def->executables[i], err)) {
			return false;
		}
	}
	return true;
}

enum ws_archive_files_result
ws_archive_kit_make(const struct ws_fetch *fetch, const struct ws_kit_def *def, struct ws_arena *a,
	struct ws_tree *tree, struct ws_err *err)
{
	struct ws_digest key = ws_digest_fields(MAKING, def->name, def->digest.hex, NULL);
	if (ws_tree_recall(fetch->store, key.hex, a, tree)
		|| ws_shared_tree_get(fetch, key.hex, a, tree)) {
		return WS_ARCHIVE_FILES_THERE;
	}
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	enum ws_archive_files_result got = get_files(fetch, def, scratch, err);
	if (got != WS_ARCHIVE_FILES_THERE) {
		return got;
	}
	struct assembly m = {.fetch = fetch, .def = def};
	m.tree = ws_tree_begin(fetch->store, def->name, a, err);
	if (!m.tree || !fill_tree(&m, err)) {
		ws_tree_abandon(m.tree);
		ws_err_wrap(err, "assembling '%s'", def->name);
		return WS_ARCHIVE_FILES_FAILED;
	}
	if (!ws_tree_commit(m.tree, a, tree, err)
		|| !ws_shared_tree_remember(fetch, key.hex, tree, err)) {
		return WS_ARCHIVE_FILES_FAILED;
	}
	struct ws_event event = {
		.kind = WS_EVENT_KIT_READY,
		.subject = def->name,
		.detail = ws_arena_printf(scratch, "assembled from %zu archives", def->archive_count),
	};
	ws_events_emit(fetch->events, &event);
	return WS_ARCHIVE_FILES_THERE;
}
