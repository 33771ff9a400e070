/* action_key.c - the canonical record, hashed as it is written. The order of fields is the
 * format. */
#include "engine/action_key.h"

#include <stdlib.h>
#include <string.h>

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

/* A named digest; sorted by name so that the order in which inputs were listed does not matter. */
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

/* Where another folder is mounted is not part of a key: what is read there is a seed, or is in the
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
