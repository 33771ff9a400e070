/* served.c - one server a program; its readiness line tells its ports. */
#include "served.h"

#include "test.h"

#include "base/fs.h"
#include "compile.h"
#include "sys/child.h"

#include <fcntl.h>

/* The server that runs. The program's end closes its stdin, which ends it. */
static struct {
	bool is_running;
	struct ws_child child;
	int to; /* its stdin */
	FILE *from;
	char dir[200], log[200], cert[200];
} server;

static void
forget_proxies(void)
{
	static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
		"ALL_PROXY", "no_proxy", "NO_PROXY"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		unsetenv(names[i]);
	}
}

static const char *
path_variable(struct ws_arena *a)
{
	const char *path = getenv("PATH");
	return ws_arena_printf(a, "PATH=%s", path ? path : "/usr/bin:/bin");
}

static void
launch(const char *cert, const char *key, struct ws_arena *a)
{
	const char *dir = ws_test_dir(a);
	snprintf(server.dir, sizeof(server.dir), "%s/served", dir);
	snprintf(server.log, sizeof(server.log), "%s/log", dir);
	snprintf(server.cert, sizeof(server.cert), "%s", cert ? cert : "");
	int in[2], out[2];
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	const char *const argv[] = {"env", "python3", WS_TESTS_DIR "/support/fault_server.py",
		server.dir, server.log, cert, key, NULL};
	const char *const env[] = {path_variable(a), NULL};
	struct ws_spawn spawn = {
		.program = "/usr/bin/env",
		.argv = argv,
		.env = env,
		.dir = "/",
		.in = in[0],
		.out = out[1],
		.err = STDERR_FILENO,
	};
	struct ws_err err;
	assert_ok(ws_spawn_start(&spawn, &server.child, &err), err);
	close(in[0]);
	close(out[1]);
	server.to = in[1];
	server.from = fdopen(out[0], "r");
	server.is_running = true;
}

/* Waits until it listens, or has forgotten the test before. */
static struct ws_served
meet(struct ws_arena *a)
{
	struct ws_served s = {.dir = server.dir, .log = server.log, .a = a};
	s.cert = server.cert[0] ? server.cert : NULL;
	struct ws_err err;
	assert_ok(ws_fs_remove(s.dir, &err) && ws_fs_mkdirs(s.dir, &err), err);
	if (fscanf(server.from, " ready %u %u %u", &s.port, &s.other, &s.tls) != 3) {
		fail_msg("%s", "the fault server does not start; is python3 there?");
	}
	return s;
}

struct ws_served
ws_served_start(struct ws_arena *a)
{
	forget_proxies();
	if (server.is_running) {
		assert_int_equal(write(server.to, "\n", 1), 1);
	} else {
		launch(NULL, NULL, a);
	}
	return meet(a);
}

struct ws_served
ws_served_start_tls(struct ws_arena *a)
{
	forget_proxies();
	ws_served_kill();
	const char *dir = ws_test_dir(a);
	const char *cert = ws_path_join(a, dir, "cert.pem", NULL);
	const char *key = ws_path_join(a, dir, "key.pem", NULL);
	const char *const argv[] = {"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
		"ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
		"subjectAltName=DNS:localhost", "-keyout", key, "-out", cert, NULL};
	ws_test_run(a, argv, NULL);
	launch(cert, key, a);
	return meet(a);
}

void
ws_served_kill(void)
{
	if (server.is_running) {
		close(server.to);
		fclose(server.from);
		ws_spawn_reap(&server.child);
		server.is_running = false;
	}
}

const char *
ws_served_url(const struct ws_served *s, const char *path)
{
	return ws_arena_printf(s->a, "http://127.0.0.1:%u%s", s->port, path);
}

const char *
ws_served_put(const struct ws_served *s, const char *path, size_t len)
{
	char *bytes = ws_arena_alloc(s->a, len + 1);
	for (size_t i = 0; i < len; i++) {
		bytes[i] = (char)(i * 2654435761u >> 11 ^ i >> 16);
	}
	struct ws_err err;
	const char *full = ws_path_join(s->a, s->dir, path, NULL);
	assert_ok(ws_fs_mkdirs(ws_path_dir(s->a, full), &err), err);
	assert_ok(ws_fs_write(full, bytes, len, 0644, &err), err);
	return bytes;
}

unsigned
ws_served_count(const struct ws_served *s, const char *text)
{
	WS_AUTO_BUF struct ws_buf log = {0};
	struct ws_err err;
	assert_ok(ws_fs_read(s->log, &log, &err), err);
	unsigned count = 0;
	for (char *line = log.data; line && *line;) {
		char *end = strchr(line, '\n');
		if (end) {
			*end = '\0';
		}
		count += strstr(line, text) != NULL;
		line = end ? end + 1 : NULL;
	}
	return count;
}

struct ws_http_config
ws_served_config(void)
{
	return (struct ws_http_config){
		.netrc_path = "/dev/null",
		.first_byte_ms = 20000,
		.stall_ms = 20000,
		.stall_bytes = 1,
		.pause_ms = 10,
		.retries = 3,
	};
}

struct ws_http_config
ws_served_hasty(void)
{
	struct ws_http_config config = ws_served_config();
	config.first_byte_ms = 600;
	config.stall_ms = 400;
	config.stall_bytes = 200;
	return config;
}

struct ws_http *
ws_served_http(const struct ws_http_config *config)
{
	struct ws_http_config standard = ws_served_config();
	struct ws_err err;
	struct ws_http *http = ws_http_open(config ? config : &standard, &err);
	assert_non_null(http);
	return http;
}
