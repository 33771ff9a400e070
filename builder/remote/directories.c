/* directories.c - from the deepest folder up. Entries of one folder are next to each other once
 * they are sorted by path, part by part. */
#include "remote/directories.h"

#include "base/fs.h"
#include "remote/protobuf.h"

#include <stdlib.h>
#include <string.h>

/* By path, "/" before every other byte: what lies in "a" comes before "a-b". */
static int
compare(const void *x, const void *y)
{
	const char *left = ((const struct ws_entry *)x)->path;
	const char *right = ((const struct ws_entry *)y)->path;
	while (*left && *left == *right) {
		left++;
		right++;
	}
	int l = *left == '/' ? 1 : (unsigned char)*left + (*left ? 1 : 0);
	int r = *right == '/' ? 1 : (unsigned char)*right + (*right ? 1 : 0);
	return l - r;
}

static Reapi__Digest *
digest_of(const struct ws_entry *entry, struct ws_arena *a)
{
	Reapi__Digest *digest = WS_NEW(a, Reapi__Digest);
	*digest = ws_protobuf_digest(entry->value, entry->size_bytes);
	return digest;
}

void
ws_directories_add_file(
	struct ws_directories *d, const char *path, const char *digest, uint64_t size_bytes)
{
	if (ws_map_add(&d->known, digest, d->a)) {
		*ws_vec_push(&d->items, d->a) =
			(struct ws_item){.key = digest, .path = path, .size_bytes = size_bytes};
	}
}

void
ws_directories_add_bytes(
	struct ws_directories *d, const struct ws_buf *bytes, struct ws_digest *digest)
{
	*digest = ws_digest_bytes(bytes->data, bytes->len);
	const char *key = ws_arena_strdup(d->a, digest->hex);
	if (ws_map_add(&d->known, key, d->a)) {
		struct ws_item *item = ws_vec_push(&d->items, d->a);
		*item = (struct ws_item){.key = key, .size_bytes = bytes->len};
		item->bytes.data = ws_arena_copy(d->a, ws_buf_text(bytes), bytes->len);
		item->bytes.len = bytes->len;
	}
}

/* A folder that is being made of some of the entries. */
struct folder {
	struct ws_directories *d;
	struct ws_arena *a;
	Reapi__Directory message;
};

static void
add_folder(struct folder *f, const struct ws_entry *entry, const char *name)
{
	Reapi__DirectoryNode *node = WS_NEW(f->a, Reapi__DirectoryNode);
	reapi__directory_node__init(node);
	node->name = ws_protobuf_borrow(name);
	node->digest = digest_of(entry, f->a);
	f->message.directories[f->message.n_directories++] = node;
}

static void
add_leaf(struct folder *f, const struct ws_entry *entry, const char *name)
{
	if (entry->kind == WS_ENTRY_FOLDER) {
		add_folder(f, entry, name);
	} else if (entry->kind == WS_ENTRY_LINK) {
		Reapi__SymlinkNode *node = WS_NEW(f->a, Reapi__SymlinkNode);
		reapi__symlink_node__init(node);
		node->name = ws_protobuf_borrow(name);
		node->target = ws_protobuf_borrow(entry->value);
		f->message.symlinks[f->message.n_symlinks++] = node;
	} else {
		Reapi__FileNode *node = WS_NEW(f->a, Reapi__FileNode);
		reapi__file_node__init(node);
		node->name = ws_protobuf_borrow(name);
		node->digest = digest_of(entry, f->a);
		node->is_executable = entry->kind == WS_ENTRY_EXECUTABLE;
		f->message.files[f->message.n_files++] = node;
	}
}

/* Of @a count entries whose paths agree in their first @a skip bytes. */
static struct ws_entry
make(struct ws_directories *d, const struct ws_entry *entries, size_t count, size_t skip)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf bytes = {0};
	struct folder f = {.d = d, .a = a};
	reapi__directory__init(&f.message);
	f.message.files = WS_NEW_N(a, Reapi__FileNode *, count);
	f.message.directories = WS_NEW_N(a, Reapi__DirectoryNode *, count);
	f.message.symlinks = WS_NEW_N(a, Reapi__SymlinkNode *, count);
	for (size_t i = 0; i < count;) {
		const char *name = entries[i].path + skip;
		size_t len = strcspn(name, "/"), end = i + 1;
		if (!name[len]) {
			add_leaf(&f, &entries[i], name);
		} else {
			while (end < count && strncmp(entries[end].path + skip, name, len + 1) == 0) {
				end++;
			}
			struct ws_entry below = make(d, &entries[i], end - i, skip + len + 1);
			add_folder(&f, &below, ws_arena_copy(a, name, len));
		}
		i = end;
	}
	struct ws_digest digest;
	ws_protobuf_pack(&f.message, &bytes);
	ws_directories_add_bytes(d, &bytes, &digest);
	return (struct ws_entry){.kind = WS_ENTRY_FOLDER,
		.value = ws_arena_strdup(d->a, digest.hex),
		.size_bytes = bytes.len};
}

struct ws_entry
ws_directories_add(struct ws_directories *d, struct ws_entry *entries, size_t count)
{
	if (count > 1) {
		qsort(entries, count, sizeof(*entries), compare);
	}
	return make(d, entries, count, 0);
}

struct ws_entry
ws_directories_add_tree(struct ws_directories *d, const struct ws_tree *tree)
{
	static const enum ws_entry_kind kinds[] = {[WS_TREE_FILE] = WS_ENTRY_FILE,
		[WS_TREE_EXECUTABLE] = WS_ENTRY_EXECUTABLE,
		[WS_TREE_LINK] = WS_ENTRY_LINK};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_entry *entries = WS_NEW_N(a, struct ws_entry, tree->count);
	for (size_t i = 0; i < tree->count; i++) {
		const struct ws_tree_entry *entry = &tree->entries[i];
		entries[i] =
			(struct ws_entry){entry->path, entry->value, entry->size_bytes, kinds[entry->kind]};
		if (entry->kind != WS_TREE_LINK) {
			ws_directories_add_file(d, ws_path_join(d->a, tree->path, entry->path, NULL),
				entry->value, entry->size_bytes);
		}
	}
	return ws_directories_add(d, entries, tree->count);
}
