/* sharing.c - the lookup of action_cache.c in steps, each for all actions together: lists of
 * manifests, the manifests, results of the valid ones, their files. A result enters the store
 * after its files. */
#include "engine/action_key.h"
#include "engine/graph.h"
#include "engine/reads_manifest.h"
#include "engine/worker_files.h"
#include "store/cas.h"
#include "store/results.h"
#include "store/shared_entries.h"

/* One action to look up. */
struct lookup {
	const struct ws_action *action;
	const struct ws_digest *base;
	struct ws_digest trees, full;
	struct ws_digest manifest; /* the valid one; "": none yet, or none needed */
	bool has_key;              /* `full` is known: the result is missing */
};

struct batch {
	struct ws_cache *cache;
	const ws_node_list *nodes;
	struct lookup *lookups;
	size_t count;
	struct ws_arena *a;
};

typedef WS_VEC(struct ws_shared_file) file_list;

static void
add_file(file_list *files, struct ws_map *seen, const char *digest, uint64_t size_bytes,
	struct ws_arena *a)
{
	if (ws_map_add(seen, digest, a)) {
		*ws_vec_push(files, a) =
			(struct ws_shared_file){.digest = digest, .size_bytes = size_bytes};
	}
}

#define LARGEST_TEXT ((uint64_t)64 << 20) /* manifest or log: sizes in records are not signed */

/* The size of a file in @a record; 0: unknown, or above the limit. */
static uint64_t
size_in(const struct ws_shared_record *record, const char *digest)
{
	for (size_t i = 0; i < record->file_count; i++) {
		if (strcmp(record->files[i].digest, digest) == 0) {
			uint64_t size_bytes = record->files[i].size_bytes;
			return size_bytes <= LARGEST_TEXT ? size_bytes : 0;
		}
	}
	return 0;
}

static struct ws_shared_record *
ask_records(struct batch *x, const char *kind, const char *const *keys)
{
	struct ws_shared *shared = x->cache->shared;
	struct ws_shared_record *records = WS_NEW_N(x->a, struct ws_shared_record, x->count);
	size_t *at = WS_NEW_N(x->a, size_t, x->count);
	size_t asked = 0;
	struct ws_shared_record *wanted = WS_NEW_N(x->a, struct ws_shared_record, x->count);
	for (size_t i = 0; i < x->count; i++) {
		if (keys[i]) {
			at[asked] = i;
			wanted[asked++] = (struct ws_shared_record){.kind = kind, .key = keys[i]};
		}
	}
	if (asked > 0) {
		shared->get_records(shared, wanted, asked, x->a);
	}
	for (size_t i = 0; i < asked; i++) {
		records[at[i]] = wanted[i];
	}
	return records;
}

static void
drop_records(struct ws_shared_record *records, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ws_buf_release(&records[i].text);
	}
}

/* ---- manifests ---- */

/* The first valid manifest of a list determines the full key. */
static void
choose_manifest(struct batch *x, struct lookup *lookup, struct ws_str list, bool outside_only)
{
	struct ws_digest digest;
	while (!lookup->has_key && ws_cache_next_manifest(&list, &digest)) {
		WS_AUTO_BUF struct ws_buf text = {0};
		const char *why = NULL;
		if (ws_cas_has(x->cache->store, digest.hex)
			&& ws_manifest_get(x->cache->store, digest.hex, &text, NULL)
			&& (outside_only || !ws_manifest_is_opaque(ws_buf_str(&text)))
			&& ws_manifest_holds(
				ws_buf_str(&text), outside_only, lookup->action, &x->cache->names, x->a, &why)) {
			lookup->manifest = digest;
			lookup->full = ws_key_full(lookup->base, digest.hex);
			lookup->has_key = true;
		}
	}
}

/* @a outside_only: use the lists of the tree keys. */
static void
find_manifests(struct batch *x, bool outside_only)
{
	const char **keys = WS_NEW_N(x->a, const char *, x->count);
	struct ws_map seen = {0};
	file_list files = {0};
	for (size_t i = 0; i < x->count; i++) {
		struct lookup *lookup = &x->lookups[i];
		keys[i] = lookup->has_key ? NULL : outside_only ? lookup->trees.hex : lookup->base->hex;
	}
	struct ws_shared_record *lists = ask_records(x, "manifests", keys);
	for (size_t i = 0; i < x->count; i++) {
		struct ws_str rest = ws_cache_manifests(ws_buf_str(&lists[i].text));
		struct ws_digest digest;
		while (ws_cache_next_manifest(&rest, &digest)) {
			if (!ws_cas_has(x->cache->store, digest.hex)) {
				add_file(&files, &seen, ws_arena_strdup(x->a, digest.hex),
					size_in(&lists[i], digest.hex), x->a);
			}
		}
	}
	if (files.len > 0) {
		x->cache->shared->get_files(x->cache->shared, files.at, files.len);
	}
	do {
		for (size_t i = 0; i < x->count; i++) {
			choose_manifest(
				x, &x->lookups[i], ws_cache_manifests(ws_buf_str(&lists[i].text)), outside_only);
		}
	} while (ws_worker_files_ask_for_nodes(x->nodes, x->cache->events));
	drop_records(lists, x->count);
}

/* ---- results ---- */

static void
find_results(struct batch *x)
{
	const struct ws_store *store = x->cache->store;
	const char **keys = WS_NEW_N(x->a, const char *, x->count);
	struct ws_result *results = WS_NEW_N(x->a, struct ws_result, x->count);
	bool *good = WS_NEW_N(x->a, bool, x->count);
	struct ws_map seen = {0};
	file_list files = {0};
	for (size_t i = 0; i < x->count; i++) {
		keys[i] = x->lookups[i].has_key ? x->lookups[i].full.hex : NULL;
	}
	struct ws_shared_record *records = ask_records(x, "result", keys);
	for (size_t i = 0; i < x->count; i++) {
		const struct ws_action *action = x->lookups[i].action;
		struct ws_result *result = &results[i];
		good[i] = records[i].text.len > 0
			&& ws_cache_read_result(ws_buf_str(&records[i].text), action, x->a, result);
		for (size_t j = 0; good[i] && !action->transient && j < action->output_count; j++) {
			if (!ws_cas_has(store, result->outputs[j].hex)) {
				add_file(&files, &seen, result->outputs[j].hex, result->sizes[j], x->a);
			}
		}
		if (good[i] && result->log.hex[0] && !ws_cas_has(store, result->log.hex)) {
			add_file(&files, &seen, result->log.hex, size_in(&records[i], result->log.hex), x->a);
		}
	}
	if (files.len > 0) {
		x->cache->shared->get_files(x->cache->shared, files.at, files.len);
	}
	for (size_t i = 0; i < x->count; i++) {
		const struct lookup *found = &x->lookups[i];
		const struct ws_digest *log = &results[i].log;
		/* All files of the result are in the store, except transient ones. */
		for (size_t k = 0; good[i] && k < found->action->output_count; k++) {
			good[i] = found->action->transient || ws_cas_has(store, results[i].outputs[k].hex);
		}
		if (good[i] && (!log->hex[0] || ws_cas_has(store, log->hex))) {
			const char *key = found->manifest.hex;
			WS_AUTO_BUF struct ws_buf manifest = {0};
			if (ws_results_put(store, found->full.hex, &records[i].text, NULL) && key[0]) {
				ws_manifest_get(store, key, &manifest, NULL);
				ws_cache_list(store, found->action, found->base, &manifest, key, NULL);
			}
		}
	}
	drop_records(records, x->count);
}

void
ws_sharing_get(struct ws_cache *cache, const ws_node_list *nodes)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct batch x = {.cache = cache, .nodes = nodes, .a = a};
	struct ws_map seen = {0};
	x.lookups = WS_NEW_N(a, struct lookup, nodes->len);
	for (size_t i = 0; i < nodes->len; i++) {
		const struct ws_node *node = nodes->at[i];
		struct ws_digest trees = ws_key_trees(&node->base, node->action);
		if (!ws_map_add(&seen, ws_arena_strdup(a, trees.hex), a)) {
			continue; /* an equal action: one result serves both */
		}
		struct lookup *lookup = &x.lookups[x.count++];
		*lookup = (struct lookup){.action = node->action, .base = &node->base, .trees = trees};
		lookup->has_key = !node->action->find_reads;
		lookup->full = ws_key_full(&node->base, "");
	}
	find_manifests(&x, true);
	find_manifests(&x, false);
	find_results(&x);
}

/* ---- sending ---- */

/* The list of other hosts, with @a manifest in front. */
static void
merge_list(
	struct ws_shared_record *record, const char *manifest, uint64_t size_bytes, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf merged = {0};
	struct ws_map seen = {0};
	struct ws_digest digest;
	file_list files = {0};
	ws_cache_write_manifests(manifest, ws_cache_manifests(ws_buf_str(&record->text)), &merged);
	struct ws_str rest = ws_cache_manifests(ws_buf_str(&merged));
	add_file(&files, &seen, manifest, size_bytes, a);
	while (ws_cache_next_manifest(&rest, &digest)) {
		uint64_t known = size_in(record, digest.hex);
		if (known > 0 && ws_map_add(&seen, ws_arena_strdup(a, digest.hex), a)) {
			*ws_vec_push(&files, a) = (struct ws_shared_file){
				.digest = ws_arena_strdup(a, digest.hex), .size_bytes = known, .there = true};
		}
	}
	ws_buf_clear(&record->text);
	ws_buf_add(&record->text, merged.data, merged.len);
	record->files = files.at;
	record->file_count = files.len;
}

void
ws_sharing_put(const struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const struct ws_buf *manifest, uint64_t manifest_bytes,
	const struct ws_result *result, const struct ws_buf *text)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_shared *shared = cache->shared;
	struct ws_map seen = {0};
	file_list files = {0};
	for (size_t i = 0; !action->transient && i < action->output_count; i++) {
		add_file(&files, &seen, result->outputs[i].hex, result->sizes[i], a);
	}
	if (result->log.hex[0]) {
		add_file(&files, &seen, result->log.hex, 0, a);
	}
	struct ws_digest full = ws_key_full(base, result->manifest.hex);
	struct ws_digest trees = ws_key_trees(base, action);
	struct ws_shared_record records[] = {
		{.kind = "manifests", .key = trees.hex},
		{.kind = "manifests", .key = base->hex},
		{.kind = "result", .key = full.hex},
	};
	size_t lists = !manifest ? 0 : ws_manifest_is_opaque(ws_buf_str(manifest)) ? 1 : 2;
	if (lists > 0) {
		shared->get_records(shared, records, lists, a);
	}
	for (size_t i = 0; i < lists; i++) {
		merge_list(&records[i], result->manifest.hex, manifest_bytes, a);
	}
	records[lists] = records[WS_LEN(records) - 1];
	records[lists].files = files.at;
	records[lists].file_count = files.len;
	ws_buf_add(&records[lists].text, text->data, text->len);
	shared->put(shared, records, lists + 1);
	drop_records(records, lists + 1);
}
