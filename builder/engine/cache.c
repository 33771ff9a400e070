/* cache.c - lookup and recording of cache.h's three texts. They are parsed strictly: one
 * that is damaged is a miss, never a wrong hit. */
#include "engine/cache.h"

#include "base/buf.h"
#include "engine/graph.h"
#include "engine/key.h"
#include "engine/manifest.h"
#include "store/cas.h"
#include "store/results.h"

#include <string.h>

#define RESULT_HEADER "wheelsmith.result/1"
#define MANIFESTS_HEADER "wheelsmith.manifests/1"
#define MOST_MANIFESTS 16

static void
write_result(const struct ws_action *action, const struct ws_result *result, struct ws_buf *text)
{
	ws_buf_puts(text, RESULT_HEADER "\n");
	ws_buf_printf(text, "wall_ms %llu\ncpu_ms %llu\nrss_bytes %llu\n",
		(unsigned long long)result->wall_ms, (unsigned long long)result->cpu_ms,
		(unsigned long long)result->rss_bytes);
	ws_buf_printf(text, "log %s\n", result->log.hex[0] ? result->log.hex : "-");
	for (size_t i = 0; i < action->output_count; i++) {
		ws_buf_printf(text, "out %s %llu %s\n", result->outputs[i].hex,
			(unsigned long long)result->sizes[i], action->outputs[i]);
	}
	ws_buf_puts(text, "end\n");
}

/* "name value" with this name; the value is all that follows. */
static bool
read_field(struct ws_str *text, const char *name, struct ws_str *value)
{
	*value = ws_str_cut(text, '\n');
	return value->s && ws_str_is(ws_str_cut(value, ' '), name) && value->s;
}

static bool
read_number(struct ws_str *text, const char *name, uint64_t *number)
{
	struct ws_str value;
	return read_field(text, name, &value) && ws_str_to_u64(value, number);
}

static bool
read_digest(struct ws_str value, struct ws_digest *digest)
{
	char hex[65] = "";
	if (value.n != 64) {
		return false;
	}
	memcpy(hex, value.s, 64);
	return ws_digest_parse(hex, digest);
}

static bool
read_outputs(struct ws_str *text, const struct ws_action *action, struct ws_result *result)
{
	for (size_t i = 0; i < action->output_count; i++) {
		struct ws_str value;
		if (!read_field(text, "out", &value)
			|| !read_digest(ws_str_cut(&value, ' '), &result->outputs[i])
			|| !ws_str_to_u64(ws_str_cut(&value, ' '), &result->sizes[i]) || !value.s
			|| !ws_str_is(value, action->outputs[i])) {
			return false;
		}
	}
	return ws_str_is(ws_str_cut(text, '\n'), "end");
}

static bool
read_result(const struct ws_str whole, const struct ws_action *action, struct ws_arena *a,
	struct ws_result *result)
{
	struct ws_str text = whole, log;
	result->outputs = WS_NEW_N(a, struct ws_digest, action->output_count);
	result->sizes = WS_NEW_N(a, uint64_t, action->output_count);
	return ws_str_is(ws_str_cut(&text, '\n'), RESULT_HEADER)
		&& read_number(&text, "wall_ms", &result->wall_ms)
		&& read_number(&text, "cpu_ms", &result->cpu_ms)
		&& read_number(&text, "rss_bytes", &result->rss_bytes) && read_field(&text, "log", &log)
		&& (ws_str_is(log, "-") || read_digest(log, &result->log))
		&& read_outputs(&text, action, result);
}

/* The result under a full key, if every output is still there. */
static bool
find_result(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	const char *manifest, struct ws_arena *a, struct ws_result *result)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_digest full = ws_key_full(base, manifest);
	*result = (struct ws_result){0};
	if (!ws_results_get(cache->store, full.hex, &text)
		|| !read_result(ws_buf_str(&text), action, a, result)) {
		return false;
	}
	for (size_t i = 0; i < action->output_count; i++) {
		if (!action->transient && !ws_cas_has(cache->store, result->outputs[i].hex)) {
			return false;
		}
	}
	result->kept = true;
	ws_digest_parse(manifest, &result->manifest);
	return true;
}

/* The digests of a manifest list; the rest of @a text after its header. Empty when damaged. */
static struct ws_str
manifests_under(const struct ws_store *store, const char *key, struct ws_buf *text)
{
	if (!ws_results_get(store, key, text)) {
		return (struct ws_str){0};
	}
	struct ws_str rest = ws_buf_str(text);
	bool ours = ws_str_is(ws_str_cut(&rest, '\n'), MANIFESTS_HEADER);
	return ours ? rest : (struct ws_str){0};
}

/* Puts @a manifest first in the list under @a key; the oldest falls off. */
static bool
list_manifest(
	const struct ws_store *store, const char *key, const char *manifest, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf before = {0};
	WS_AUTO_BUF struct ws_buf after = {0};
	struct ws_str rest = manifests_under(store, key, &before);
	ws_buf_printf(&after, MANIFESTS_HEADER "\n%s\n", manifest);
	for (unsigned count = 1; rest.s && count < MOST_MANIFESTS;) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		if (line.n == 64 && !ws_str_is(line, manifest)) {
			ws_buf_printf(&after, "%.*s\n", WS_STR_ARGS(line));
			count++;
		}
	}
	return ws_results_put(store, key, &after, err);
}

/* Walks the manifests under @a key; true with the first that holds and has a result. */
static bool
find_under(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	const char *key, bool outside_only, struct ws_arena *a, struct ws_result *result,
	char manifest[65], const char **why)
{
	WS_AUTO_BUF struct ws_buf list = {0};
	struct ws_str rest = manifests_under(cache->store, key, &list);
	while (rest.s && rest.n > 0) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		struct ws_digest digest;
		WS_AUTO_BUF struct ws_buf text = {0};
		if (!read_digest(line, &digest) || !ws_cas_read(cache->store, digest.hex, &text, NULL)) {
			continue;
		}
		const char *reason = NULL;
		if (ws_manifest_holds(ws_buf_str(&text), outside_only, action, &cache->names, a, &reason)) {
			if (find_result(cache, action, base, digest.hex, a, result)) {
				memcpy(manifest, digest.hex, 65);
				return true;
			}
			reason = "its result is missing in the store";
		}
		*why = *why ? *why : reason; /* of the newest, which is the nearest */
	}
	return false;
}

bool
ws_cache_base(struct ws_cache *cache, const struct ws_action *action, const char *const *made,
	struct ws_digest *base, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char **seeds = WS_NEW_N(a, const char *, action->seed_count);
	for (size_t i = 0; i < action->seed_count; i++) {
		seeds[i] = ws_names_digest(&cache->names, action, action->seeds[i]);
		if (!seeds[i]) {
			return ws_err_set(err, WS_ERR_BUILD, "'%s' needs '%s', which does not exist",
				action->subject, action->seeds[i]);
		}
	}
	*base = ws_key_base(action, made, seeds);
	return true;
}

bool
ws_cache_find(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	struct ws_arena *a, struct ws_result *result, const char **why)
{
	static const char never[] = "no run of this command on these inputs is known";
	char manifest[65] = "";
	*why = NULL;
	if (!action->find_reads) {
		*why = never;
		return find_result(cache, action, base, "", a, result);
	}
	struct ws_digest trees = ws_key_trees(base, action);
	if (find_under(cache, action, base, trees.hex, true, a, result, manifest, why)) {
		return true;
	}
	*why = NULL;
	if (find_under(cache, action, base, base->hex, false, a, result, manifest, why)) {
		list_manifest(cache->store, trees.hex, manifest, NULL);
		return true;
	}
	*why = *why ? *why : never;
	return false;
}

/* Under its full key; and its manifest, where it has one, under the others. */
static bool
add(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	const struct ws_buf *manifest, struct ws_result *result, struct ws_err *err)
{
	result->manifest = (struct ws_digest){""};
	if (manifest
		&& !ws_cas_put(
			cache->store, ws_buf_text(manifest), manifest->len, &result->manifest, err)) {
		return false;
	}
	WS_AUTO_BUF struct ws_buf text = {0};
	write_result(action, result, &text);
	struct ws_digest full = ws_key_full(base, result->manifest.hex);
	if (!ws_results_put(cache->store, full.hex, &text, err)) {
		return false;
	}
	result->kept = true;
	if (!manifest) {
		return true;
	}
	struct ws_digest trees = ws_key_trees(base, action);
	return list_manifest(cache->store, trees.hex, result->manifest.hex, err)
		&& (ws_manifest_is_opaque(ws_buf_str(manifest))
			|| list_manifest(cache->store, base->hex, result->manifest.hex, err));
}

bool
ws_cache_add(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	const struct ws_reads *reads, struct ws_result *result, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf manifest = {0};
	return (!reads || ws_manifest_write(reads, action, &cache->names, &manifest, err))
		&& add(cache, action, base, reads ? &manifest : NULL, result, err);
}

bool
ws_cache_add_whole(struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const ws_node_list *parts, struct ws_result *result,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf all = {0};
	WS_AUTO_BUF struct ws_buf manifest = {0};
	for (size_t i = 0; i < parts->len; i++) {
		const struct ws_digest *read = &parts->at[i]->result.manifest;
		if (read->hex[0] && !ws_cas_read(cache->store, read->hex, &all, err)) {
			return false;
		}
	}
	ws_manifest_merge(ws_buf_str(&all), &manifest);
	return add(cache, action, base, action->find_reads ? &manifest : NULL, result, err);
}

bool
ws_cache_import(
	const struct ws_store *store, const char *key, const struct ws_buf *text, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf ours = {0};
	if (!ws_results_get(store, key, &ours)) {
		return ws_results_put(store, key, text, err);
	}
	struct ws_str rest = ws_buf_str(text), mine = ws_buf_str(&ours);
	bool list = ws_str_is(ws_str_cut(&rest, '\n'), MANIFESTS_HEADER)
		&& ws_str_is(ws_str_cut(&mine, '\n'), MANIFESTS_HEADER);
	/* Theirs first and in their order, then ours before them all. */
	struct ws_str lists[] = {rest, mine};
	for (size_t i = 0; i < WS_LEN(lists) && list; i++) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		WS_VEC(const char *) digests = {0};
		while (lists[i].s && lists[i].n > 0) {
			*ws_vec_push(&digests, a) = ws_str_copy(ws_str_cut(&lists[i], '\n'), a);
		}
		for (size_t k = digests.len; k-- > 0;) {
			if (!list_manifest(store, key, digests.at[k], err)) {
				return false;
			}
		}
	}
	return true;
}
