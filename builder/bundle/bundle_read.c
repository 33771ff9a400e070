/* bundle_read.c - copies the members of a bundle into the store. Each member is checked against its
 * digest by itself. */
#include "archive/unpack.h"
#include "base/fs.h"
#include "bundle/bundle.h"
#include "store/cas.h"
#include "store/results.h"

#include <fcntl.h>

#define HEAD_MOST ((size_t)64 << 20)
#define RESULT_MOST ((size_t)4 << 20)

/* The member that is being read. */
enum part {
	PART_NONE,
	PART_HEAD,
	PART_BLOB,
	PART_TREE,
	PART_RESULT,
};

struct reading {
	struct ws_unpack_sink sink;
	const struct ws_store *store;
	const char *path; /* of the bundle, for messages */
	struct ws_stop *stop;
	struct ws_arena *a;
	bool of_results; /* the file is to have results; else a matrix */
	bool has_head;
	struct ws_bundle_head head;
	struct ws_map folders;  /* "torch-2.5.1-0123456789abcdef" -> its tree in the head */
	struct ws_map known;    /* of those and of blobs: what the store has already */
	struct ws_map wanted;   /* digests of blobs in the head */
	struct ws_map results;  /* keys in the head */
	struct ws_map imported; /* those that were read */
	uint64_t read_bytes;
	enum part part;                    /* of the member that is open */
	const char *name;                  /* of it: a digest */
	struct ws_buf bytes;               /* of it: head */
	int fd;                            /* of it: blob */
	struct ws_scratch scratch;         /* where blobs grow */
	const struct ws_bundle_tree *tree; /* that is being made; NULL: none */
	struct ws_tree_builder *builder;
};

static bool
fail(const struct reading *r, const char *what, const char *name, struct ws_err *err)
{
	ws_err_set(
		err, WS_ERR_FETCH, "the bundle '%s' was changed or is cut: %s '%s'", r->path, what, name);
	return ws_err_cure(err, "copy or create the bundle again");
}

static bool
refuse_other(const struct reading *r, struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_FETCH,
		r->of_results ? "'%s' is not what `cache export` of this version writes"
					  : "'%s' is not a bundle of wheelsmith",
		r->path);
}

/* ---- the head ---- */

/* The digest in the name of a bundle's first member; NULL: it is another member. */
static const char *
digest_of_head(const struct ws_member *member, struct ws_arena *a)
{
	struct ws_digest digest;
	struct ws_str rest = ws_str_of(member->name);
	bool is = ws_str_is(ws_str_cut(&rest, '/'), "bundle") && rest.n == 64 + strlen(".json")
		&& strcmp(rest.s + 64, ".json") == 0 && member->kind == WS_MEMBER_FILE;
	const char *name = is ? ws_arena_copy(a, rest.s, 64) : NULL;
	return is && ws_digest_parse(name, &digest) ? name : NULL;
}

static bool
begin_head(struct reading *r, const struct ws_member *member, struct ws_err *err)
{
	r->name = digest_of_head(member, r->a);
	if (!r->name) {
		return refuse_other(r, err);
	}
	r->part = PART_HEAD;
	return true;
}

static bool
end_head(struct reading *r, struct ws_err *err)
{
	struct ws_digest digest = ws_digest_bytes(ws_buf_text(&r->bytes), r->bytes.len);
	struct ws_tree tree;
	if (!ws_digest_is(&digest, r->name)) {
		return fail(r, "its list is not", r->name, err);
	}
	if (!ws_bundle_head_read(r->path, &r->bytes, r->a, &r->head, err)) {
		return false;
	}
	if (r->of_results != !r->head.folder.hex[0]) {
		return ws_err_set(err, WS_ERR_FETCH,
			r->of_results ? "'%s' is a bundle, not an export of `cache export`"
						  : "'%s' is an export of `cache export`, not a bundle",
			r->path);
	}
	for (size_t i = 0; i < r->head.result_count; i++) {
		ws_map_add(&r->results, r->head.results[i], r->a);
	}
	for (size_t i = 0; i < r->head.tree_count; i++) {
		const struct ws_bundle_tree *listed = &r->head.trees[i];
		const char *folder = ws_bundle_tree_name(listed, r->a);
		ws_map_put(&r->folders, folder, listed, r->a);
		if (ws_tree_find(r->store, listed->name, listed->digest.hex, r->a, &tree)) {
			ws_map_add(&r->known, folder, r->a);
		}
	}
	for (size_t i = 0; i < r->head.blob_count; i++) {
		ws_map_add(&r->wanted, r->head.blobs[i], r->a);
		if (ws_cas_has(r->store, r->head.blobs[i])) {
			ws_map_add(&r->known, r->head.blobs[i], r->a);
		}
	}
	r->has_head = true;
	return true;
}

/* ---- trees ---- */

/* Checks the finished tree against the list. */
static bool
end_tree(struct reading *r, struct ws_err *err)
{
	struct ws_tree made;
	struct ws_tree_builder *builder = r->builder;
	const struct ws_bundle_tree *tree = r->tree;
	r->builder = NULL;
	r->tree = NULL;
	if (!builder) {
		return true;
	}
	if (!ws_tree_commit(builder, r->a, &made, err)) {
		return false;
	}
	const char *folder = ws_bundle_tree_name(tree, r->a);
	if (!ws_digest_eq(&made.digest, &tree->digest)) {
		return fail(r, "these files are not", folder, err);
	}
	ws_map_add(&r->known, folder, r->a);
	return true;
}

static bool
begin_tree(struct reading *r, const struct ws_member *member, struct ws_str folder,
	const char *below, struct ws_err *err)
{
	const struct ws_bundle_tree *tree = ws_map_get(&r->folders, ws_str_copy(folder, r->a));
	if (!tree) {
		return fail(r, "its list does not name", member->name, err);
	}
	if (tree != r->tree) {
		if (!end_tree(r, err) || !(r->builder = ws_tree_begin(r->store, tree->name, r->a, err))) {
			return false;
		}
		r->tree = tree;
	}
	r->part = PART_TREE;
	return member->kind == WS_MEMBER_FILE
		? ws_tree_open_file(r->builder, below, member->executable, err)
		: ws_tree_add_link(r->builder, below, member->target, err);
}

/* ---- blobs ---- */

static bool
begin_blob(struct reading *r, struct ws_err *err)
{
	const char *path = ws_path_join(r->a, r->scratch.path, "blob", NULL);
	r->part = PART_BLOB;
	r->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return r->fd >= 0 || ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", path);
}

static bool
end_blob(struct reading *r, struct ws_err *err)
{
	const char *path = ws_path_join(r->a, r->scratch.path, "blob", NULL);
	struct ws_digest digest;
	if (close(ws_take_fd(&r->fd)) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", path);
	}
	if (!ws_digest_file(path, &digest, NULL, err)) {
		return false;
	}
	if (!ws_digest_is(&digest, r->name)) {
		return fail(r, "this file is not", r->name, err);
	}
	return ws_cas_take(r->store, path, &digest, NULL, err) && ws_map_add(&r->known, r->name, r->a);
}

/* ---- results ---- */

static bool
begin_result(struct reading *r, const struct ws_member *member, const char *key, struct ws_err *err)
{
	r->name = ws_arena_strdup(r->a, key);
	r->part = PART_RESULT;
	return (member->kind == WS_MEMBER_FILE && ws_map_get(&r->results, key))
		|| fail(r, "its list does not name", member->name, err);
}

static bool
end_result(struct reading *r, struct ws_err *err)
{
	if (!ws_results_is_whole(r->name, &r->bytes)) {
		return fail(r, "this result is damaged:", r->name, err);
	}
	ws_map_add(&r->imported, r->name, r->a);
	return ws_cache_import(r->store, r->name, &r->bytes, err);
}

/* ---- members ---- */

/* A member of blobs/ must be a file, and listed. */
static bool
begin_member(
	struct reading *r, const struct ws_member *member, const char *name, struct ws_err *err)
{
	r->name = ws_arena_strdup(r->a, name);
	return (member->kind == WS_MEMBER_FILE && ws_map_get(&r->wanted, name))
		|| fail(r, "its list does not name", member->name, err);
}

static bool
wants(struct ws_unpack_sink *self, const struct ws_member *member)
{
	const struct reading *r = (const struct reading *)self;
	struct ws_str rest = ws_str_of(member->name);
	struct ws_str kind = ws_str_cut(&rest, '/'), name = ws_str_cut(&rest, '/');
	bool stored = ws_str_is(kind, "trees") || ws_str_is(kind, "blobs");
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return !stored || !ws_map_get(&r->known, ws_str_copy(name, a));
}

static bool
begin(struct ws_unpack_sink *self, const struct ws_member *member, struct ws_err *err)
{
	struct reading *r = (struct reading *)self;
	struct ws_str rest = ws_str_of(member->name);
	ws_buf_cut(&r->bytes, 0);
	if (ws_stop_asked(r->stop)) {
		return ws_stop_err(r->stop, err);
	}
	if (!r->has_head) {
		return r->part == PART_NONE ? begin_head(r, member, err)
									: fail(r, "it has no list before", member->name, err);
	}
	struct ws_str kind = ws_str_cut(&rest, '/');
	if (ws_str_is(kind, "trees") && rest.n > 0
		&& (member->kind == WS_MEMBER_FILE || member->kind == WS_MEMBER_LINK)) {
		struct ws_str folder = ws_str_cut(&rest, '/');
		return begin_tree(r, member, folder, rest.s ? rest.s : "", err);
	}
	if (ws_str_is(kind, "blobs")) {
		return begin_member(r, member, rest.s ? rest.s : "", err) && begin_blob(r, err);
	}
	if (ws_str_is(kind, "results")) {
		return begin_result(r, member, rest.s ? rest.s : "", err);
	}
	return fail(r, "its list does not name", member->name, err);
}

static bool
add_bytes(struct ws_unpack_sink *self, const void *bytes, size_t len, struct ws_err *err)
{
	struct reading *r = (struct reading *)self;
	if (ws_stop_asked(r->stop)) { /* files of gigabytes take their time */
		return ws_stop_err(r->stop, err);
	}
	r->read_bytes += r->part == PART_HEAD ? 0 : len;
	if (r->part == PART_TREE) {
		return ws_tree_write(r->builder, bytes, len, err);
	}
	if (r->part == PART_BLOB) {
		return ws_fs_write_all(r->fd, bytes, len)
			|| ws_err_sys(err, WS_ERR_IO, "cannot write into the store '%s'", r->store->path);
	}
	if (r->bytes.len + len > (r->part == PART_RESULT ? RESULT_MOST : HEAD_MOST)) {
		return fail(r, "this is too long:", r->name, err);
	}
	ws_buf_add(&r->bytes, bytes, len);
	return true;
}

static bool
end(struct ws_unpack_sink *self, struct ws_err *err)
{
	struct reading *r = (struct reading *)self;
	switch (r->part) {
	case PART_HEAD:
		return end_head(r, err);
	case PART_BLOB:
		return end_blob(r, err);
	case PART_TREE:
		return ws_tree_close_file(r->builder, NULL, err);
	case PART_RESULT:
		return end_result(r, err);
	case PART_NONE:
		break;
	}
	return true;
}

/* ---- the whole ---- */

/* An archive may end early and be a sound archive. */
static bool
has_all(const struct reading *r, struct ws_err *err)
{
	for (size_t i = 0; i < r->folders.count; i++) {
		if (!ws_map_get(&r->known, r->folders.slots[i].key)) {
			return fail(r, "it lacks", r->folders.slots[i].key, err);
		}
	}
	for (size_t i = 0; i < r->wanted.count; i++) {
		if (!ws_map_get(&r->known, r->wanted.slots[i].key)) {
			return fail(r, "it lacks", r->wanted.slots[i].key, err);
		}
	}
	for (size_t i = 0; i < r->results.count; i++) {
		if (!ws_map_get(&r->imported, r->results.slots[i].key)) {
			return fail(r, "it lacks", r->results.slots[i].key, err);
		}
	}
	return r->has_head || refuse_other(r, err);
}

static bool
read_all(struct reading *r, struct ws_err *err)
{
	/* Kits are large, and headers pack well. */
	static const struct ws_member_limits limits = {
		.members = 4000000, .total_bytes = (uint64_t)1 << 40, .ratio = 1000};
	if (!ws_unpack(r->path, r->path, WS_UNPACK_TAR, &limits, &r->sink, err)) {
		bool other = err && err->kind == WS_ERR_FETCH && r->part == PART_NONE;
		return other && !r->of_results ? ws_err_set(
				   err, WS_ERR_FETCH, "'%s' is not a bundle of wheelsmith, or is cut", r->path)
									   : other && refuse_other(r, err);
	}
	return end_tree(r, err) && has_all(r, err);
}

static bool
read_file(struct reading *r, struct ws_err *err)
{
	r->sink = (struct ws_unpack_sink){wants, begin, add_bytes, end};
	r->fd = -1;
	if (!ws_scratch_make(
			ws_store_path(r->store, r->a, "partial"), "bundle-", r->a, &r->scratch, err)) {
		return false;
	}
	bool read = read_all(r, err);
	if (r->fd >= 0) {
		close(r->fd);
	}
	ws_tree_abandon(r->builder);
	ws_scratch_drop(&r->scratch);
	ws_buf_release(&r->bytes);
	return read;
}

bool
ws_bundle_read(const struct ws_store *store, const char *path, struct ws_stop *stop,
	struct ws_arena *a, struct ws_bundle *bundle, struct ws_err *err)
{
	struct reading r = {.store = store, .path = path, .stop = stop, .a = a};
	bool read = read_file(&r, err);
	struct ws_bundle_tree folder = {WS_BUNDLE_TREE, r.head.folder};
	bundle->asked = r.head.asked;
	bundle->folder = ws_path_join(a, store->path, "trees", ws_bundle_tree_name(&folder, a), NULL);
	return read;
}

bool
ws_bundle_import(const struct ws_store *store, const char *path, struct ws_stop *stop,
	struct ws_arena *a, struct ws_bundle_count *count, struct ws_err *err)
{
	struct reading r = {.store = store, .path = path, .stop = stop, .a = a, .of_results = true};
	bool read = read_file(&r, err);
	*count = (struct ws_bundle_count){r.head.result_count, r.head.blob_count, r.read_bytes};
	return read;
}

/* ---- what may be written over ---- */

struct peeking {
	struct ws_unpack_sink sink;
	bool is_bundle;
};

/* The first member says it; the rest is not read. */
static bool
peek(struct ws_unpack_sink *self, const struct ws_member *member, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	((struct peeking *)self)->is_bundle = digest_of_head(member, a) != NULL;
	return ws_err_set(err, WS_ERR_FETCH, "the first member is enough");
}

bool
ws_bundle_may_write(const char *path, struct ws_err *err)
{
	struct peeking p = {.sink = {.begin = peek}};
	struct ws_err ignored = {0};
	struct stat status;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *folder = ws_path_dir(a, path);
	if (!ws_fs_is_dir(folder)) {
		return ws_err_set(
			err, WS_ERR_USAGE, "cannot write the bundle '%s': no folder '%s'", path, folder);
	}
	if (stat(path, &status) != 0 || (S_ISREG(status.st_mode) && status.st_size == 0)) {
		return true;
	}
	if (S_ISDIR(status.st_mode)) {
		ws_err_set(err, WS_ERR_USAGE, "'%s' is a folder, and a bundle is one file", path);
		return ws_err_cure(err, "name a file in it");
	}
	if (!S_ISREG(status.st_mode)) {
		return ws_err_set(err, WS_ERR_USAGE, "'%s' is not a file: a bundle is one", path);
	}
	ws_unpack(path, path, WS_UNPACK_TAR, NULL, &p.sink, &ignored);
	if (!p.is_bundle) {
		ws_err_set(err, WS_ERR_USAGE, "'%s' is not a bundle, and would be overwritten", path);
		return ws_err_cure(err, "name another file, or remove this one");
	}
	return true;
}
