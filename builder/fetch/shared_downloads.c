#include "fetch/shared_downloads.h"

#include "base/fs.h"
#include "store/shared_entries.h"

#define FILE_KIND "file"
#define FILE_TEXT "wheelsmith.file/1\n"

bool
ws_shared_file_get(const struct ws_fetch *fetch, const char *sha256, uint64_t size_bytes)
{
	struct ws_shared *shared = fetch->shared;
	struct ws_shared_file file = {.digest = sha256, .size_bytes = size_bytes};
	if (!shared) {
		return false;
	}
	if (size_bytes == 0) { /* a trusted record has it */
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		struct ws_shared_record record = {.kind = FILE_KIND, .key = sha256};
		shared->get_records(shared, &record, 1, a);
		if (record.text.len > 0 && record.file_count == 1
			&& strcmp(record.files[0].digest, sha256) == 0
			&& record.files[0].size_bytes <= WS_LARGEST_SHARED) {
			file.size_bytes = record.files[0].size_bytes;
		}
		ws_buf_release(&record.text);
	}
	if (file.size_bytes > 0) {
		shared->get_files(shared, &file, 1);
	}
	return file.here;
}

void
ws_shared_file_tell(const struct ws_fetch *fetch, const char *sha256)
{
	struct ws_shared_file file = {.digest = sha256};
	struct ws_shared_record record = {
		.kind = FILE_KIND, .key = sha256, .files = &file, .file_count = 1};
	if (fetch->shared && fetch->shared->writes) {
		ws_buf_puts(&record.text, FILE_TEXT);
		fetch->shared->put(fetch->shared, &record, 1);
		ws_buf_release(&record.text);
	}
}

/* ---- trees ---- */

#define TREE_KIND "tree"
#define LARGEST_LISTING ((uint64_t)64 << 20)

/* A tree that is being fetched: first by its record, then with its listing. */
struct coming {
	const struct ws_fetch *fetch;
	struct ws_tree tree;
	struct ws_arena *a;
};

static double
megabytes(const struct ws_tree *tree)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < tree->count; i++) {
		bytes += tree->entries[i].size_bytes;
	}
	return (double)bytes / 1e6;
}

/* Fetches the listing with the tree's digest. */
static bool
get_listing(struct coming *c, const struct ws_shared_record *record)
{
	WS_AUTO_SCRATCH struct ws_scratch scratch = {.fd = -1};
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_shared *shared = c->fetch->shared;
	struct ws_tree_entry *entries;
	struct ws_digest digest;
	bool sized;
	if (record->file_count != 1 || record->files[0].size_bytes > LARGEST_LISTING
		|| !ws_scratch_make(
			ws_store_path(c->fetch->store, c->a, "partial"), "listing-", c->a, &scratch, NULL)) {
		return false;
	}
	struct ws_shared_file file = record->files[0];
	file.path = ws_path_join(c->a, scratch.path, "list", NULL);
	shared->get_files(shared, &file, 1);
	bool read = file.here && ws_fs_read(file.path, &text, NULL)
		&& ws_tree_list_read(ws_buf_str(&text), c->a, &entries, &c->tree.count, &digest, &sized);
	if (!read || !sized || !ws_digest_eq(&digest, &c->tree.digest)) {
		return false;
	}
	c->tree.entries = entries;
	uint64_t left_bytes = WS_LARGEST_SHARED; /* the sizes are not signed */
	for (size_t i = 0; i < c->tree.count; i++) {
		if (entries[i].size_bytes > left_bytes) {
			return false;
		}
		left_bytes -= entries[i].size_bytes;
	}
	return true;
}

/* All files to their places. */
static bool
get_files(const struct coming *c, struct ws_tree_builder *into, struct ws_err *err)
{
	struct ws_shared *shared = c->fetch->shared;
	struct ws_shared_file *files = WS_NEW_N(c->a, struct ws_shared_file, c->tree.count);
	size_t count = 0, here = 0;
	for (size_t i = 0; i < c->tree.count; i++) {
		const struct ws_tree_entry *entry = &c->tree.entries[i];
		if (entry->kind != WS_TREE_LINK) {
			const char *path = ws_tree_place(into, entry->path, err);
			if (!path) {
				return false;
			}
			files[count++] = (struct ws_shared_file){
				.digest = entry->value, .size_bytes = entry->size_bytes, .path = path};
		}
	}
	shared->get_files(shared, files, count);
	for (size_t i = 0; i < count; i++) {
		here += files[i].here;
	}
	return here == count;
}

/* Puts the tree into the store, whole or not at all. A local error is not reported here: the
 * download that follows reports it. */
static bool
make(const struct coming *c, struct ws_arena *a, struct ws_tree *tree)
{
	struct ws_err ignored = {0};
	struct ws_tree_builder *into = ws_tree_begin(c->fetch->store, c->tree.name, c->a, &ignored);
	bool fine = into && get_files(c, into, &ignored) && ws_tree_adopt(into, &ignored);
	for (size_t i = 0; i < c->tree.count && fine; i++) {
		const struct ws_tree_entry *entry = &c->tree.entries[i];
		if (entry->kind == WS_TREE_EXECUTABLE) {
			fine = ws_tree_set_executable(into, entry->path, &ignored);
		} else if (entry->kind == WS_TREE_LINK) {
			fine = ws_tree_add_link(into, entry->path, entry->value, &ignored);
		}
	}
	if (!fine) {
		ws_tree_abandon(into);
		return false;
	}
	return ws_tree_commit(into, a, tree, &ignored) && ws_digest_eq(&tree->digest, &c->tree.digest);
}

static bool
bring(struct coming *c, const struct ws_shared_record *record, struct ws_arena *a,
	struct ws_tree *tree)
{
	if (!ws_tree_memo_read(ws_buf_str(&record->text), c->a, &c->tree)) {
		return false;
	}
	/* Another definition may have given it. */
	if (!ws_tree_find(c->fetch->store, c->tree.name, c->tree.digest.hex, a, tree)) {
		if (!get_listing(c, record) || !make(c, a, tree)) {
			return false;
		}
		struct ws_event event = {
			.kind = WS_EVENT_KIT_READY,
			.subject = c->tree.name,
			.detail = ws_arena_printf(c->a, "%zu files, %.1f MB, from where results are shared",
				c->tree.count, megabytes(&c->tree)),
		};
		ws_events_emit(c->fetch->events, &event);
	}
	tree->note = c->tree.note ? ws_arena_strdup(a, c->tree.note) : NULL;
	return ws_tree_remember(c->fetch->store, record->key, tree, NULL);
}

bool
ws_shared_tree_get(
	const struct ws_fetch *fetch, const char *key, struct ws_arena *a, struct ws_tree *tree)
{
	WS_AUTO_ARENA struct ws_arena *own = ws_arena_make();
	struct coming c = {.fetch = fetch, .a = own};
	struct ws_shared_record record = {.kind = TREE_KIND, .key = key};
	if (!fetch->shared) {
		return false;
	}
	fetch->shared->get_records(fetch->shared, &record, 1, own);
	bool came = record.text.len > 0 && bring(&c, &record, a, tree);
	ws_buf_release(&record.text);
	return came;
}

bool
ws_shared_tree_remember(
	const struct ws_fetch *fetch, const char *key, const struct ws_tree *tree, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_digest listing;
	struct ws_shared_file *files = WS_NEW_N(a, struct ws_shared_file, tree->count + 1);
	size_t count = 1;
	if (!ws_tree_remember(fetch->store, key, tree, err)) {
		return false;
	}
	files[0].path = ws_arena_printf(a, "%s.list", tree->path);
	if (!fetch->shared || !fetch->shared->writes
		|| !ws_digest_file(files[0].path, &listing, NULL, NULL)) {
		return true;
	}
	files[0].digest = listing.hex;
	for (size_t i = 0; i < tree->count; i++) {
		const struct ws_tree_entry *entry = &tree->entries[i];
		if (entry->kind != WS_TREE_LINK) {
			files[count++] = (struct ws_shared_file){
				.digest = entry->value,
				.path = ws_path_join(a, tree->path, entry->path, NULL),
				.unnamed = true,
			};
		}
	}
	ws_events_note(
		fetch->events, "sharing '%s': %zu files, %.1f MB", tree->name, count, megabytes(tree));
	struct ws_shared_record record = {
		.kind = TREE_KIND, .key = key, .files = files, .file_count = count};
	ws_tree_memo_write(tree, &record.text);
	fetch->shared->put(fetch->shared, &record, 1);
	ws_buf_release(&record.text);
	return true;
}
