/* kit_scene.c - see kit_scene.h. */
#include "kit_scene.h"

#include "test.h"

#include "base/fs.h"
#include "sys/child.h"

static void
take(struct ws_sink *sink, const struct ws_event *event)
{
	struct ws_scene *s = (struct ws_scene *)((char *)sink - offsetof(struct ws_scene, sink));
	if (event->kind == WS_EVENT_WARNING) {
		s->warnings = ws_arena_printf(s->a, "%s%s\n", s->warnings, event->subject);
	} else if (event->kind == WS_EVENT_KIT_READY) {
		s->ready = ws_arena_printf(s->a, "%s%s: %s\n", s->ready, event->subject, event->detail);
	}
}

void
ws_scene_set_index(struct ws_scene *s, const char *role, const char *url)
{
	const char **urls = WS_NEW(s->a, const char *);
	urls[0] = ws_starts_with(url, "http") ? url : ws_served_url(&s->served, url);
	struct ws_index_choice choice = {role, urls, 1, "a test"};
	for (size_t i = 0; i < s->indexes.count; i++) {
		if (strcmp(s->choices[i].role, role) == 0) {
			s->choices[i] = choice;
			return;
		}
	}
	assert_true(s->indexes.count < WS_LEN(s->choices));
	s->choices[s->indexes.count++] = choice;
}

void
ws_scene_begin(struct ws_scene *s, struct ws_arena *a)
{
	*s = (struct ws_scene){.a = a, .warnings = "", .ready = ""};
	s->served = ws_served_start(a);
	const char *path = ws_path_join(a, ws_test_dir(a), "store", NULL);
	assert_ok(ws_store_open(path, a, &s->store, &s->err), s->err);
	s->indexes.choices = s->choices;
	ws_scene_set_index(s, "default", "/simple");
	s->sink.take = take;
	ws_events_add(&s->events, &s->sink);
	struct ws_http_config config = ws_served_config();
	config.events = &s->events;
	s->fetch = (struct ws_fetch){
		.store = &s->store,
		.ledger = s->store.ledger,
		.http = ws_served_http(&config),
		.indexes = &s->indexes,
		.events = &s->events,
	};
	s->fetch.index = ws_index_open(s->fetch.http, a);
}

void
ws_scene_end(struct ws_scene *s)
{
	ws_http_close(s->fetch.http);
	ws_store_close(&s->store);
}

const char *
ws_scene_run(struct ws_scene *s, const char *script, ...)
{
	WS_VEC(const char *) argv = {0};
	*ws_vec_push(&argv, s->a) = "/usr/bin/env";
	*ws_vec_push(&argv, s->a) = "python3";
	*ws_vec_push(&argv, s->a) = ws_path_join(s->a, WS_TESTS_DIR, "support", script, NULL);
	va_list values;
	va_start(values, script);
	const char *value;
	do {
		value = va_arg(values, const char *);
		*ws_vec_push(&argv, s->a) = value;
	} while (value);
	va_end(values);
	const char *path = getenv("PATH");
	const char *const env[] = {
		ws_arena_printf(s->a, "PATH=%s", path ? path : "/usr/bin:/bin"), NULL};
	struct ws_child_order command = {.argv = argv.at, .env = env};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_child_ask(&command, &out, &s->err), s->err);
	return ws_str_copy(ws_str_trim(ws_buf_str(&out)), s->a);
}

static bool
count_one(void *self, const struct ws_fs_entry *entry WS_UNUSED, struct ws_err *err WS_UNUSED)
{
	++*(unsigned *)self;
	return true;
}

unsigned
ws_scene_partials(const struct ws_scene *s)
{
	unsigned count = 0;
	struct ws_err err;
	const char *partial = ws_store_path(&s->store, s->a, "partial");
	assert_ok(ws_fs_walk(partial, count_one, &count, &err), err);
	return count;
}
