/* action_key.c - the canonical record, hashed as it is written; the order of fields is the
 * format. Texts are parsed strictly: a damaged text is a miss, never a wrong hit. */
#include "engine/action_key.h"

#include "engine/reads_manifest.h"
#include "store/results.h"

static void
add_count(struct ws_hasher *h, size_t count)
{
	char digits[24];
	snprintf(digits, sizeof(digits), "%zu", count);
	ws_hasher_add_field(h, digits);
}

static void
add_list(struct ws_hasher *h, const char *const *words)
{
	size_t count = 0;
	while (words[count]) {
		count++;
	}
	add_count(h, count);
	for (size_t i = 0; i < count; i++) {
		ws_hasher_add_field(h, words[i]);
	}
}

/* A named digest. Sorted by name, so that the order of inputs does not matter. */
struct pair {
	const char *name;
	const char *digest;
	bool executable;
};

static int
compare_pairs(const void *x, const void *y)
{
	const struct pair *left = x;
	const struct pair *right = y;
	return strcmp(left->name, right->name);
}

static void
add_pairs(struct ws_hasher *h, struct pair *pairs, size_t count)
{
	if (count > 1) {
		qsort(pairs, count, sizeof(*pairs), compare_pairs);
	}
	add_count(h, count);
	for (size_t i = 0; i < count; i++) {
		ws_hasher_add_field(h, pairs[i].name);
		ws_hasher_add_field(h, pairs[i].digest);
		ws_hasher_add_field(h, pairs[i].executable ? "x" : "f");
	}
}

/* The path of a folder without a tree is not part of a key: files read there are seeds or in the
 * manifest. */
static void
add_trees(struct ws_hasher *h, const struct ws_action *action)
{
	for (size_t i = 0; i < action->mount_count; i++) {
		const struct ws_tree *tree = action->mounts[i].tree;
		ws_hasher_add_field(h, tree ? tree->digest.hex : "");
	}
}

struct ws_digest
ws_key_base(const struct ws_action *action, const char *const *made, const char *const *seeds)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, "wheelsmith.action/1");
	ws_hasher_add_field(h, action->tool.fingerprint);
	ws_hasher_add_field(h, action->tool.program);
	add_list(h, action->argv);
	add_list(h, action->env);
	add_count(h, action->mount_count);
	for (size_t i = 0; i < action->mount_count; i++) {
		ws_hasher_add_field(h, action->mounts[i].name);
	}
	if (!action->find_reads) {
		add_trees(h, action);
	}
	struct pair *inputs = WS_NEW_N(a, struct pair, action->input_count);
	for (size_t i = 0; i < action->input_count; i++) {
		const struct ws_input *input = &action->inputs[i];
		inputs[i] =
			(struct pair){input->name, input->from ? made[i] : input->digest, input->executable};
	}
	add_pairs(h, inputs, action->input_count);
	add_count(h, action->output_count);
	for (size_t i = 0; i < action->output_count; i++) {
		ws_hasher_add_field(h, action->outputs[i]);
	}
	struct pair *read = WS_NEW_N(a, struct pair, action->seed_count);
	for (size_t i = 0; i < action->seed_count; i++) {
		read[i] = (struct pair){action->seeds[i], seeds[i], false};
	}
	add_pairs(h, read, action->seed_count);
	return ws_hasher_finish(h);
}

struct ws_digest
ws_key_full(const struct ws_digest *base, const char *manifest)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, "wheelsmith.full/1");
	ws_hasher_add_field(h, base->hex);
	ws_hasher_add_field(h, manifest);
	return ws_hasher_finish(h);
}

struct ws_digest
ws_key_trees(const struct ws_digest *base, const struct ws_action *action)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, "wheelsmith.trees/1");
	ws_hasher_add_field(h, base->hex);
	add_trees(h, action);
	return ws_hasher_finish(h);
}

/* ---- the texts under keys ---- */

#define RESULT_HEADER "wheelsmith.result/1"
#define MANIFESTS_HEADER "wheelsmith.manifests/1"
#define MOST_MANIFESTS 16

void
ws_cache_write_result(
	const struct ws_action *action, const struct ws_result *result, struct ws_buf *text)
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

/* Reads "name value"; the value is the rest of the line. */
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

bool
ws_cache_read_result(const struct ws_str whole, const struct ws_action *action, struct ws_arena *a,
	struct ws_result *result)
{
	struct ws_str text = whole, log;
	result->outputs = WS_NEW_N(a, struct ws_digest, action->output_count);
	result->sizes = WS_NEW_N(a, uint64_t, action->output_count);
	bool good = ws_str_is(ws_str_cut(&text, '\n'), RESULT_HEADER)
		&& read_number(&text, "wall_ms", &result->wall_ms)
		&& read_number(&text, "cpu_ms", &result->cpu_ms)
		&& read_number(&text, "rss_bytes", &result->rss_bytes) && read_field(&text, "log", &log)
		&& (ws_str_is(log, "-") || read_digest(log, &result->log));
	for (size_t i = 0; i < action->output_count && good; i++) {
		struct ws_str value;
		good = read_field(&text, "out", &value)
			&& read_digest(ws_str_cut(&value, ' '), &result->outputs[i])
			&& ws_str_to_u64(ws_str_cut(&value, ' '), &result->sizes[i]) && value.s
			&& ws_str_is(value, action->outputs[i]);
	}
	return good && ws_str_is(ws_str_cut(&text, '\n'), "end");
}

struct ws_str
ws_cache_manifests(struct ws_str text)
{
	bool ours = text.s && ws_str_is(ws_str_cut(&text, '\n'), MANIFESTS_HEADER);
	return ours ? text : (struct ws_str){0};
}

bool
ws_cache_next_manifest(struct ws_str *rest, struct ws_digest *digest)
{
	while (rest->s && rest->n > 0) {
		if (read_digest(ws_str_cut(rest, '\n'), digest)) {
			return true;
		}
	}
	return false;
}

void
ws_cache_write_manifests(const char *manifest, struct ws_str rest, struct ws_buf *list)
{
	struct ws_digest digest;
	ws_buf_printf(list, MANIFESTS_HEADER "\n%s\n", manifest);
	for (unsigned count = 1; count < MOST_MANIFESTS && ws_cache_next_manifest(&rest, &digest);) {
		if (!ws_digest_is(&digest, manifest)) {
			ws_buf_printf(list, "%s\n", digest.hex);
			count++;
		}
	}
}

struct ws_str
ws_cache_manifests_under(const struct ws_store *store, const char *key, struct ws_buf *text)
{
	return ws_results_get(store, key, text) ? ws_cache_manifests(ws_buf_str(text))
											: (struct ws_str){0};
}

bool
ws_cache_list_manifest(
	const struct ws_store *store, const char *key, const char *manifest, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf before = {0};
	WS_AUTO_BUF struct ws_buf after = {0};
	ws_cache_write_manifests(manifest, ws_cache_manifests_under(store, key, &before), &after);
	return ws_results_put(store, key, &after, err);
}

bool
ws_cache_list(const struct ws_store *store, const struct ws_action *action,
	const struct ws_digest *base, const struct ws_buf *manifest, const char *digest,
	struct ws_err *err)
{
	struct ws_digest trees = ws_key_trees(base, action);
	return ws_cache_list_manifest(store, trees.hex, digest, err)
		&& (ws_manifest_is_opaque(ws_buf_str(manifest))
			|| ws_cache_list_manifest(store, base->hex, digest, err));
}
