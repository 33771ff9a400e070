/* publish_world.c - see publish_world.h. */
#include "publish_world.h"

#include "test.h"

#include "base/fs.h"
#include "compile.h"
#include "served.h"
#include "sys/spawn.h"

#include <fcntl.h>

#define ENV "/usr/bin/env"

const char *
ws_world_wheels(const char *dir, const char *const *lines)
{
	const char *argv[20] = {ENV, "python3", WS_TESTS_DIR "/support/make_labelled.py", dir};
	for (size_t i = 0; lines[i]; i++) {
		argv[4 + i] = lines[i];
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_test_run(a, argv, NULL);
	return dir;
}

struct ws_index_order
ws_world_order(const char *target, const char *wheels, struct ws_arena *a)
{
	const char **sources = WS_NEW(a, const char *);
	sources[0] = wheels;
	return (struct ws_index_order){
		.target = target,
		.sources = sources,
		.source_count = wheels != NULL,
		.valid_s = 86400,
		.keep = 30,
		.now_us = (INT64_C(1795305600) + 8 * 3600) * 1000000,
	};
}

/* ---- the store ---- */

struct ws_bucket
ws_world_bucket(const char *dir, const char *fault, struct ws_arena *a)
{
	int in[2], out[2];
	unsigned port;
	struct ws_child child;
	struct ws_err err = {0};
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	const char *path = getenv("PATH");
	const char *const env[] = {ws_arena_printf(a, "PATH=%s", path ? path : "/usr/bin:/bin"), NULL};
	const char *const argv[] = {
		"env", "python3", WS_TESTS_DIR "/support/bucket_server.py", dir, fault, NULL};
	struct ws_spawn spawn = {
		.program = ENV,
		.argv = argv,
		.env = env,
		.dir = "/",
		.in = in[0],
		.out = out[1],
		.err = STDERR_FILENO,
	};
	assert_ok(ws_spawn_start(&spawn, &child, &err), err);
	close(in[0]); /* the other end stays: the server ends with this program */
	close(out[1]);
	FILE *from = fdopen(out[0], "r");
	if (fscanf(from, " ready %u", &port) != 1) {
		fail_msg("%s", "the bucket server does not start; is python3 there?");
	}
	fclose(from);
	struct ws_bucket b = {
		.http = ws_served_http(NULL),
		.endpoint = ws_arena_printf(a, "http://127.0.0.1:%u", port),
		.name = "bucket/team/",
		.region = "us-east-1",
		.a = a,
	};
	assert_ok(ws_http_login(b.http, b.endpoint, "alice", "sesame", &err), err);
	return b;
}

static const char *
place_of(const char *dir, const char *key, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf name = {0};
	ws_buf_puts(&name, "%2Fbucket%2Fteam%2F");
	for (const char *c = key; *c; c++) {
		ws_buf_puts(&name, *c == '/' ? "%2F" : *c == '+' ? "%2B" : *c == '@' ? "%40" : "");
		if (!strchr("/+@", *c)) {
			ws_buf_putc(&name, *c);
		}
	}
	return ws_path_join(a, dir, ws_buf_text(&name), NULL);
}

const char *
ws_world_object(const char *dir, const char *key, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	return ws_fs_read(place_of(dir, key, a), &text, NULL) ? ws_buf_copy(&text, a) : NULL;
}

void
ws_world_put(const char *dir, const char *key, const char *text, struct ws_arena *a)
{
	struct ws_err err = {0};
	assert_ok(ws_fs_write(place_of(dir, key, a), text, strlen(text), 0644, &err), err);
}

struct ws_object
ws_world_file(const char *key, const char *text, struct ws_arena *a)
{
	struct ws_err err = {0};
	const char *path = ws_path_join(a, ws_test_dir(a), "object", NULL);
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
	return (struct ws_object){key, path, "text/plain", "no-store", NULL};
}
