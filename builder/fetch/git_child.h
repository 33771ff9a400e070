/**
 * git_child.h - a commit, fetched by a child process
 *
 * libgit2 before 1.7 waits for a silent server for ever, and no version of it hears Ctrl-C. So
 * `wheelsmith internal git` speaks to the server and writes into the bare repository, and we watch:
 * once a stop was asked for, or nothing moved for too long, it is killed. What it left half done in
 * a cache does no harm. The child says on its stdout, a line each:
 *
 *     moved 123456            bytes so far, at most ten times a second
 *     end RESULT WORDS        a number of enum ws_git_result, libgit2's words
 */
#ifndef WS_FETCH_GIT_CHILD_H
#define WS_FETCH_GIT_CHILD_H

#include "fetch/git.h"

/**
 * Brings the commit from @a url, which was allowed, into the repository at @a path; open it
 * afterwards.
 * @a name is for messages and events. A server that does not have the commit, or does not give it,
 * is WS_ERR_FETCH with what can be done.
 */
bool ws_git_fetch(const struct ws_git *git, const char *path, const char *url, const char *name,
	const char *commit, struct ws_err *err);

/** The child. @a ca_path "" for the library's own certificates. */
bool ws_git_child_run(
	const char *path, const char *url, const char *commit, const char *ca_path, struct ws_err *err);

#endif
