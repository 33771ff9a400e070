/* stale_world.c - see stale_world.h. */
#include "stale_world.h"

#include "base/fs.h"
#include "compile/extension_target.h"
#include "engine/engine.h"

#include <time.h>

struct listener {
	struct ws_sink sink;
	const char *warned;
	struct ws_arena *a;
};

struct stale_world {
	struct ws_store store;
	struct ws_ledger *ledger;
	struct ws_work work;
	struct ws_host host;
	struct ws_budget budget;
	struct ws_events events;
	struct listener listener;
	struct ws_hostcc cxx;
	const char *outside;
	struct ws_buf outside_text; /* what the folder outside holds */
	unsigned fresh;             /* builds that must find nothing */
};

static void
listen(struct ws_sink *self, const struct ws_event *event)
{
	struct listener *l = (struct listener *)self;
	if (event->kind == WS_EVENT_WARNING) {
		l->warned = ws_arena_strdup(l->a, event->subject);
	}
}

struct stale_world *
stale_world_open(struct ws_arena *a)
{
	struct ws_err err;
	struct stale_world *w = WS_NEW(a, struct stale_world);
	const char *folder = ws_test_dir(a);
	w->outside = ws_path_join(a, folder, "outside", NULL);
	assert_ok(ws_store_open(ws_path_join(a, folder, "store", NULL), a, &w->store, &err), err);
	w->ledger = w->store.ledger;
	assert_ok(ws_work_open(&w->store, NULL, a, &w->work, &err), err);
	assert_ok(ws_hostcc_ask(NULL, "/usr/bin/g++", a, &w->cxx, &err), err);
	assert_ok(ws_hostcc_open(&w->cxx, w->ledger, a, &err), err);
	w->host = ws_host_read("", a);
	w->budget = ws_budget_make(&w->host, 2, 0);
	w->listener.sink.take = listen;
	w->events = (struct ws_events){.sinks = {&w->listener.sink}, .count = 1};
	return w;
}

void
stale_world_close(struct stale_world *w)
{
	ws_work_close(&w->work, false);
	ws_store_close(&w->store);
	ws_buf_release(&w->outside_text);
}

const char *
stale_outside(const struct stale_world *w)
{
	return w->outside;
}

void
stale_put(struct stale_layout *layout, struct stale_file file)
{
	stale_remove(layout, file.path);
	assert_true(layout->count < WS_LEN(layout->files));
	layout->files[layout->count++] = file;
}

void
stale_remove(struct stale_layout *layout, const char *path)
{
	size_t kept = 0;
	for (size_t i = 0; i < layout->count; i++) {
		if (strcmp(layout->files[i].path, path) != 0) {
			layout->files[kept++] = layout->files[i];
		}
	}
	layout->count = kept;
}

/* All that is outside in one text. */
static void
describe_outside(const struct stale_layout *layout, struct ws_buf *out)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct stale_file *file = &layout->files[i];
		if (file->path[0] == '/') {
			ws_buf_printf(out, "%s %c %s\n", file->path, file->target ? 'l' : 'f',
				file->target ? file->target : file->text);
		}
	}
}

/* The folder outside holds exactly what the layout says; what is the same is not touched. */
static void
write_outside(struct stale_world *w, const struct stale_layout *layout, struct ws_arena *a)
{
	struct ws_err err;
	WS_AUTO_BUF struct ws_buf text = {0};
	describe_outside(layout, &text);
	if (strcmp(ws_buf_text(&text), ws_buf_text(&w->outside_text)) == 0) {
		return;
	}
	ws_buf_clear(&w->outside_text);
	ws_buf_puts(&w->outside_text, ws_buf_text(&text));
	const char *next = ws_arena_printf(a, "%s.next", w->outside);
	assert_ok(ws_fs_mkdirs(next, &err), err);
	for (size_t i = 0; i < layout->count; i++) {
		const struct stale_file *file = &layout->files[i];
		if (file->path[0] != '/') {
			continue;
		}
		const char *place = ws_path_join(a, next, file->path + 1, NULL);
		const char *before = ws_path_join(a, w->outside, file->path + 1, NULL);
		WS_AUTO_BUF struct ws_buf had = {0};
		assert_ok(ws_fs_mkdirs(ws_path_dir(a, place), &err), err);
		if (file->target) {
			assert_int_equal(symlink(file->target, place), 0);
		} else if (ws_fs_read(before, &had, NULL) && strcmp(ws_buf_text(&had), file->text) == 0) {
			assert_ok(ws_fs_link(before, place, &err), err);
		} else {
			assert_ok(ws_fs_write(place, file->text, strlen(file->text), 0644, &err), err);
		}
	}
	assert_ok(ws_fs_remove(w->outside, &err), err);
	assert_int_equal(rename(next, w->outside), 0);
	/* A file as young as the run itself is never kept. */
	nanosleep(&(struct timespec){.tv_nsec = 9000000}, NULL);
}

static struct ws_tree *
make_tree(struct stale_world *w, const struct stale_layout *layout, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_tree_builder *b = ws_tree_begin(&w->store, "t", a, &err);
	for (size_t i = 0; i < layout->count; i++) {
		const struct stale_file *file = &layout->files[i];
		if (file->path[0] == '/') {
			continue;
		}
		assert_ok(file->target
				? ws_tree_add_link(b, file->path, file->target, &err)
				: ws_tree_add_file(b, file->path, file->text, strlen(file->text), false, &err),
			err);
	}
	struct ws_tree *tree = WS_NEW(a, struct ws_tree);
	assert_ok(ws_tree_commit(b, a, tree, &err), err);
	write_outside(w, layout, a);
	return tree;
}

static const struct ws_action *
make_action(struct stale_world *w, const struct stale_layout *layout, struct ws_arena *a)
{
	static const char *const include[] = {"one", "two"};
	static const struct ws_unit unit = {.path = "src/a.cpp", .kind = WS_UNIT_CXX};
	static const struct ws_recipe recipe = {.name = "demo", .version = {.text = "1.0"}};
	static const struct ws_extension extension = {.module = "demo._C",
		.binding = WS_BINDING_C_ABI,
		.include = include,
		.include_count = WS_LEN(include)};
	const char **flags = WS_NEW_N(a, const char *, layout->flag_count);
	for (size_t i = 0; i < layout->flag_count; i++) {
		const char *mark = strstr(layout->flags[i], "{out}");
		flags[i] = mark ? ws_arena_printf(a, "%.*s%s%s", (int)(mark - layout->flags[i]),
					   layout->flags[i], w->outside, mark + strlen("{out}"))
						: layout->flags[i];
	}
	struct ws_target *target = WS_NEW(a, struct ws_target);
	*target = (struct ws_target){.recipe = &recipe,
		.extension = &extension,
		.flags = {.cxx = flags, .cxx_count = layout->flag_count},
		.source = make_tree(w, layout, a),
		.cxx = &w->cxx,
		.group = "demo"};
	return ws_target_compile(target, &unit, NULL, a);
}

struct stale_build
stale_build(
	struct stale_world *w, const struct stale_layout *layout, bool fresh, struct ws_arena *a)
{
	struct ws_err err;
	struct ws_run_summary summary;
	struct ws_action action = *make_action(w, layout, a);
	if (fresh) {
		action.tool.fingerprint = ws_arena_printf(a, "%u", ++w->fresh);
	}
	struct ws_engine engine = {.store = &w->store,
		.ledger = w->ledger,
		.runner = ws_local_runner(&w->work, &w->host, NULL, a),
		.work = &w->work,
		.budget = &w->budget,
		.events = &w->events};
	struct ws_graph *graph = ws_graph_make(a);
	struct ws_node *node = ws_graph_add(graph, &action);
	w->listener.warned = NULL;
	w->listener.a = a;
	if (!ws_engine_run(&engine, graph, &summary, &err)) {
		const char *text = node->failure ? node->failure->text : err.text;
		return (struct stale_build){.how = "failed", .why = ws_arena_strdup(a, text)};
	}
	struct stale_build build = {.how = summary.ran ? "ran" : "hit",
		.why = summary.ran && node->why ? ws_arena_strdup(a, node->why) : NULL,
		.warned = w->listener.warned};
	memcpy(build.digest, node->result.outputs[0].hex, sizeof(build.digest));
	return build;
}
