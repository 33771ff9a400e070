/* worker_files.c - one state for each name. A folder is absent as a file, and a digest implies
 * presence: so two states may agree, and the more precise one is kept. */
#include "engine/worker_files.h"

#include "engine/graph.h"
#include "engine/remote_order.h"

static const char absent[] = "absent", present[] = "present", folder[] = "folder";

static bool
is_digest(const char *state)
{
	return state && state != absent && state != present && state != folder;
}

static const char *
merge_states(const char *known, const char *told)
{
	if (!known || (known == absent && told == folder) || (known == present && is_digest(told))) {
		return told;
	}
	bool agree = strcmp(known, told) == 0 || (known == folder && told == absent)
		|| (told == present && is_digest(known));
	return agree ? known : NULL;
}

/* False: a contradiction. Without @a keep nothing is stored. */
static bool
add_name(struct ws_worker_files *p, bool keep, const char *name, const char *told)
{
	const char *known = ws_map_get(&p->told, name);
	const char *state = merge_states(known, told);
	if (!state || state == known || !keep) {
		return state;
	}
	ws_map_put(&p->told, ws_arena_strdup(p->a, name),
		is_digest(state) ? ws_arena_strdup(p->a, state) : state, p->a);
	return true;
}

static bool
add_report(struct ws_worker_files *p, bool keep, const struct ws_report *report, const char **name)
{
	const struct {
		const ws_name_list *names;
		const char *state;
	} lists[] = {{&report->reads.absent, absent}, {&report->reads.present, present},
		{&report->reads.folders, folder}};
	for (size_t i = 0; i < report->outside.count; i++) {
		const struct ws_map_slot *slot = &report->outside.slots[i];
		if (!add_name(p, keep, slot->key, slot->value)) {
			*name = slot->key;
			return false;
		}
	}
	for (size_t i = 0; i < WS_LEN(lists); i++) {
		for (size_t k = 0; k < lists[i].names->len; k++) {
			*name = lists[i].names->at[k];
			/* Names outside of trees are absolute. */
			if (**name == '/' && !add_name(p, keep, *name, lists[i].state)) {
				return false;
			}
		}
	}
	return true;
}

bool
ws_worker_files_add_report(
	struct ws_worker_files *p, const struct ws_report *report, const char **name)
{
	return add_report(p, false, report, name) && add_report(p, true, report, name);
}

void
ws_worker_files_want(struct ws_worker_files *p, const char *name)
{
	if (!p->is_silent && !ws_map_get(&p->asked, name)) {
		const char *kept = ws_arena_strdup(p->a, name);
		ws_map_put(&p->asked, kept, kept, p->a);
		*ws_vec_push(&p->wanted, p->a) = kept;
	}
}

void
ws_worker_files_want_report(struct ws_worker_files *p, const struct ws_report *report)
{
	const struct ws_reads *reads = &report->reads;
	const ws_name_list lists[] = {reads->files, reads->absent, reads->present, reads->folders};
	for (size_t i = 0; i < WS_LEN(lists); i++) {
		for (size_t k = 0; k < lists[i].len; k++) {
			const char *name = lists[i].at[k];
			if (name[0] == '/' && !ws_worker_files_knows(p, name)) {
				ws_worker_files_want(p, name);
			}
		}
	}
}

bool
ws_worker_files_ask_wanted(struct ws_worker_files *p, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf lines = {0};
	*err = (struct ws_err){0};
	for (size_t i = 0; i < p->wanted.len; i++) {
		ws_buf_printf(&lines, "%s\n", p->wanted.at[i]);
	}
	p->wanted.len = 0;
	if (lines.len == 0 || p->is_silent) {
		return false;
	}
	p->is_silent = !p->ask(p, &lines, NULL, err);
	return !p->is_silent;
}

bool
ws_worker_files_ask_for_nodes(const ws_node_list *nodes, const struct ws_events *events)
{
	bool learned = false;
	for (size_t i = 0; i < nodes->len; i++) {
		struct ws_worker_files *platform = nodes->at[i]->action->platform;
		struct ws_err err;
		if (!platform || platform->wanted.len == 0) {
			continue;
		}
		if (ws_worker_files_ask_wanted(platform, &err)) {
			learned = true;
		} else if (err.text[0]) {
			ws_events_warn(events, "%s: earlier results are not used", err.text);
		}
	}
	return learned;
}

bool
ws_worker_files_knows(const struct ws_worker_files *p, const char *name)
{
	return ws_map_get(&p->told, name);
}

const char *
ws_worker_files_digest(const struct ws_worker_files *p, const char *name)
{
	const char *state = ws_map_get(&p->told, name);
	return is_digest(state) ? state : NULL;
}

bool
ws_worker_files_has_file(const struct ws_worker_files *p, const char *name)
{
	return ws_map_get(&p->told, name) == present || ws_worker_files_digest(p, name);
}

bool
ws_worker_files_has_folder(const struct ws_worker_files *p, const char *name)
{
	return ws_map_get(&p->told, name) == folder;
}

void
ws_worker_files_names(const struct ws_worker_files *p, struct ws_buf *lines)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char **names = WS_NEW_N(a, const char *, p->told.count);
	for (size_t i = 0; i < p->told.count; i++) {
		names[i] = p->told.slots[i].key;
	}
	size_t count = ws_sort_once(names, p->told.count);
	for (size_t i = 0; i < count; i++) {
		ws_buf_printf(lines, "%s\n", names[i]);
	}
}
