/* bundle_write.c - finds the entries of a build by resolving it once more, while the store notes
 * the entries it returns. */
#include "archive/tar.h"
#include "base/fs.h"
#include "bundle/bundle.h"
#include "config/lock.h"
#include "make/resolve.h"
#include "store/cas.h"
#include "store/results.h"

struct writing {
	const struct ws_context *ctx;        /* NULL: an export of results */
	const struct ws_bundle_order *order; /* likewise */
	const struct ws_store *store;
	const char *path; /* the file to write */
	struct ws_stop *stop;
	struct ws_used_entries used;
	struct ws_map warned;  /* toolkits */
	struct ws_tree folder; /* WS_BUNDLE_TREE */
	struct ws_bundle_head head;
	struct ws_tar *tar;
	struct ws_arena *a;
};

/* ---- what is needed ---- */

/* The resolver is a new one: the one that fetched has most of it in mind and asks the store no
 * more. */
static bool
find_all(struct writing *w, struct ws_err *err)
{
	struct ws_fetch *fetch = w->ctx->fetch;
	const struct ws_supplies *supplies = w->order->supplies;
	struct ws_selection *sel = w->order->selection;
	struct ws_resolver *resolver =
		ws_resolver_open(w->ctx, &sel->pins, sel->plan.products, sel->plan.product_count);
	bool was_offline = fetch->offline, done = true;
	fetch->offline = true;
	w->order->store->used = &w->used;
	for (size_t i = 0; i < supplies->count && done; i++) {
		const struct ws_supply *supply = &supplies->at[i];
		const struct ws_product *product = supply->product;
		if (!ws_supply_is_open(supply)) {
			continue;
		}
		if (ws_supply_is_prebuilt(supply)) {
			done = ws_resolve_cell_exports(resolver, product, err)
				&& ws_cas_open(w->ctx->store, product->chosen->sha256, w->a, err);
			continue;
		}
		const struct ws_cuda_choice *cuda =
			product->recipe->extension_count ? product->point.cuda : NULL;
		/* A toolkit of this host is not in the store. */
		if (cuda && cuda->origin == WS_KIT_HOST && ws_map_add(&w->warned, cuda->name, w->a)) {
			ws_events_warn(w->ctx->events,
				"CUDA %s is this host's toolkit, which a bundle does not hold: take a kit of "
				"archives",
				cuda->name);
		}
		done = ws_resolve_downloads(resolver, product, err);
	}
	w->order->store->used = NULL;
	fetch->offline = was_offline;
	return done;
}

/* ---- the matrix and its recipes ---- */

/* @a path relative to the folder of @a recipe; NULL where it is not below it. */
static const char *
beside(const struct ws_recipe *recipe, const char *path, struct ws_arena *a)
{
	char folder[4096]; /* a recipe's paths are absolute, its own is as it was typed */
	if (!realpath(ws_path_dir(a, recipe->path), folder)) {
		return NULL;
	}
	size_t len = strlen(folder);
	return strncmp(path, folder, len) == 0 && path[len] == '/' && ws_path_is_inside(path + len + 1)
		? path + len + 1
		: NULL;
}

static bool
add_copy(struct writing *w, struct ws_tree_builder *b, const char *from, const char *to,
	bool executable, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	const struct ws_tree_entry *there = ws_tree_added(b, to);
	if (!ws_fs_read(from, &bytes, err)) {
		return false;
	}
	if (there) { /* folders of recipes are laid over each other there */
		struct ws_digest digest = ws_digest_bytes(ws_buf_text(&bytes), bytes.len);
		if (ws_digest_is(&digest, there->value)) {
			return true;
		}
		ws_err_set(err, WS_ERR_CONFIG,
			"'%s' cannot be in a bundle: another recipe brings other contents as '%s'", from, to);
		return ws_err_cure(err, "give one of the two files another name");
	}
	return ws_tree_add_file(b, to, ws_buf_text(&bytes), bytes.len, executable, err)
		&& (!ws_stop_asked(w->ctx->stop) || ws_stop_err(w->ctx->stop, err));
}

/* Sources in a folder, as they were when they were pinned. */
static bool
add_sources(struct writing *w, struct ws_tree_builder *b, const struct ws_recipe *recipe,
	const struct ws_source_spec *spec, const char *folder, struct ws_err *err)
{
	const struct ws_pin_source *pin =
		ws_lock_source(&w->order->selection->pins.lock, recipe->name, recipe->version.text);
	const char *name = ws_arena_printf(w->a, "src-%s-%s", recipe->name, recipe->version.text);
	const char *below = beside(recipe, spec->path, w->a);
	struct ws_tree tree;
	bool is_selected = false;
	for (size_t i = 0; i < w->order->supplies->count; i++) {
		is_selected = is_selected || w->order->supplies->at[i].product->recipe == recipe;
	}
	if (!pin || !ws_same(pin->how, "folder") || !is_selected) {
		return true; /* no build uses it */
	}
	if (!below) {
		ws_err_set(err, WS_ERR_CONFIG,
			"%s %s: its source folder '%s' cannot be in a bundle: it is not below '%s'",
			recipe->name, recipe->version.text, spec->path, ws_path_dir(w->a, recipe->path));
		return ws_err_cure(err, "put it beside the recipe, or name a source that has a digest");
	}
	if (!ws_tree_find(w->ctx->store, name, pin->tree, w->a, &tree)) {
		return ws_err_set(err, WS_ERR_IO, "the store has lost the sources of %s %s", recipe->name,
			recipe->version.text);
	}
	bool done = true;
	for (size_t i = 0; i < tree.count && done; i++) {
		const struct ws_tree_entry *entry = &tree.entries[i];
		const char *to = ws_path_join(w->a, folder, below, entry->path, NULL);
		done = entry->kind == WS_TREE_LINK
			? ws_tree_added(b, to) || ws_tree_add_link(b, to, entry->value, err)
			: add_copy(w, b, ws_path_join(w->a, tree.path, entry->path, NULL), to,
				entry->kind == WS_TREE_EXECUTABLE, err);
	}
	return done;
}

static bool
add_recipe(struct writing *w, struct ws_tree_builder *b, const struct ws_recipe *recipe,
	struct ws_err *err)
{
	const char *folder =
		ws_path_join(w->a, WS_BUNDLE_RECIPES, ws_path_base(ws_path_dir(w->a, recipe->path)), NULL);
	const char *to = ws_path_join(w->a, folder, ws_path_base(recipe->path), NULL);
	bool done = add_copy(w, b, recipe->path, to, false, err);
	for (size_t i = 0; i < recipe->patch_count && done; i++) {
		const struct ws_patch *patch = &recipe->patches[i];
		done = !patch->file
			|| add_copy(
				w, b, patch->file, ws_path_join(w->a, folder, patch->name, NULL), false, err);
	}
	for (size_t i = 0; i < recipe->source_count && done; i++) {
		done = recipe->sources[i].kind != WS_SOURCE_FOLDER
			|| add_sources(w, b, recipe, &recipe->sources[i], folder, err);
	}
	return done;
}

static bool
make_folder(struct writing *w, struct ws_err *err)
{
	static const struct ws_lock none;
	const struct ws_selection *selection = w->order->selection;
	const struct ws_json_doc *matrix = selection->matrix.doc;
	struct ws_lock lock = {0};
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_tree_builder *b = ws_tree_begin(w->ctx->store, WS_BUNDLE_TREE, w->a, err);
	if (!b) {
		return false;
	}
	/* Where sources lay on this host is none of a bundle's: the same selection gives the same
	 * bytes. */
	ws_lock_merge(&lock, &none, &selection->pins.lock, w->a);
	for (size_t i = 0; i < lock.sources.len; i++) {
		struct ws_pin_source *pin = &lock.sources.at[i];
		pin->from = ws_same(pin->how, "folder") ? WS_BUNDLE_RECIPES : pin->from;
	}
	ws_lock_write(&lock, &text);
	bool done = ws_tree_add_file(b, WS_BUNDLE_MATRIX, matrix->text, matrix->len, false, err)
		&& ws_tree_add_file(
			b, ws_lock_path(WS_BUNDLE_MATRIX, w->a), ws_buf_text(&text), text.len, false, err);
	for (size_t i = 0; i < selection->matrix.package_count && done; i++) {
		done = add_recipe(w, b, &selection->recipes[i], err);
	}
	if (!done) {
		ws_tree_abandon(b);
		return false;
	}
	return ws_tree_commit(b, w->a, &w->folder, err);
}

/* ---- the list ---- */

static const char *const *
sorted_keys(const struct ws_map *set, struct ws_arena *a)
{
	const char **keys = WS_NEW_N(a, const char *, set->count + 1);
	for (size_t i = 0; i < set->count; i++) {
		keys[i] = set->slots[i].key;
	}
	if (set->count > 1) {
		qsort(keys, set->count, sizeof(*keys), ws_cmp_strings);
	}
	return keys;
}

/* ---- the archive ---- */

static bool
write_tree(struct writing *w, const struct ws_tree *tree, struct ws_err *err)
{
	const char *folder = ws_bundle_tree_name(tree, w->a);
	bool done = true;
	for (size_t i = 0; i < tree->count && done; i++) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		const struct ws_tree_entry *entry = &tree->entries[i];
		const char *name = ws_arena_printf(a, "trees/%s/%s", folder, entry->path);
		if (ws_stop_asked(w->stop)) {
			return ws_stop_err(w->stop, err);
		}
		done = entry->kind == WS_TREE_LINK
			? ws_tar_add_link(w->tar, name, entry->value, err)
			: ws_tar_add_file(w->tar, name, ws_path_join(a, tree->path, entry->path, NULL),
				entry->kind == WS_TREE_EXECUTABLE, entry->value, err);
	}
	return done;
}

static bool
write_members(struct writing *w, struct ws_err *err)
{
	const struct ws_bundle_head *head = &w->head;
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_bundle_head_write(head, &text);
	struct ws_digest digest = ws_digest_bytes(ws_buf_text(&text), text.len);
	const char *first = ws_arena_printf(w->a, "bundle/%s.json", digest.hex);
	bool done = ws_tar_add(w->tar, first, ws_buf_text(&text), text.len, err);
	for (size_t i = 0; i < head->blob_count && done; i++) {
		const char *path = ws_cas_open(w->store, head->blobs[i], w->a, err);
		const char *name = ws_arena_printf(w->a, "blobs/%s", head->blobs[i]);
		done = path && ws_tar_add_file(w->tar, name, path, false, head->blobs[i], err)
			&& (!ws_stop_asked(w->stop) || ws_stop_err(w->stop, err));
	}
	for (size_t i = 0; i < head->result_count && done; i++) {
		const char *name = ws_arena_printf(w->a, "results/%s", head->results[i]);
		ws_buf_clear(&text);
		done = ws_results_export(w->store, head->results[i], &text, err)
			&& ws_tar_add(w->tar, name, ws_buf_text(&text), text.len, err)
			&& (!ws_stop_asked(w->stop) || ws_stop_err(w->stop, err));
	}
	for (size_t i = 0; i < head->tree_count && done; i++) {
		done = write_tree(w, &head->trees[i], err);
	}
	return done;
}

static bool
write_file(struct writing *w, struct ws_err *err)
{
	const char *path = w->path;
	char *part;
	ws_fs_remove_parts(ws_path_dir(w->a, path));
	WS_AUTO_FD int fd = ws_fs_part_open(path, &part, w->a, err);
	if (fd < 0) {
		return false;
	}
	w->tar = ws_tar_begin(fd, path, w->a, err);
	bool written = w->tar && write_members(w, err) && ws_tar_finish(w->tar, err);
	ws_tar_drop(w->tar);
	if (!written) {
		ws_fs_remove(part, NULL);
		return false;
	}
	return ws_fs_part_land(fd, part, path, 0644, true, err);
}

bool
ws_bundle_write(const struct ws_context *ctx, const struct ws_bundle_order *order,
	struct ws_bundle_made *made, struct ws_err *err)
{
	struct writing w = {
		.ctx = ctx,
		.order = order,
		.store = ctx->store,
		.path = order->path,
		.stop = ctx->stop,
		.used = {.a = ctx->a},
		.a = ctx->a,
	};
	/* Once more: it may be the lock, which fetching has made. */
	if (!ws_bundle_may_write(order->path, err) || !find_all(&w, err) || !make_folder(&w, err)) {
		return false;
	}
	ws_map_put(&w.used.trees, w.folder.path, &w.folder, w.a);
	const struct ws_lock *lock = &order->selection->pins.lock;
	size_t count = w.used.trees.count, listed = 0;
	const char *const *paths = sorted_keys(&w.used.trees, w.a);
	struct ws_tree *trees = WS_NEW_N(w.a, struct ws_tree, count);
	for (size_t i = 0; i < count; i++) {
		const struct ws_tree *tree = ws_map_get(&w.used.trees, paths[i]);
		/* A reader makes patched sources, and those of folders, which lie beside their recipe. */
		bool made_there = ws_starts_with(tree->name, "src-");
		for (size_t j = 0; j < lock->sources.len && made_there; j++) {
			const struct ws_pin_source *pin = &lock->sources.at[j];
			made_there = !pin->definition || !ws_digest_is(&tree->digest, pin->tree);
		}
		if (!made_there) {
			trees[listed++] = *tree;
		}
	}
	w.head = (struct ws_bundle_head){
		.asked = order->asked,
		.folder = w.folder.digest,
		.trees = trees,
		.tree_count = listed,
		.blobs = sorted_keys(&w.used.files, w.a),
		.blob_count = w.used.files.count,
	};
	return write_file(&w, err) && ws_digest_file(order->path, &made->digest, &made->bytes, err);
}

bool
ws_bundle_export(const struct ws_store *store, const struct ws_inventory *inventory,
	const char *path, struct ws_stop *stop, struct ws_bundle_count *count, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct writing w = {.store = store, .path = path, .stop = stop, .a = a};
	WS_VEC(const char *) results = {0}, blobs = {0};
	*count = (struct ws_bundle_count){0};
	for (size_t i = 0; i < inventory->items.len; i++) {
		const struct ws_store_item *item = &inventory->items.at[i];
		if (item->room == WS_ROOM_RESULTS) {
			*ws_vec_push(&results, a) = item->name;
		} else if (item->room == WS_ROOM_FILES && item->named) {
			*ws_vec_push(&blobs, a) = item->name;
		} else {
			continue;
		}
		count->bytes += item->bytes;
	}
	w.head = (struct ws_bundle_head){
		.blobs = blobs.at,
		.blob_count = count->files = blobs.len,
		.results = results.at,
		.result_count = count->results = results.len,
	};
	return write_file(&w, err);
}
