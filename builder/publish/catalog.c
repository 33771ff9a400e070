#include "publish/catalog.h"

#define SCHEMA "wheelsmith.index/1"

bool
ws_index_err(struct ws_err *err)
{
	if (err && err->kind != WS_ERR_NONE && err->kind != WS_ERR_INTERNAL && !ws_err_is_stop(err)) {
		err->kind = WS_ERR_PUBLISH;
	}
	return false;
}

/* ---- index.json ---- */

static const char *const kind_words[] = {
	[WS_INDEX_UNPLACED] = "unplaced",
	[WS_INDEX_NONE] = "none",
	[WS_INDEX_C_ABI] = "c-abi",
	[WS_INDEX_STABLE] = "stable-abi",
	[WS_INDEX_BOUND] = "bound",
	NULL,
};

/* Lower case, as it was written: the text is compared with other digests. */
static bool
read_sha256(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_digest digest;
	*(const char **)into = value->text;
	return ws_expect(r, value, WS_JSON_STRING, "a sha256")
		&& ((ws_digest_parse(value->text, &digest) && ws_digest_is(&digest, value->text))
			|| ws_json_err(r->doc, value, r->err, "'%s' is not a sha256", value->text));
}

static bool
read_facts(struct ws_reader *r WS_UNUSED, const struct ws_json *value, void *into)
{
	*(const struct ws_json **)into = value->kind == WS_JSON_OBJECT ? value : NULL;
	return true;
}

/* The paths follow from the wheels: they are written and not read. */
static bool
skip_file(
	struct ws_reader *r WS_UNUSED, const struct ws_json *value WS_UNUSED, void *into WS_UNUSED)
{
	return true;
}

static const char *
file_of(const void *entry, struct ws_arena *a WS_UNUSED)
{
	return (*(const struct ws_index_entry *const *)entry)->file;
}

#define TEXT_LIKE(one, its_pattern) \
	.name = (one), .size = sizeof(const char *), .kind = WS_KIND_TEXT, \
	.schema = "{\"type\": \"string\", \"pattern\": \"" its_pattern "\"}"

static const struct ws_type type_sha256 = {
	TEXT_LIKE("a sha256", "^[0-9a-f]{64}$"), .read = read_sha256};
static const struct ws_type type_label = {TEXT_LIKE("a label", "^[0-9a-z_.]+$")};
static const struct ws_type type_path = {
	TEXT_LIKE("a path", "^cu[0-9]+(-torch[0-9.]+)?(-abi[01])?(-tcu[0-9]+)?(-sm[0-9a-z.]+)?$")};
static const struct ws_type type_time = {
	TEXT_LIKE("a time", "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\\\.[0-9]{6}Z$")};
const struct ws_type ws_index_snapshot_type = {
	TEXT_LIKE("a snapshot", "^[0-9]{4}-[0-9]{2}-[0-9]{2}\\\\.[0-9]+$")};
static const struct ws_type type_facts = {.name = "an object",
	.size = sizeof(const struct ws_json *),
	.kind = WS_KIND_JSON,
	.read = read_facts,
	.schema = "{\"type\": [\"object\", \"null\"]}"};
static const struct ws_type type_file = {.name = "a file name",
	.plural = "file names",
	.size = sizeof(const struct ws_index_entry *),
	.kind = WS_KIND_OTHER,
	.read = skip_file,
	.text = file_of};

#define VARIANT struct ws_index_variant
static const struct ws_field variant_fields[] = {
	WS_VALUE("file", VARIANT, file, WS_ALWAYS, NULL),
	WS_VALUE_AS("label", VARIANT, label, type_label, WS_ALWAYS, NULL),
	WS_VALUE_AS("sha256", VARIANT, sha256, type_sha256, WS_ALWAYS, NULL),
	WS_VALUE_AS("metadata_sha256", VARIANT, metadata_sha256, type_sha256, WS_ALWAYS, NULL),
	WS_VALUE("size", VARIANT, size_bytes, WS_ALWAYS, NULL),
	WS_VALUE_AS("uploaded", VARIANT, uploaded, type_time, WS_ALWAYS, NULL),
};
static const struct ws_table variant_table = {NULL, variant_fields, WS_LEN(variant_fields)};

#define ENTRY struct ws_index_entry
static const struct ws_field entry_fields[] = {
	WS_VALUE("file", ENTRY, file, WS_ALWAYS, NULL),
	WS_VALUE("package", ENTRY, name.distribution, WS_ALWAYS, "normalised"),
	WS_VALUE("version", ENTRY, name.version.text, WS_ALWAYS, "normalised, with its label"),
	WS_VALUE_AS("sha256", ENTRY, sha256, type_sha256, WS_ALWAYS, NULL),
	WS_VALUE_AS("metadata_sha256", ENTRY, metadata_sha256, type_sha256, WS_ALWAYS,
		"of files/NAME.metadata"),
	WS_VALUE("size", ENTRY, size_bytes, WS_ALWAYS, NULL),
	WS_VALUE_AS("uploaded", ENTRY, uploaded, type_time, WS_ALWAYS, NULL),
	WS_VALUE("requires_python", ENTRY, requires_python, WS_OR_NULL, NULL),
	WS_VALUE("yanked", ENTRY, yanked, WS_OR_NULL, "reason of the yank; null: not yanked"),
	WS_VALUE("forced", ENTRY, forced, WS_OR_NULL,
		"the check that it failed when it was published; null: none"),
	WS_WORD("binding", ENTRY, kind, kind_words, WS_ALWAYS,
		"its dependencies; unplaced: unknown, so it is in all/ only"),
	WS_LIST("places", ENTRY, labels, place_count, WS_ALWAYS,
		"labels of the versions it was built or judged for: cu.12.4.torch.2.5.sm.86"),
	WS_VALUE_AS("wheelsmith", ENTRY, facts, type_facts, WS_OR_NULL,
		"its wheelsmith.json (wheel-1.json), measured at build time; null: it has none"),
	WS_POINTED("variant", ENTRY, variant, variant_table, WS_IF_ANY,
		"the same wheel as a wheel variant (draft PEP 825), in the path variants"),
};
static const struct ws_table entry_table = {NULL, entry_fields, WS_LEN(entry_fields)};

static const struct ws_field path_fields[] = {
	WS_VALUE_AS("path", struct ws_index_path, path, type_path, WS_ALWAYS, NULL),
	WS_LIST_AS("files", struct ws_index_path, entries, count, type_file, WS_ALWAYS, NULL),
};
static const struct ws_table path_table = {NULL, path_fields, WS_LEN(path_fields)};

#define CATALOG struct ws_index_catalog
static const struct ws_field catalog_fields[] = {
	WS_FIXED("schema", SCHEMA),
	WS_VALUE("wheelsmith", CATALOG, program, WS_ALWAYS, "version of the program"),
	WS_VALUE_AS("snapshot", CATALOG, snapshot, ws_index_snapshot_type, WS_ALWAYS, NULL),
	WS_VALUE("title", CATALOG, title, WS_IF_ANY, "title of the page for people"),
	WS_LIST_OF("wheels", CATALOG, entries.at, entries.len, entry_table, WS_ALWAYS,
		"sorted by package, version, file name; each lies in files/, with METADATA beside it"),
	WS_LIST_OF("paths", CATALOG, paths, path_count, path_table, WS_ALWAYS,
		"the files that each path lists; all/ lists all"),
};
const struct ws_table ws_index_catalog_table = {NULL, catalog_fields, WS_LEN(catalog_fields)};

/* ---- what follows from the rest ---- */

bool
ws_index_entry_complete(struct ws_index_entry *entry, struct ws_arena *a, const char **why)
{
	if (!ws_wheel_name_parse(entry->file, a, &entry->name, why)) {
		return false;
	}
	const struct ws_machine *machine = ws_wheel_name_machine(&entry->name);
	entry->pythons = 0;
	for (unsigned i = 0; i < 62; i++) {
		struct ws_python_tag tag = {3, 7 + i % 31, i >= 31};
		if ((!tag.free_threaded || tag.minor >= 13)
			&& ws_wheel_fit(
				   &entry->name, &tag, machine ? machine : ws_machine_host(), 2, WS_ANY_GLIBC)
				> 0) {
			entry->pythons |= (uint64_t)1 << i;
		}
	}
	entry->places = WS_NEW_N(a, struct ws_wheel_label, entry->place_count);
	for (size_t i = 0; i < entry->place_count; i++) {
		entry->places[i] = ws_wheel_label_read(entry->labels[i], a);
	}
	return true;
}

static int
cmp_entries(const void *x, const void *y)
{
	const struct ws_index_entry *left = x;
	const struct ws_index_entry *right = y;
	int order = strcmp(left->name.distribution, right->name.distribution);
	order = order ? order : ws_version_cmp(&left->name.version, &right->name.version);
	return order ? order : strcmp(left->file, right->file);
}

void
ws_index_catalog_sort(struct ws_index_catalog *catalog)
{
	if (catalog->entries.len > 0) {
		qsort(catalog->entries.at, catalog->entries.len, sizeof(*catalog->entries.at), cmp_entries);
	}
}

/* ---- reading and writing ---- */

bool
ws_index_catalog_read(
	const char *path, struct ws_arena *a, struct ws_index_catalog *catalog, struct ws_err *err)
{
	struct ws_json_doc doc;
	const char *why;
	*catalog = (struct ws_index_catalog){0};
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return ws_index_err(err);
	}
	const char *schema = ws_json_text(doc.root, "schema");
	if (!ws_same(schema, SCHEMA)) {
		if (!schema || !ws_starts_with(schema, "wheelsmith.index/")) {
			return ws_err_set(
				err, WS_ERR_PUBLISH, "'%s' is not the list of an index of ours", path);
		}
		ws_err_set(
			err, WS_ERR_PUBLISH, "'%s' was written by a newer wheelsmith (%s)", path, schema);
		return ws_err_cure(err, "publish with that version, or to another folder");
	}
	if (!ws_table_read(&doc, doc.root, &ws_index_catalog_table, a, catalog, err)) {
		return ws_index_err(err);
	}
	catalog->entries.cap = catalog->entries.len;
	catalog->path_count = 0;
	for (size_t i = 0; i < catalog->entries.len; i++) {
		struct ws_index_entry *entry = &catalog->entries.at[i];
		if (!ws_index_entry_complete(entry, a, &why)) {
			return ws_err_set(err, WS_ERR_PUBLISH,
				"'%s' is damaged: '%s' is not a wheel's name: %s", path, entry->file, why);
		}
		if (entry->variant && strchr(entry->variant->file, '/')) {
			return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is damaged: '%s' is not a file name", path,
				entry->variant->file);
		}
	}
	ws_index_catalog_sort(catalog);
	return true;
}

/* ---- yanking ---- */

static bool
is_meant(const struct ws_index_entry *entry, const char *what, struct ws_arena *a)
{
	const char *sign = strstr(what, "==");
	struct ws_version version;
	if (!sign) {
		return strcmp(entry->file, what) == 0
			|| (entry->variant && strcmp(entry->variant->file, what) == 0);
	}
	const char *name = ws_package_normal(ws_arena_copy(a, what, (size_t)(sign - what)), a);
	const struct ws_version *own = &entry->name.version;
	return strcmp(name, entry->name.distribution) == 0 && ws_version_parse(sign + 2, a, &version)
		&& (version.local ? ws_version_cmp(&version, own) : ws_version_cmp_public(&version, own))
		== 0;
}

size_t
ws_index_yank(struct ws_index_catalog *catalog, const char *what, const char *reason, bool *edited,
	struct ws_arena *a)
{
	size_t meant = 0;
	for (size_t i = 0; i < catalog->entries.len; i++) {
		struct ws_index_entry *entry = &catalog->entries.at[i];
		if (is_meant(entry, what, a)) {
			*edited = *edited || !ws_same(entry->yanked, reason);
			entry->yanked = reason;
			meant++;
		}
	}
	return meant;
}
