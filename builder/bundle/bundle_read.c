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

enum part {
	PART_HEAD,
	PART_BLOB,
	PART_TREE,
	PART_RESULT,
};

/* A tree, a file or a result that the head lists. */
struct item {
	enum part part;
	const char *name; /* "torch-2.5.1-0123456789abcdef", a digest, a key */
	const struct ws_tree *tree;
	bool here; /* in the store */
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
	struct ws_map items; /* of the head, by their member: "blobs/<sha256>", "trees/<folder>" */
	uint64_t read_bytes;
	const char *head_name;     /* a digest; NULL: the first member has not begun */
	struct item *item;         /* of the member that is open; NULL: the head */
	struct ws_buf bytes;       /* of it: head, result */
	int fd;                    /* of it: blob */
	struct ws_scratch scratch; /* where blobs grow */
	struct item *tree;         /* that is being made; NULL: none */
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

static void
add_item(struct reading *r, const char *folder, struct item item)
{
	struct item *kept = WS_NEW(r->a, struct item);
	*kept = item;
	ws_map_put(&r->items, ws_arena_printf(r->a, "%s/%s", folder, item.name), kept, r->a);
}

static bool
end_head(struct reading *r, struct ws_err *err)
{
	struct ws_digest digest = ws_digest_bytes(ws_buf_text(&r->bytes), r->bytes.len);
	const struct ws_bundle_head *head = &r->head;
	struct ws_tree found;
	if (!ws_digest_is(&digest, r->head_name)) {
		return fail(r, "its list is not", r->head_name, err);
	}
	if (!ws_bundle_head_read(r->path, &r->bytes, r->a, &r->head, err)) {
		return false;
	}
	if (r->of_results != !head->folder.hex[0]) {
		return ws_err_set(err, WS_ERR_FETCH,
			r->of_results ? "'%s' is a bundle, not an export of `cache export`"
						  : "'%s' is an export of `cache export`, not a bundle",
			r->path);
	}
	for (size_t i = 0; i < head->result_count; i++) {
		add_item(r, "results", (struct item){PART_RESULT, head->results[i], NULL, false});
	}
	for (size_t i = 0; i < head->tree_count; i++) {
		const struct ws_tree *tree = &head->trees[i];
		bool here = ws_tree_find(r->store, tree->name, tree->digest.hex, r->a, &found);
		add_item(r, "trees", (struct item){PART_TREE, ws_bundle_tree_name(tree, r->a), tree, here});
	}
	for (size_t i = 0; i < head->blob_count; i++) {
		bool here = ws_cas_has(r->store, head->blobs[i]);
		add_item(r, "blobs", (struct item){PART_BLOB, head->blobs[i], NULL, here});
	}
	r->has_head = true;
	return true;
}

/* ---- members ---- */

/* Checks the finished tree against the list. */
static bool
end_tree(struct reading *r, struct ws_err *err)
{
	struct ws_tree made;
	struct ws_tree_builder *builder = r->builder;
	struct item *item = r->tree;
	r->builder = NULL;
	r->tree = NULL;
	if (!builder) {
		return true;
	}
	if (!ws_tree_commit(builder, r->a, &made, err)) {
		return false;
	}
	item->here = true;
	return ws_digest_eq(&made.digest, &item->tree->digest)
		|| fail(r, "these files are not", item->name, err);
}

/* The item of a member, and the path below a tree; NULL: the head does not list it. */
static struct item *
find_item(const struct reading *r, const char *member, struct ws_arena *a, const char **below)
{
	const char *slash = strchr(member, '/');
	const char *end = slash ? strchr(slash + 1, '/') : NULL;
	*below = end ? end + 1 : NULL;
	return ws_map_get(&r->items, end ? ws_arena_copy(a, member, (size_t)(end - member)) : member);
}

static bool
wants(struct ws_unpack_sink *self, const struct ws_member *member)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *below;
	const struct item *item = find_item((struct reading *)self, member->name, a, &below);
	return !item || !item->here;
}

static bool
begin(struct ws_unpack_sink *self, const struct ws_member *member, struct ws_err *err)
{
	struct reading *r = (struct reading *)self;
	const char *below;
	ws_buf_cut(&r->bytes, 0);
	if (ws_stop_asked(r->stop)) {
		return ws_stop_err(r->stop, err);
	}
	if (!r->has_head) {
		if (r->head_name) {
			return fail(r, "it has no list before", member->name, err);
		}
		r->head_name = digest_of_head(member, r->a);
		return r->head_name || refuse_other(r, err);
	}
	struct item *item = r->item = find_item(r, member->name, r->a, &below);
	bool is_tree = item && item->part == PART_TREE;
	bool fits = member->kind == WS_MEMBER_FILE ? is_tree || !below
											   : is_tree && member->kind == WS_MEMBER_LINK;
	if (!item || !fits) {
		return fail(r, "its list does not name", member->name, err);
	}
	if (item->part == PART_BLOB) {
		const char *path = ws_path_join(r->a, r->scratch.path, "blob", NULL);
		r->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		return r->fd >= 0 || ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", path);
	}
	if (!is_tree) {
		return true;
	}
	if (item != r->tree) {
		if (!end_tree(r, err)
			|| !(r->builder = ws_tree_begin(r->store, item->tree->name, r->a, err))) {
			return false;
		}
		r->tree = item;
	}
	return member->kind == WS_MEMBER_FILE
		? ws_tree_open_file(r->builder, below ? below : "", member->executable, err)
		: ws_tree_add_link(r->builder, below ? below : "", member->target, err);
}

static bool
add_bytes(struct ws_unpack_sink *self, const void *bytes, size_t len, struct ws_err *err)
{
	struct reading *r = (struct reading *)self;
	enum part part = r->item ? r->item->part : PART_HEAD;
	if (ws_stop_asked(r->stop)) { /* files of gigabytes take their time */
		return ws_stop_err(r->stop, err);
	}
	r->read_bytes += part == PART_HEAD ? 0 : len;
	if (part == PART_TREE) {
		return ws_tree_write(r->builder, bytes, len, err);
	}
	if (part == PART_BLOB) {
		return ws_fs_write_all(r->fd, bytes, len)
			|| ws_err_sys(err, WS_ERR_IO, "cannot write into the store '%s'", r->store->path);
	}
	if (r->bytes.len + len > (part == PART_RESULT ? RESULT_MOST : HEAD_MOST)) {
		return fail(r, "this is too long:", r->item ? r->item->name : r->head_name, err);
	}
	ws_buf_add(&r->bytes, bytes, len);
	return true;
}

static bool
end(struct ws_unpack_sink *self, struct ws_err *err)
{
	struct reading *r = (struct reading *)self;
	struct item *item = r->item;
	if (!item) {
		return end_head(r, err);
	}
	if (item->part == PART_TREE) {
		return ws_tree_close_file(r->builder, NULL, err);
	}
	item->here = true;
	if (item->part == PART_RESULT) {
		return ws_results_is_whole(item->name, 0, &r->bytes)
			? ws_cache_import(r->store, item->name, &r->bytes, err)
			: fail(r, "this result is damaged:", item->name, err);
	}
	const char *path = ws_path_join(r->a, r->scratch.path, "blob", NULL);
	struct ws_digest digest;
	if (close(ws_take_fd(&r->fd)) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", path);
	}
	return ws_digest_file(path, &digest, NULL, err)
		&& (ws_digest_is(&digest, item->name) || fail(r, "this file is not", item->name, err))
		&& ws_cas_take(r->store, path, &digest, NULL, err);
}

/* ---- the whole ---- */

static bool
read_all(struct reading *r, struct ws_err *err)
{
	/* Kits are large, and headers pack well. */
	static const struct ws_member_limits limits = {
		.members = 4000000, .total_bytes = (uint64_t)1 << 40, .ratio = 1000};
	if (!ws_unpack(r->path, r->path, WS_UNPACK_TAR, &limits, &r->sink, err)) {
		bool other = err && err->kind == WS_ERR_FETCH && !r->head_name;
		return other && !r->of_results ? ws_err_set(
				   err, WS_ERR_FETCH, "'%s' is not a bundle of wheelsmith, or is cut", r->path)
									   : other && refuse_other(r, err);
	}
	if (!end_tree(r, err)) {
		return false;
	}
	/* An archive may end early and be a sound archive. */
	for (size_t i = 0; i < r->items.count; i++) {
		const struct item *item = r->items.slots[i].value;
		if (!item->here) {
			return fail(r, "it lacks", item->name, err);
		}
	}
	return r->has_head || refuse_other(r, err);
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
	const struct ws_tree folder = {.name = WS_BUNDLE_TREE, .digest = r.head.folder};
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
