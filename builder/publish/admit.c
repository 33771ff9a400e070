#include "publish/admit.h"

#include "base/fs.h"
#include "wheelfile/dist_info.h"
#include "wheelfile/record_check.h"

/* ---- the wheels that a person named ---- */

bool
ws_index_source_find(
	const char *named, struct ws_arena *a, struct ws_index_source *source, struct ws_err *err)
{
	WS_VEC(const char *) found = {0};
	char *real = realpath(named, NULL); /* the ledger has absolute names */
	const char *path = ws_arena_strdup(a, real);
	free(real);
	if (!path) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", named);
	}
	if (!ws_fs_is_dir(path)) {
		*ws_vec_push(&found, a) = path;
		*source = (struct ws_index_source){ws_path_dir(a, path), found.at, 1};
		return true;
	}
	WS_AUTO_DIR DIR *dir = opendir(path);
	const struct dirent *entry;
	if (!dir) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot read the folder '%s'", path);
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && ws_ends_with(entry->d_name, ".whl")) {
			*ws_vec_push(&found, a) = ws_path_join(a, path, entry->d_name, NULL);
		}
	}
	if (found.len == 0) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' has no wheels", named);
	}
	qsort(found.at, found.len, sizeof(*found.at), ws_cmp_strings);
	*source = (struct ws_index_source){path, found.at, found.len};
	return true;
}

/* ---- results of GPU checks ---- */

static bool
refuse(const char *path, const char *why, struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not a result of a GPU check: %s", path, why);
}

bool
ws_gpu_check_read(const char *path, struct ws_arena *a, struct ws_map *checks, struct ws_err *err)
{
	struct ws_json_doc doc;
	struct ws_digest digest;
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	if (!ws_same(ws_json_text(doc.root, "schema"), "wheelsmith.kernels-check/1")) {
		return refuse(path, "its schema is not 'wheelsmith.kernels-check/1'", err);
	}
	const struct ws_json *cases = ws_json_find(doc.root, "cases");
	if (!cases || cases->kind != WS_JSON_ARRAY) {
		return refuse(path, "it has no list 'cases'", err);
	}
	const char *sha256 = ws_json_text(doc.root, "wheel_sha256");
	if (!sha256 || !ws_digest_parse(sha256, &digest)) {
		return refuse(path, "'wheel_sha256' does not say which wheel was checked", err);
	}
	const char *why = ws_json_text(doc.root, "problem");
	for (const struct ws_json *item = cases->first; item && !why; item = item->next) {
		const char *name = ws_json_text(item, "case");
		if (!ws_json_is_true(item, "right")) {
			why = ws_arena_printf(a, "its case '%s' is wrong", name ? name : "?");
		}
	}
	if (!why && !ws_same(ws_json_text(doc.root, "verdict"), "right")) {
		why = "its verdict is not 'right'";
	}
	if (!why && cases->count == 0) {
		why = "it has no cases";
	}
	if (why) {
		const char *device = ws_json_text(ws_json_find(doc.root, "device"), "name");
		why = ws_arena_printf(a, "the GPU check%s%s did not pass: %s", device ? " on " : "",
			device ? device : "", why);
	}
	sha256 = ws_arena_strdup(a, digest.hex);
	const char *before = ws_map_get(checks, sha256);
	if (!before || !before[0]) {
		ws_map_put(checks, sha256, why ? why : "", a);
	}
	return true;
}

#define LARGEST_TEXT ((size_t)16 << 20)
#define LARGEST_FACTS ((size_t)1 << 20)

/* ---- build.json ---- */

/* The label "cu.12.4.torch.2.5.sm.80.90ptx" of the cell
 * "demo-1.0/torch2.5.1/cu12.4/cp311/sm80+90ptx"; NULL: a cell without torch. */
static const char *
label_of_cell(const char *cell, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_version torch;
	struct ws_str rest = ws_str_of(cell), parts[6];
	size_t count = 0;
	while (rest.s && count < WS_LEN(parts)) {
		parts[count++] = ws_str_cut(&rest, '/');
	}
	const char *name = count >= 5 ? ws_str_copy(parts[1], a) : "";
	const char *cuda = count >= 5 ? ws_str_copy(parts[2], a) : "";
	if (!ws_starts_with(name, "torch") || !ws_starts_with(cuda, "cu")
		|| !ws_version_parse(name + strlen("torch"), a, &torch)) {
		return NULL;
	}
	ws_buf_printf(&b, "cu.%s.torch.%s", cuda + strlen("cu"), ws_version_minor(&torch, a));
	for (size_t i = 0; i < parts[4].n; i++) {
		char c = parts[4].s[i];
		ws_buf_puts(&b, i == 0 ? "." : i == 2 ? "." : "");
		ws_buf_putc(&b, c == '+' ? '.' : c);
	}
	if (count > 5 && parts[5].n > 3) {
		ws_buf_printf(&b, ".cxx11abi.%.*s", (int)parts[5].n - 3, parts[5].s + 3);
	}
	const char *build = torch.local && ws_starts_with(torch.local, "cu")
		? ws_wheel_label_cuda(torch.local + strlen("cu"), a)
		: NULL;
	if (build) {
		ws_buf_printf(&b, ".tcu.%s", build);
	}
	return ws_buf_copy(&b, a);
}

static void
add_trusted(const struct ws_json *list, struct ws_arena *a, struct ws_map *trusted)
{
	for (WS_JSON_EACH(item, list)) {
		const char *file = ws_json_text(item, "wheel");
		const char *sha256 = ws_json_text(item, "sha256");
		const char *cell = ws_json_text(item, "cell");
		if (!file || !sha256 || !cell) {
			continue;
		}
		struct ws_index_trusted *v = ws_map_get(trusted, file);
		if (!v) {
			v = WS_NEW(a, struct ws_index_trusted);
			v->sha256 = sha256;
			ws_map_put(trusted, file, v, a);
		}
		const char *label = label_of_cell(cell, a);
		if (label && strcmp(v->sha256, sha256) == 0) {
			*ws_vec_push(&v->labels, a) = label;
		}
	}
}

bool
ws_index_trusted_read(
	const char *folder, struct ws_arena *a, struct ws_map *trusted, struct ws_err *err)
{
	struct ws_json_doc doc;
	const char *path = ws_path_join(a, folder, "build.json", NULL);
	if (!ws_fs_exists(path)) {
		return true;
	}
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	const char *schema = ws_json_text(doc.root, "schema");
	if (!schema || strcmp(schema, "wheelsmith.build/1") != 0) {
		return ws_err_set(
			err, WS_ERR_PUBLISH, "'%s' is not a report of this version (wheelsmith.build/1)", path);
	}
	add_trusted(ws_json_find(doc.root, "cells"), a, trusted);
	add_trusted(ws_json_find(doc.root, "earlier"), a, trusted);
	return true;
}

/* ---- where it stands ---- */

/* The label of a wheel of wheelsmith has what it depends on; other wheels are placed where they
 * were judged. */
static void
place(struct ws_index_entry *entry, const struct ws_metadata_info *metadata,
	const struct ws_index_trusted *trusted, struct ws_arena *a)
{
	const char *local = entry->name.version.local;
	struct ws_wheel_label label = ws_wheel_label_read(local, a);
	bool says = label.torch || label.cuda || label.cpu;
	bool any = entry->name.platform_count == 1 && strcmp(entry->name.platforms[0], "any") == 0;
	if (entry->facts && says) {
		const char *torch = NULL;
		for (size_t i = 0; i < metadata->require_count && !torch; i++) {
			const struct ws_requirement *r = &metadata->requires[i];
			torch = strcmp(r->package, "torch") == 0 && !r->marker ? r->specifiers : NULL;
		}
		bool later = torch && ws_starts_with(torch, ">=");
		entry->kind = !label.torch ? WS_INDEX_C_ABI : later ? WS_INDEX_STABLE : WS_INDEX_BOUND;
		const char **labels = WS_NEW(a, const char *);
		labels[0] = local;
		entry->labels = labels;
		entry->place_count = 1;
	} else if (entry->facts || (!says && any)) {
		entry->kind = WS_INDEX_NONE;
	} else if (trusted && trusted->labels.len > 0) {
		entry->kind = WS_INDEX_BOUND;
		entry->labels = trusted->labels.at;
		entry->place_count = trusted->labels.len;
	}
}

/* ---- all of it ---- */

static bool
read_facts(struct ws_zip *zip, const char *folder, struct ws_arena *a, const struct ws_json **facts,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_doc doc;
	const char *name = ws_path_join(a, folder, "wheelsmith.json", NULL);
	const struct ws_zip_entry *entry = ws_zip_find(zip, name);
	*facts = NULL;
	if (!entry) {
		return true;
	}
	if (!ws_zip_load(zip, entry, LARGEST_FACTS, &text, err)
		|| !ws_json_parse(name, ws_buf_text(&text), text.len, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	const char *schema = ws_json_text(doc.root, "schema");
	*facts = schema && ws_starts_with(schema, "wheelsmith.wheel/") ? doc.root : NULL;
	return true;
}

/* A licence that restricts use, by clear words in METADATA; NULL: none found. This is not legal
 * advice. */
static const char *
find_restriction(
	const struct ws_metadata_info *info, const struct ws_buf *metadata, struct ws_arena *a)
{
	static const char *const words[] = {"non-commercial", "noncommercial", "by-nc", "proprietary",
		"research only", "research use only", "not for redistribution"};
	static const char *const classifiers[] = {"License :: Free for non-commercial use",
		"License :: Free To Use But Restricted", "License :: Other/Proprietary License"};
	for (size_t i = 0; info->license && i < WS_LEN(words); i++) {
		if (strcasestr(info->license, words[i])) {
			return ws_arena_strdup(a, info->license);
		}
	}
	for (size_t i = 0; i < WS_LEN(classifiers); i++) {
		const char *line = ws_arena_printf(a, "\nClassifier: %s", classifiers[i]);
		if (strstr(ws_buf_text(metadata), line)) {
			return classifiers[i];
		}
	}
	return NULL;
}

static bool
admit(const struct ws_index_trusted *trusted, struct ws_zip *zip, struct ws_arena *a,
	struct ws_index_entry *entry, struct ws_buf *metadata, const char **wrong, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_dist_info info;
	size_t count;
	if (!ws_dist_info_read(zip, a, &info, err)
		|| !read_facts(zip, info.folder, a, &entry->facts, err)) {
		return false;
	}
	const struct ws_zip_entry *record =
		ws_zip_find(zip, ws_path_join(a, info.folder, "RECORD", NULL));
	if (!record) {
		return ws_err_set(err, WS_ERR_PUBLISH, "the wheel has no RECORD");
	}
	if (!ws_zip_load(zip, record, LARGEST_TEXT, &text, err)
		|| !ws_record_held(zip, ws_buf_str(&text), a, wrong, err)
		|| !ws_dist_info_load(zip, info.folder, "METADATA", metadata, err)) {
		return false;
	}
	entry->restricted = find_restriction(&info.metadata, metadata, a);
	entry->requires_python = info.metadata.requires_python;
	entry->metadata_sha256 =
		ws_arena_strdup(a, ws_digest_bytes(ws_buf_text(metadata), metadata->len).hex);
	place(entry, &info.metadata, trusted, a);
	const char *why;
	ws_index_entry_complete(entry, a, &why);
	const char *const *lines = ws_dist_info_disagreements(
		&entry->name, info.folder, &info.wheel, &info.metadata, a, &count);
	*wrong = count > 0 ? lines[0] : *wrong;
	/* A wheel of wheelsmith has its architectures twice: in the label and in wheelsmith.json. */
	const char *archs = entry->facts ? ws_json_text(entry->facts, "archs") : NULL;
	struct ws_arch_set set;
	if (!*wrong && archs && entry->place_count == 1 && ws_arch_set_parse(archs, a, &set, &why)
		&& !ws_arch_set_eq(&set, &entry->places[0].archs)) {
		*wrong = ws_arena_printf(a, "the label says '%s', its wheelsmith.json architectures %s",
			entry->labels[0], archs);
	}
	return true;
}

bool
ws_index_admit(const char *path, const struct ws_index_trusted *trusted, struct ws_arena *a,
	struct ws_index_entry *entry, struct ws_buf *metadata, const char **wrong, struct ws_err *err)
{
	WS_AUTO_FILE_SOURCE struct ws_file_source file = {.fd = -1};
	struct ws_zip zip;
	const char *why;
	if (!ws_index_entry_complete(entry, a, &why)) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not a wheel's name: %s", entry->file, why);
	}
	if (!ws_file_source_open(path, &file, err)) {
		return false;
	}
	file.source.name = entry->file;
	if (!ws_zip_open(&file.source, NULL, a, &zip, err)
		|| !admit(trusted, &zip, a, entry, metadata, wrong, err)) {
		if (err && !strstr(err->text, entry->file)) {
			ws_err_wrap(err, "'%s'", entry->file);
		}
		return ws_index_err(err);
	}
	return true;
}
