/* snapshot.c - the texts of pages are render.h's; path_wheels.c selects the wheels of each path. */
#include "publish/folder/snapshot.h"

#include "base/fs.h"
#include "publish/render.h"
#include "publish/variant_wheel.h"

/* ---- pages ---- */

static bool
put(struct ws_publishing *p, const char *path, struct ws_buf *text, struct ws_err *err)
{
	bool done = ws_index_folder_put(&p->target, path, ws_buf_text(text), text->len, err);
	ws_buf_clear(text);
	return done;
}

typedef WS_VEC(const struct ws_index_entry *) entry_list;

/* Puts NAME-VERSION-variants.json of each release that has variants, once for each spelling of its
 * version. */
static bool
put_labels(struct ws_publishing *p, const char *folder, const struct ws_index_path *page,
	entry_list *files, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_map names = {0};
	const struct ws_index_entry **release =
		WS_NEW_N(p->a, const struct ws_index_entry *, page->count);
	for (size_t i = 0; i < page->count; i++) {
		const struct ws_index_entry *entry = page->entries[i];
		const char *uploaded = entry->uploaded;
		size_t count = 0;
		const char *name = ws_arena_printf(p->a, "%s-%s-variants.json",
			ws_package_file_part(entry->name.distribution, p->a), entry->name.version.text);
		if (!entry->variant || !ws_map_add(&names, name, p->a)) {
			continue;
		}
		for (size_t j = 0; j < page->count; j++) {
			const struct ws_index_entry *other = page->entries[j];
			if (other->variant
				&& ws_version_cmp_public(&other->name.version, &entry->name.version) == 0) {
				release[count++] = other;
				uploaded = strcmp(other->uploaded, uploaded) > 0 ? other->uploaded : uploaded;
			}
		}
		ws_variant_json(release, count, p->a, &text);
		struct ws_index_entry *file = WS_NEW(p->a, struct ws_index_entry);
		*ws_vec_push(files, p->a) = file;
		*file = (struct ws_index_entry){.file = name,
			.sha256 = ws_arena_strdup(p->a, ws_digest_bytes(ws_buf_text(&text), text.len).hex),
			.size_bytes = text.len,
			.uploaded = uploaded};
		if (!put(p, ws_path_join(p->a, folder, name, NULL), &text, err)) {
			return false;
		}
	}
	return true;
}

static bool
put_package(struct ws_publishing *p, const char *path, const struct ws_index_path *page,
	struct ws_buf *text, struct ws_err *err)
{
	const char *folder = ws_path_join(p->a, path, "simple", page->path, NULL);
	entry_list files = {0};
	if (strcmp(path, WS_INDEX_VARIANTS) == 0 && !put_labels(p, folder, page, &files, err)) {
		return false;
	}
	for (size_t i = 0; i < page->count; i++) {
		*ws_vec_push(&files, p->a) = page->entries[i];
	}
	ws_index_page_html(files.at, files.len, text);
	if (!put(p, ws_path_join(p->a, folder, "index.html", NULL), text, err)) {
		return false;
	}
	ws_index_page_json(files.at, files.len, text);
	return put(p, ws_path_join(p->a, folder, "index.json", NULL), text, err);
}

static bool
put_path(struct ws_publishing *p, const struct ws_index_path *answers, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_VEC(const char *) packages = {0};
	for (size_t from = 0, to; from < answers->count; from = to) {
		const char *package = answers->entries[from]->name.distribution;
		for (to = from; to < answers->count
			 && strcmp(answers->entries[to]->name.distribution, package) == 0;) {
			to++;
		}
		*ws_vec_push(&packages, p->a) = package;
		const struct ws_index_path page = {package, answers->entries + from, to - from};
		if (!put_package(p, answers->path, &page, &text, err)) {
			return false;
		}
	}
	const char *folder = ws_path_join(p->a, answers->path, "simple", NULL);
	ws_index_root_html(packages.at, packages.len, &text);
	if (!put(p, ws_path_join(p->a, folder, "index.html", NULL), &text, err)) {
		return false;
	}
	ws_index_root_json(packages.at, packages.len, &text);
	return put(p, ws_path_join(p->a, folder, "index.json", NULL), &text, err);
}

/* Puts the path of wheel variants, with wheels that load everywhere. Without variants @a path is
 * NULL. */
static bool
put_variants(struct ws_publishing *p, const char **path, struct ws_err *err)
{
	struct ws_index_path answers = ws_index_variant_answers(&p->catalog, p->a);
	const struct ws_index_entry **entries =
		WS_NEW_N(p->a, const struct ws_index_entry *, answers.count);
	*path = NULL;
	for (size_t i = 0; i < p->catalog.entries.len; i++) {
		const struct ws_index_entry *entry = &p->catalog.entries.at[i];
		const struct ws_index_variant *v = entry->variant;
		/* Label and file name must follow from the entry. */
		bool labelled = !v || ws_same(v->label, ws_variant_label(entry, p->a));
		if (v && !(labelled && ws_same(v->file, ws_variant_file(entry, v->label, p->a)))) {
			return ws_err_set(err, WS_ERR_PUBLISH,
				"'%s' gives '%s' a variant that it cannot have: '%s'", p->order->target,
				entry->file, labelled ? v->file : v->label);
		}
	}
	for (size_t i = 0; i < answers.count; i++) {
		entries[i] = answers.entries[i];
		if (entries[i]->variant) {
			struct ws_index_entry *shown = WS_NEW(p->a, struct ws_index_entry);
			*shown = ws_variant_entry(entries[i], p->a);
			entries[i] = shown;
			*path = answers.path;
		}
	}
	answers.entries = entries;
	return !*path || put_path(p, &answers, err);
}

static int
cmp_pages(const void *x, const void *y)
{
	return strcmp(
		((const struct ws_index_page_file *)x)->path, ((const struct ws_index_page_file *)y)->path);
}

static bool
put_tree(struct ws_publishing *p, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	size_t count, wheels = p->catalog.entries.len;
	const struct ws_index_entry **all = WS_NEW_N(p->a, const struct ws_index_entry *, wheels);
	const struct ws_index_path *paths = ws_index_paths(&p->catalog, p->a, &count);
	const char **path_names = WS_NEW_N(p->a, const char *, count + 1);
	for (size_t i = 0; i < count; i++) {
		path_names[i] = paths[i].path;
		if (!put_path(p, &paths[i], err)) {
			return false;
		}
	}
	if (!put_variants(p, &path_names[count], err)) {
		return false;
	}
	p->outcome->paths = path_names;
	p->outcome->path_count = count + (path_names[count] != NULL);
	ws_index_browse_html(&p->catalog, paths, count, !p->order->only_visible, &text);
	if (!put(p, "index.html", &text, err)) {
		return false;
	}
	p->catalog.program = WS_VERSION;
	p->catalog.paths = paths;
	p->catalog.path_count = count;
	ws_table_text(&ws_index_catalog_table, &p->catalog, WS_JSON_PRETTY, &text);
	for (size_t i = 0; i < wheels; i++) {
		all[i] = &p->catalog.entries.at[i];
	}
	return put_path(p, &(struct ws_index_path){"all", all, wheels}, err)
		&& put(p, "index.json", &text, err);
}

bool
ws_index_snapshot_write(struct ws_publishing *p, struct ws_err *err)
{
	const struct ws_index_order *o = p->order;
	WS_AUTO_BUF struct ws_buf text = {0};
	unsigned char signature[WS_SIGNATURE_BYTES];
	struct ws_index_manifest manifest = {.created = p->now};
	p->catalog.snapshot = manifest.snapshot = ws_index_folder_next(&p->target, o->now_us);
	ws_index_catalog_sort(&p->catalog);
	if (!ws_index_folder_begin(&p->target, err) || !put_tree(p, err)) {
		return false;
	}
	qsort(p->target.pages.at, p->target.pages.len, sizeof(*manifest.files), cmp_pages);
	manifest.files = p->target.pages.at;
	manifest.count = p->target.pages.len;
	if (o->key) {
		manifest.expires = ws_index_time_text(o->now_us + (int64_t)o->valid_s * 1000000, p->a);
		manifest.key = ws_arena_strdup(p->a, ws_sign_key_id(o->key).hex);
	}
	ws_table_text(&ws_index_manifest_table, &manifest, WS_JSON_PRETTY, &text);
	if (o->key) {
		ws_sign_bytes(o->key, ws_buf_text(&text), text.len, signature);
	}
	if ((o->key
			&& !ws_index_folder_put(
				&p->target, WS_INDEX_SIGNATURE, signature, sizeof(signature), err))
		|| !put(p, WS_INDEX_MANIFEST, &text, err)
		|| !ws_index_folder_commit(&p->target, p->catalog.snapshot, err)) {
		return false;
	}
	p->outcome->changed = true;
	p->outcome->pages = p->target.pages.len;
	p->outcome->new_pages = p->target.new_pages;
	p->outcome->removed = ws_index_folder_retain(&p->target, o->keep);
	return true;
}
