/**
 * git_served.h - real git repositories behind a real smart-HTTP server: support/git_server.py
 *
 * The repositories are made once for the program; the server and its log are each test's own.
 */
#ifndef WS_TESTS_UNIT_GIT_SERVED_H
#define WS_TESTS_UNIT_GIT_SERVED_H

#include "base/text.h"
#include "sys/spawn.h"

struct ws_git_served {
	struct ws_child child;
	int hold;        /**< the server's stdin: it ends when this closes */
	const char *dir; /**< repositories, ids.txt, log, cert.pem */
	struct ws_buf ids;
	unsigned port, tls;
	struct ws_arena *a;
};

struct ws_git_served ws_git_served_start(struct ws_arena *a);
void ws_git_served_stop(struct ws_git_served *s);

#define WS_AUTO_GIT_SERVED __attribute__((cleanup(ws_git_served_stop)))

/** "http://127.0.0.1:PORT/plain/demo.git" for "plain/demo". */
const char *ws_git_served_url(const struct ws_git_served *s, const char *path);

/** The id of a commit by its name in git_server.py; of its tree for "NAME-tree". */
const char *ws_git_served_id(const struct ws_git_served *s, const char *name);

/** Lines of the log so far that hold @a text. */
unsigned ws_git_served_count(const struct ws_git_served *s, const char *text);

#endif
