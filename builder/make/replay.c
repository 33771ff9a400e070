/* replay.c - units are drawn, run and compared by the digests of their files. */
#include "make/replay.h"

#include "base/fs.h"
#include "compile/split.h"
#include "store/cas.h"

#include <sys/random.h>

/* Units of nvcc's that the build has, and with @a farms all that a farm may compile; equal ones of
 * several cells once. */
static void
list_units(const struct ws_graph *graph, bool farms, ws_node_list *units)
{
	struct ws_map seen = {0};
	for (size_t i = 0; i < graph->nodes.len; i++) {
		struct ws_node *node = graph->nodes.at[i];
		bool counts = node->action->split || (farms && node->action->host_file_count > 0);
		if (counts && !node->whole && node->state == WS_NODE_DONE
			&& ws_map_add(&seen, node->base.hex, graph->a)) {
			*ws_vec_push(units, graph->a) = node;
		}
	}
}

/* A unit that one command compiled is compiled again. */
static void
make_again(const struct ws_node *unit, struct ws_graph *graph, struct ws_replay *replay)
{
	struct ws_action *action = WS_NEW(graph->a, struct ws_action);
	*action = *unit->action;
	action->stage = WS_REPLAY_STAGE;
	action->fresh = true;
	for (unsigned i = 0; i < action->output_count; i++) {
		*ws_vec_push(&replay->files, graph->a) =
			(struct ws_replay_file){.name = action->outputs[i], .part = unit, .output = i};
	}
	replay->whole = ws_graph_add(graph, action);
}

/* Moves a random unit of those from @a first on to the place @a first. */
static const struct ws_node *
draw(ws_node_list *units, size_t first)
{
	uint32_t chance;
	if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance)) {
		abort();
	}
	size_t at = first + chance % (units->len - first);
	struct ws_node *drawn = units->at[at];
	units->at[at] = units->at[first];
	return units->at[first] = drawn;
}

/* Files in the order of the whole's outputs. */
static void
compare(const struct ws_replay *replay, struct ws_buf *same, struct ws_buf *differ)
{
	for (size_t i = 0; i < replay->files.len; i++) {
		const struct ws_replay_file *file = &replay->files.at[i];
		bool equal = ws_digest_eq(
			&replay->whole->result.outputs[i], &file->part->result.outputs[file->output]);
		struct ws_buf *names = equal ? same : differ;
		ws_buf_printf(names, "%s%s", names->len ? ", " : "", ws_path_base(file->name));
	}
}

/* One nvcc gives the unit other names each time. */
static bool
has_made_up_name(const struct ws_store *store, const struct ws_replay *replay)
{
	WS_AUTO_BUF struct ws_buf name = {0};
	const struct ws_replay_file *file = &replay->name;
	return file->part
		&& ws_cas_read(store, file->part->result.outputs[file->output].hex, &name, NULL)
		&& ws_split_name_is_made_up(ws_buf_text(&name));
}

/* A toolkit without a seed for them, of a unit that was made whole: whether it did is not known. */
static bool
may_make_up_names(const struct ws_action *action)
{
	const char *const *word = action->argv;
	while (*word && !ws_starts_with(*word, "--frandom-seed=")) {
		word++;
	}
	return !action->split && ws_same(action->tool.name, "nvcc") && !*word;
}

/* A node that was not built; NULL: all were. */
static const struct ws_node *
find_unmade(const struct ws_replay *replay)
{
	for (size_t i = 0; i < replay->files.len; i++) {
		if (replay->files.at[i].part->state != WS_NODE_DONE) {
			return replay->files.at[i].part;
		}
	}
	return replay->whole->state == WS_NODE_DONE ? NULL : replay->whole;
}

/* The failure because of which @a node was not built: its own, or one of its inputs. */
static const struct ws_node *
find_failed(const struct ws_node *node)
{
	for (size_t i = 0; i < node->action->input_count; i++) {
		const struct ws_node *from = node->action->inputs[i].from;
		if (from && from->state != WS_NODE_DONE) {
			return find_failed(from);
		}
	}
	return node;
}

/* The results of all units. */
struct tally {
	size_t differ;
	const struct ws_node *failed; /* NULL: all were made both ways */
};

/* Reports the result of one unit. */
static void
tell(const struct ws_engine *engine, const struct ws_node *unit, const struct ws_replay *replay,
	struct tally *tally)
{
	const struct ws_events *events = engine->events;
	WS_AUTO_BUF struct ws_buf same = {0}, differ = {0};
	const char *subject = unit->action->subject, *cell = unit->action->group;
	if (!replay->whole) {
		ws_events_note(events, "replay %s (%s): not compared: %s", subject, cell, replay->why);
		return;
	}
	const struct ws_node *unmade = find_unmade(replay);
	if (unmade) {
		tally->failed = find_failed(unmade);
		ws_events_warn(events, "replay %s (%s): %s: %s", subject, cell,
			tally->failed->action->stage, tally->failed->failure->text);
		return;
	}
	compare(replay, &same, &differ);
	if (differ.len > 0
		&& (has_made_up_name(engine->store, replay) || may_make_up_names(unit->action))) {
		ws_events_note(events,
			"replay %s (%s): not compared: one nvcc makes up a name for it, another each time",
			subject, cell);
		return;
	}
	if (differ.len > 0) {
		tally->differ++;
		ws_events_warn(events, "replay %s (%s): %s makes other bytes: %s", subject, cell,
			unit->action->split ? "one nvcc" : "another run", ws_buf_text(&differ));
		return;
	}
	ws_events_note(events, "replay %s (%s): equal: %s", subject, cell, ws_buf_text(&same));
}

static bool
sum_up(const struct tally *tally, size_t count, bool farms, struct ws_err *err)
{
	if (tally->differ > 0) {
		ws_err_set(err, WS_ERR_VERIFY, "%zu of %zu units are not what %s makes", tally->differ,
			count, farms ? "another run" : "one nvcc");
		return ws_err_cure(err, "do not use these wheels, and please report it");
	}
	if (tally->failed) {
		*err = *tally->failed->failure;
		return ws_err_wrap(err, "%s", tally->failed->action->stage);
	}
	return true;
}

bool
ws_replay_check(const struct ws_engine *engine, struct ws_graph *graph, size_t count, bool farms,
	struct ws_err *err)
{
	struct ws_engine e = *engine;
	struct ws_run_summary summary;
	ws_node_list units = {0};
	list_units(graph, farms, &units);
	count = count < units.len ? count : units.len;
	ws_events_note(e.events, "replay: %zu of %zu units", count, units.len);
	struct ws_replay *replays = WS_NEW_N(graph->a, struct ws_replay, count);
	for (size_t i = 0; i < count; i++) {
		const struct ws_node *unit = draw(&units, i);
		if (unit->action->split) {
			ws_split_replay(unit->action->split, graph, &replays[i]);
		} else {
			make_again(unit, graph, &replays[i]);
		}
	}
	e.keep_going = true;
	if (!ws_engine_run(&e, graph, &summary, err) && err->kind != WS_ERR_BUILD) {
		return false;
	}
	struct tally tally = {0};
	for (size_t i = 0; i < count; i++) {
		tell(&e, units.at[i], &replays[i], &tally);
	}
	return sum_up(&tally, count, farms, err);
}
