/* bundle_head.c - a bundle's first member, written and read. Names in it become paths in the store,
 * so they are checked here. */
#include "base/json.h"
#include "bundle/bundle.h"
#include "model/machine.h"
#include "model/matrix.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

#define NAME_MOST 200

/* ---- writing ---- */

static void
write_asked(struct ws_json_writer *w, const struct ws_bundle_asked *asked)
{
	ws_json_open_object(w, "asked");
	ws_json_add_text(w, "only", asked->only);
	ws_json_add_text(w, "shard", asked->shard);
	ws_json_add_text(w, "policy", asked->policy);
	ws_json_add_text(w, "debug_info", asked->debug_info);
	ws_json_add_text(w, "glibc", asked->glibc);
	ws_json_add_text(w, "kits", asked->kits);
	ws_json_add_bool(w, "torch_window", asked->torch_window);
	ws_json_close(w);
}

void
ws_bundle_head_write(const struct ws_bundle_head *head, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	if (!head->folder.hex[0]) {
		ws_json_add_text(w, "schema", WS_RESULTS_SCHEMA);
		ws_json_add_texts(w, "results", head->results, head->result_count);
		ws_json_add_texts(w, "blobs", head->blobs, head->blob_count);
		ws_json_finish(w, WS_JSON_PRETTY, out);
		return;
	}
	ws_json_add_text(w, "schema", WS_BUNDLE_SCHEMA);
	ws_json_add_text(w, "folder", head->folder.hex);
	write_asked(w, &head->asked);
	ws_json_open_list(w, "trees");
	for (size_t i = 0; i < head->tree_count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "name", head->trees[i].name);
		ws_json_add_text(w, "digest", head->trees[i].digest.hex);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_add_texts(w, "blobs", head->blobs, head->blob_count);
	ws_json_finish(w, WS_JSON_PRETTY, out);
}

const char *
ws_bundle_tree_name(const struct ws_bundle_tree *tree, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s-%.16s", tree->name, tree->digest.hex);
}

/* ---- reading ---- */

/* It becomes the name of a folder, and a folder that does not match its digest is removed. '!' is
 * an epoch's. */
static bool
is_tree_name(const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+!";
	return name && name[0] && name[0] != '.' && strlen(name) <= NAME_MOST
		&& strspn(name, allowed) == strlen(name);
}

/* In lower case, as in paths. */
static bool
is_digest(const char *text, struct ws_digest *digest)
{
	return text && ws_digest_parse(text, digest) && ws_digest_is(digest, text);
}

static bool
read_trees(const struct ws_json *list, struct ws_arena *a, struct ws_bundle_head *head)
{
	if (!list || list->kind != WS_JSON_ARRAY) {
		return false;
	}
	struct ws_bundle_tree *trees = WS_NEW_N(a, struct ws_bundle_tree, list->count + 1);
	for (WS_JSON_EACH(item, list)) {
		struct ws_bundle_tree *tree = &trees[head->tree_count++];
		tree->name = ws_json_text(item, "name");
		if (!is_tree_name(tree->name) || !is_digest(ws_json_text(item, "digest"), &tree->digest)) {
			return false;
		}
	}
	head->trees = trees;
	return true;
}

static bool
read_digests(
	const struct ws_json *list, struct ws_arena *a, const char *const **texts, size_t *count)
{
	struct ws_digest digest;
	if (!list || list->kind != WS_JSON_ARRAY) {
		return false;
	}
	for (WS_JSON_EACH(item, list)) {
		if (item->kind != WS_JSON_STRING || !is_digest(item->text, &digest)) {
			return false;
		}
	}
	*texts = ws_json_texts(list, a, count);
	return true;
}

static bool
refuse_asked(const char *path, const char *member, const char *wants, struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_FETCH, "the bundle '%s' cannot be used: asked%s is not %s", path,
		member, wants);
}

static bool
is_any(const char *text)
{
	return text[0] != '\0';
}

static bool
is_shard(const char *text)
{
	unsigned shard, shards;
	return ws_shard_parse(text, &shard, &shards);
}

static bool
is_policy(const char *text)
{
	enum ws_policy policy;
	return ws_policy_parse(text, &policy);
}

static bool
is_debug_info(const char *text)
{
	enum ws_debug_info info;
	return ws_debug_info_parse(text, &info);
}

static bool
is_kits(const char *text)
{
	return strcmp(text, "host") == 0 || strcmp(text, "archive") == 0;
}

/* It stands for what a person would type: what is wrong in it is the bundle's mistake, not that
 * person's. */
static bool
read_asked(
	const char *path, const struct ws_json *json, struct ws_bundle_asked *asked, struct ws_err *err)
{
	const struct {
		const char *name, **text;
		bool (*is)(const char *text);
		const char *wants;
	} members[] = {
		{"only", &asked->only, is_any, "a list of cells"},
		{"shard", &asked->shard, is_shard, "I/N with I from 1 to N"},
		{"policy", &asked->policy, is_policy,
			"prefer-prebuilt, prefer-build, prebuilt-only or build-only"},
		{"debug_info", &asked->debug_info, is_debug_info, "one of none, lines, full"},
		{"glibc", &asked->glibc, ws_glibc_is_floor, "a version of glibc, or host"},
		{"kits", &asked->kits, is_kits, "host or archive"},
	};
	if (!json || json->kind != WS_JSON_OBJECT) {
		return refuse_asked(path, "", "an object", err);
	}
	for (size_t i = 0; i < WS_LEN(members); i++) {
		const struct ws_json *value = ws_json_find(json, members[i].name);
		const char *text = *members[i].text = ws_json_text(json, members[i].name);
		bool none = !value || value->kind == WS_JSON_NULL;
		if (!none && !(text && members[i].is(text))) {
			char member[32];
			snprintf(member, sizeof(member), ".%s", members[i].name);
			return refuse_asked(path, member, members[i].wants, err);
		}
	}
	const struct ws_json *window = ws_json_find(json, "torch_window");
	asked->torch_window = window && window->kind == WS_JSON_BOOL && window->truth;
	return !window || window->kind == WS_JSON_BOOL
		|| refuse_asked(path, ".torch_window", "true or false", err);
}

static bool
has_folder(const struct ws_bundle_head *head)
{
	for (size_t i = 0; i < head->tree_count; i++) {
		if (ws_same(head->trees[i].name, WS_BUNDLE_TREE)
			&& ws_digest_eq(&head->trees[i].digest, &head->folder)) {
			return true;
		}
	}
	return false;
}

bool
ws_bundle_head_read(const char *path, const struct ws_buf *text, struct ws_arena *a,
	struct ws_bundle_head *head, struct ws_err *err)
{
	struct ws_json_doc doc;
	*head = (struct ws_bundle_head){0};
	if (!ws_json_parse(path, ws_buf_text(text), text->len, WS_JSON_STRICT, a, &doc, NULL)) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is not a bundle: its list is not JSON", path);
	}
	const char *schema = ws_json_text(doc.root, "schema");
	if (ws_same(schema, WS_RESULTS_SCHEMA)) {
		return (read_digests(
					ws_json_find(doc.root, "results"), a, &head->results, &head->result_count)
				   && read_digests(
					   ws_json_find(doc.root, "blobs"), a, &head->blobs, &head->blob_count))
			|| ws_err_set(err, WS_ERR_FETCH, "'%s': its list is damaged", path);
	}
	if (!schema || strcmp(schema, WS_BUNDLE_SCHEMA) != 0) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' has the schema '%.60s', and this program reads %s",
			path, schema ? schema : "", WS_BUNDLE_SCHEMA);
		return ws_err_cure(err, "use the wheelsmith that wrote it");
	}
	if (!read_asked(path, ws_json_find(doc.root, "asked"), &head->asked, err)) {
		return false;
	}
	bool read = is_digest(ws_json_text(doc.root, "folder"), &head->folder)
		&& read_trees(ws_json_find(doc.root, "trees"), a, head)
		&& read_digests(ws_json_find(doc.root, "blobs"), a, &head->blobs, &head->blob_count)
		&& has_folder(head);
	return read
		|| ws_err_set(err, WS_ERR_FETCH,
			"'%s' is not a bundle: a name or digest in its list is not allowed", path);
}
