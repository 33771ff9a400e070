/* bundle_head.c - a bundle's first member, written and read. Names in it become paths in the store,
 * so they are checked here. */
#include "bundle/bundle.h"

#define NAME_MOST 200

const char *
ws_bundle_tree_name(const struct ws_tree *tree, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s-%.16s", tree->name, tree->digest.hex);
}

/* ---- values of a head ---- */

/* It becomes the name of a folder, and a folder that does not match its digest is removed. '!' is
 * an epoch's. */
static bool
read_tree_name(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+!";
	const char *name = value->kind == WS_JSON_STRING ? value->text : "";
	*(const char **)into = name;
	return (name[0] && name[0] != '.' && strlen(name) <= NAME_MOST
			   && strspn(name, allowed) == strlen(name))
		|| ws_type_err(r, value, "a name");
}

/* In lower case, as in paths. */
static bool
read_digest(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return (value->kind == WS_JSON_STRING && ws_digest_parse(value->text, into)
			   && ws_digest_is(into, value->text))
		|| ws_type_err(r, value, "a digest");
}

static bool
read_digest_text(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_digest digest;
	*(const char **)into = value->text;
	return read_digest(r, value, &digest);
}

static const struct ws_type type_tree_name = {
	.size = sizeof(const char *), .kind = WS_KIND_TEXT, .read = read_tree_name};
static const struct ws_type type_digest = {
	.size = sizeof(struct ws_digest), .kind = WS_KIND_DIGEST, .read = read_digest};
static const struct ws_type type_digest_text = {
	.size = sizeof(const char *), .kind = WS_KIND_TEXT, .read = read_digest_text};

/* The selection stands for the options of a person: a mistake in it is the bundle's, not that
 * person's. */
static bool
refuse_asked(struct ws_reader *r, const char *member, const char *wants)
{
	return ws_err_set(r->err, WS_ERR_FETCH, "the bundle '%s' cannot be used: asked%s is not %s",
		r->doc->name, member, wants);
}

static bool
read_asked_text(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = value->kind == WS_JSON_STRING ? value->text : "";
	unsigned shard, shards;
	const struct {
		const char *key;
		bool holds;
		const char *wants;
	} rules[] = {
		{"only", text[0], "a list of cells"},
		{"shard", ws_shard_parse(text, &shard, &shards), "I/N with I from 1 to N"},
		{"policy", ws_word_index(ws_policy_words, text) >= 0,
			"prefer-prebuilt, prefer-build, prebuilt-only or build-only"},
		{"debug_info", ws_word_index(ws_debug_info_words, text) >= 0, "one of none, lines, full"},
		{"glibc", ws_glibc_is_floor(text), "a version of glibc, or host"},
		{"kits", ws_same(text, "host") || ws_same(text, "archive"), "host or archive"},
	};
	size_t i = 0;
	while (strcmp(rules[i].key, r->key) != 0) {
		i++;
	}
	*(const char **)into = text;
	return rules[i].holds || refuse_asked(r, ws_arena_printf(r->a, ".%s", r->key), rules[i].wants);
}

static const struct ws_type type_asked_text = {
	.size = sizeof(const char *), .kind = WS_KIND_TEXT, .read = read_asked_text};

/* ---- tables ---- */

#define ASKED struct ws_bundle_asked
#define ASKED_TEXT(member) WS_VALUE_AS(#member, ASKED, member, type_asked_text, WS_FIELD_NULL, NULL)

static const struct ws_field asked_fields[] = {
	ASKED_TEXT(only),
	ASKED_TEXT(shard),
	ASKED_TEXT(policy),
	ASKED_TEXT(debug_info),
	ASKED_TEXT(glibc),
	ASKED_TEXT(kits),
	WS_VALUE("torch_window", ASKED, torch_window, WS_ALWAYS, NULL),
};
static const struct ws_table asked_table = {NULL, asked_fields, WS_LEN(asked_fields)};

static bool
read_asked(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const struct ws_table texts = {NULL, asked_fields, WS_LEN(asked_fields) - 1};
	if (value->kind != WS_JSON_OBJECT) {
		return refuse_asked(r, "", "an object");
	}
	const struct ws_json *window = ws_json_find(value, "torch_window");
	((ASKED *)into)->torch_window = window && window->truth;
	return window && window->kind != WS_JSON_BOOL
		? refuse_asked(r, ".torch_window", "true or false")
		: ws_object_read(r, value, &texts, into);
}

static const struct ws_type type_asked = {
	.table = &asked_table, .kind = WS_KIND_OBJECT, .read = read_asked};

static const struct ws_field tree_fields[] = {
	WS_VALUE_AS("name", struct ws_tree, name, type_tree_name, WS_ALWAYS, NULL),
	WS_VALUE_AS("digest", struct ws_tree, digest, type_digest, WS_ALWAYS, NULL),
};
static const struct ws_table tree_table = {NULL, tree_fields, WS_LEN(tree_fields)};

#define HEAD struct ws_bundle_head
#define BLOBS WS_LIST_AS("blobs", HEAD, blobs, blob_count, type_digest_text, WS_ALWAYS, NULL)

static const struct ws_field bundle_fields[] = {
	WS_FIXED("schema", WS_BUNDLE_SCHEMA),
	WS_VALUE_AS("folder", HEAD, folder, type_digest, WS_ALWAYS, NULL),
	WS_VALUE_AS("asked", HEAD, asked, type_asked, WS_ALWAYS, NULL),
	WS_LIST_OF("trees", HEAD, trees, tree_count, tree_table, WS_ALWAYS, NULL),
	BLOBS,
};
static const struct ws_table bundle_table = {NULL, bundle_fields, WS_LEN(bundle_fields)};

static const struct ws_field results_fields[] = {
	WS_FIXED("schema", WS_RESULTS_SCHEMA),
	WS_LIST_AS("results", HEAD, results, result_count, type_digest_text, WS_ALWAYS, NULL),
	BLOBS,
};
static const struct ws_table results_table = {NULL, results_fields, WS_LEN(results_fields)};

void
ws_bundle_head_write(const struct ws_bundle_head *head, struct ws_buf *out)
{
	ws_table_text(head->folder.hex[0] ? &bundle_table : &results_table, head, WS_JSON_PRETTY, out);
}

bool
ws_bundle_head_read(const char *path, const struct ws_buf *text, struct ws_arena *a,
	struct ws_bundle_head *head, struct ws_err *err)
{
	struct ws_json_doc doc;
	struct ws_err unwanted = {0};
	err = err ? err : &unwanted;
	struct ws_reader r = {.doc = &doc, .a = a, .err = err, .lenient = true};
	*head = (struct ws_bundle_head){0};
	if (!ws_json_parse(path, ws_buf_text(text), text->len, WS_JSON_STRICT, a, &doc, NULL)) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is not a bundle: its list is not JSON", path);
	}
	const char *schema = ws_json_text(doc.root, "schema");
	if (ws_same(schema, WS_RESULTS_SCHEMA)) {
		return ws_object_read(&r, doc.root, &results_table, head)
			|| ws_err_set(err, WS_ERR_FETCH, "'%s': its list is damaged", path);
	}
	if (!schema || strcmp(schema, WS_BUNDLE_SCHEMA) != 0) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' has the schema '%.60s', and this program reads %s",
			path, schema ? schema : "", WS_BUNDLE_SCHEMA);
		return ws_err_cure(err, "use the wheelsmith that wrote it");
	}
	*err = (struct ws_err){0};
	bool read = ws_object_read(&r, doc.root, &bundle_table, head);
	for (size_t i = 0; read && i < head->tree_count; i++) {
		if (ws_same(head->trees[i].name, WS_BUNDLE_TREE)
			&& ws_digest_eq(&head->trees[i].digest, &head->folder)) {
			return true;
		}
	}
	return err->kind != WS_ERR_FETCH /* else refuse_asked has told it */
		&& ws_err_set(err, WS_ERR_FETCH,
			"'%s' is not a bundle: a name or digest in its list is not allowed", path);
}
