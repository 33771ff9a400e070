/**
 * git_line.h - an open line to a git server
 *
 * The narrow part of libgit2 that fetching needs, between git.c, which speaks to the library, and
 * git_fetch.c, which decides what to ask for. Private to these two.
 */
#ifndef WS_FETCH_GIT_LINE_H
#define WS_FETCH_GIT_LINE_H

#include "fetch/git.h"

/** Who hears that something moved. */
struct ws_git_call {
	/** @a bytes so far, 0 when it was only talk; false gives up. */
	bool (*moved)(void *self, uint64_t bytes);
	void *self;
};

enum ws_git_fault_kind {
	WS_GIT_FAULT_OTHER,
	WS_GIT_FAULT_LOGIN,
	WS_GIT_FAULT_CERTIFICATE,
};

/** Why a call failed. */
struct ws_git_fault {
	enum ws_git_fault_kind kind;
	char words[300]; /**< libgit2's */
};

struct ws_git_line;

/** Connects and hears which refs there are. NULL on failure. @a call is borrowed. */
struct ws_git_line *ws_git_line_open(struct ws_git_repo *repo, const char *url,
	const struct ws_git_call *call, struct ws_arena *a, struct ws_git_fault *fault);

/** NULL is fine. */
void ws_git_line_close(struct ws_git_line *line);

/** A ref that points at the commit, or a tag of it; NULL when none does. */
char *ws_git_line_ref(const struct ws_git_line *line, const char *commit, struct ws_arena *a);

/** Fetches what the refspecs name; without @a history only the commits themselves, where it can. */
bool ws_git_line_download(
	struct ws_git_line *line, char **specs, size_t count, bool history, struct ws_git_fault *fault);

/** What is lacking in the configuration filled in. */
unsigned ws_git_stall_ms(const struct ws_git_config *config);

/** True when the library ends a wait by itself. */
bool ws_git_has_timeouts(void);

#endif
