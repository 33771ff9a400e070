/**
 * members.h - what may come out of an archive or a repository into a folder
 *
 * Names, links and amounts, for every source of files that is not a wheel: tar, .deb, git. A
 * member is checked before a byte of it is taken; what breaks a rule is an error that names
 * member and rule. Touches no file.
 *
 *   name-text    no control characters, at most 1024 bytes
 *   name-path    relative, inside, in its plain form
 *   type         a file, a folder or a link; no devices, pipes, sockets
 *   through      nothing lies below a file or a link
 *   duplicate    a name that stands twice gives the same both times
 *   link         a link stays inside: relative, ".." only in front; a hard link names an earlier
 *                file
 *   amount       not absurdly many members or bytes, nor absurdly more bytes than the archive has
 *
 * The names are kept in a map that a stranger could make slow; whoever calls has checked a pinned
 * digest first, so there is nothing to gain.
 */
#ifndef WS_ARCHIVE_MEMBERS_H
#define WS_ARCHIVE_MEMBERS_H

#include "base/arena.h"
#include "base/crypto.h"

#include <stdint.h>

enum ws_member_kind {
	WS_MEMBER_FILE,
	WS_MEMBER_LINK,      /**< symbolic */
	WS_MEMBER_HARD_LINK, /**< a hard link: the contents of an earlier file */
	WS_MEMBER_FOLDER,
};

struct ws_member {
	const char *name; /**< relative, no slash at the end */
	enum ws_member_kind kind;
	const char *target; /**< LINK: as written; HARD_LINK: name of the earlier file; else NULL */
	bool executable;    /**< FILE: it may be executed; all other mode bits are dropped */
};

/** Where to stop. Zero members mean the default. */
struct ws_member_limits {
	uint64_t members;     /**< default 200,000 */
	uint64_t total_bytes; /**< contents together; default 16 GiB */
	uint64_t ratio;       /**< contents to archive, above 64 MiB of contents; default 200 */
};

/** A member that was let in. */
struct ws_member_seen {
	enum ws_member_kind kind;
	bool executable;
	bool again;              /**< this is not the first time */
	bool taken;              /**< the caller's: its contents were taken */
	const char *target;      /**< as in struct ws_member */
	struct ws_digest digest; /**< the caller's: of a FILE, to compare the second time with */
};

/** The members of one archive so far. */
struct ws_members {
	struct ws_arena *a;
	const char *archive; /**< for messages */
	struct ws_member_limits limits;
	uint64_t archive_bytes; /**< size of the archive itself; 0: unknown, no ratio */
	uint64_t total_bytes;   /**< contents so far */
	uint64_t count;
	struct ws_map seen; /**< name -> struct ws_member_seen, implied folders included */
};

/** @a archive is borrowed; @a limits may be NULL. */
struct ws_members ws_members_begin(const char *archive, uint64_t archive_bytes,
	const struct ws_member_limits *limits, struct ws_arena *a);

/**
 * Without "./" in front and slashes at the end, as tar writes names; NULL for the root itself.
 */
char *ws_member_plain_name(const char *name, struct ws_arena *a);

/** Checks all rules but `link` and lets @a member in; NULL when it breaks one. */
struct ws_member_seen *ws_members_enter(
	struct ws_members *m, const struct ws_member *member, struct ws_err *err);

/** Checks the rule `link`: for links that are taken. */
bool ws_members_check_link(
	struct ws_members *m, const struct ws_member *member, struct ws_err *err);

/** Counts contents, against `amount`. */
bool ws_members_add_bytes(
	struct ws_members *m, const char *name, uint64_t bytes, struct ws_err *err);

/** For rules that the caller finds broken. Returns false. */
bool ws_members_refuse(struct ws_members *m, struct ws_err *err, const char *rule, const char *name,
	const char *format, ...) WS_PRINTF(5, 6);

#endif
