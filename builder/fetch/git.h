/**
 * git.h - fetches an exact commit and reads its trees and files
 *
 * Keeps a bare repository per URL as a cache, fetches an exact commit into it, and reads trees
 * and files out of it. No work tree, no index, no hooks, no filters, no configuration of the
 * host: files are read unchanged. Every object is hashed when it is read, so a tree belongs to its
 * commit. model/git_url.h decides which URLs are allowed, checkout.c uses files and submodules.
 * Only git.c calls libgit2.
 *
 * Order of a fetch: the one branch or tag that points at the commit, else the commit by its id,
 * else all branches and tags. libgit2 1.7 and later fetch no history.
 */
#ifndef WS_FETCH_GIT_H
#define WS_FETCH_GIT_H

#include "base/event.h"
#include "base/text.h"
#include "sys/stop.h"

/** Texts and what is pointed to are borrowed. */
struct ws_git_config {
	const char *ca_path;     /**< certificates, file or folder; NULL: the library's own */
	bool files;              /**< file:// URLs are allowed */
	bool offline;            /**< fetch from no server */
	unsigned stall_ms;       /**< silence that ends a fetch; 0: 60,000 */
	const char *program;     /**< our own executable: fetches as a child; NULL: none can be */
	const char *const *vars; /**< our environment: where the proxies and certificates stand */
	struct ws_stop *stop;    /**< NULL: never asked */
	const struct ws_events *events; /**< NULL: no events */
};

/** The library, with its settings; they are the process's, so there is one at a time. */
struct ws_git {
	struct ws_git_config config;
};

struct ws_git *ws_git_open(
	const struct ws_git_config *config, struct ws_arena *a, struct ws_err *err);
/** NULL is fine. */
void ws_git_close(struct ws_git *git);

/** "1.5.1": the library that runs. Old: below 1.9.7, in which the faults known in 2026 are mended;
 * distributions mend older ones too. */
const char *ws_git_version(struct ws_arena *a, bool *is_old);

/** Digits of a commit, tree or file id, and the terminator. */
#define WS_GIT_ID 41

struct ws_git_repo;

/**
 * Opens the bare repository at @a path; one that is not there or cannot be used is made anew. A
 * repository without read permission is kept. One process at a time: the caller locks.
 */
struct ws_git_repo *ws_git_repo_open(
	struct ws_git *git, const char *path, struct ws_arena *a, struct ws_err *err);
/** NULL is fine. */
void ws_git_repo_close(struct ws_git_repo *repo);

/** 40 lower-case hexadecimal digits. */
bool ws_git_is_id(const char *text);

bool ws_git_has(const struct ws_git_repo *repo, const char *commit);

/** Something in it could not be read, or what its refs name is not there. */
bool ws_git_is_damaged(const struct ws_git_repo *repo);

/** The result of a download. */
enum ws_git_result {
	WS_GIT_CAME,
	WS_GIT_ABSENT, /**< the server does not have the commit, or does not give it */
	WS_GIT_NEEDS_LOGIN,
	WS_GIT_BAD_CERTIFICATE,
	WS_GIT_FAILED,
};

struct ws_git_outcome {
	enum ws_git_result result;
	char words[1024]; /**< libgit2's */
};

/** Something moved: @a bytes so far, 0 when it was only talk; false ends the download. */
typedef bool (*ws_git_moved_fn)(void *self, uint64_t bytes);

/**
 * Brings the commit from @a url, which was allowed, in this very process: nothing ends it while a
 * server is silent. git_child.h does that.
 */
void ws_git_download(struct ws_git_repo *repo, const char *url, const char *commit,
	ws_git_moved_fn moved, void *self, struct ws_git_outcome *outcome);

/** The tree of a commit. */
bool ws_git_tree(
	struct ws_git_repo *repo, const char *commit, char tree[WS_GIT_ID], struct ws_err *err);

enum ws_git_kind {
	WS_GIT_FILE,
	WS_GIT_EXECUTABLE,
	WS_GIT_LINK,
	WS_GIT_FOLDER,
	WS_GIT_SUBMODULE, /**< id is a commit in another repository */
	WS_GIT_OTHER,     /**< a mode that git does not write */
};

struct ws_git_entry {
	const char *name; /**< as the tree has it: any bytes but NUL */
	enum ws_git_kind kind;
	char id[WS_GIT_ID];
};

/** The entries of one tree, in its order. */
bool ws_git_list(struct ws_git_repo *repo, const char *tree, struct ws_arena *a,
	struct ws_git_entry **entries, size_t *count, struct ws_err *err);

/** Appends a file's bytes; one above @a limit bytes is WS_ERR_FETCH. */
bool ws_git_read(struct ws_git_repo *repo, const char *id, uint64_t limit, struct ws_buf *out,
	struct ws_err *err);

/* ---- a fetch in a child ---- */

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
