/**
 * members.h - the rules for members of archives and repositories
 *
 * Names, links and amounts, for every source of files except wheels: tar, .deb, git. A member is
 * checked before a byte of it is read; the error names member and rule. Touches no file.
 *
 *   name-text    no control characters, at most 1024 bytes
 *   name-path    relative, inside, in its plain form
 *   type         a file, a folder or a link; no devices, pipes, sockets
 *   through      no member is below a file or a link
 *   duplicate    a repeated name has the same contents
 *   link         a link stays inside: relative, ".." only in front; a hard link names an earlier
 *                file
 *   amount       bounded numbers of members and bytes, and a bounded ratio to the archive's size
 *
 * Names are kept in a map that a crafted archive could make slow. The caller has checked a pinned
 * digest before, so such an archive does not get here.
 */
#ifndef WS_ARCHIVE_MEMBERS_H
#define WS_ARCHIVE_MEMBERS_H

#include "base/arena.h"
#include "base/crypto.h"

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

/** A member of the archive so far. */
struct ws_member_seen {
	enum ws_member_kind kind;
	bool executable;
	bool again;         /**< the name is repeated */
	bool taken;         /**< the caller's: its contents were taken */
	const char *target; /**< as in struct ws_member */
	struct ws_digest
		digest; /**< the caller's: SHA-256 of a FILE, compared with a repeated member */
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
 * The name without "./" in front and slashes at the end, as tar writes them; NULL for the root.
 */
char *ws_member_plain_name(const char *name, struct ws_arena *a);

/** Checks all rules except `link` and adds @a member; NULL when it breaks one. */
struct ws_member_seen *ws_members_enter(
	struct ws_members *m, const struct ws_member *member, struct ws_err *err);

/** Checks the rule `link`, for links that are extracted. */
bool ws_members_check_link(
	struct ws_members *m, const struct ws_member *member, struct ws_err *err);

/** Counts contents, against `amount`. */
bool ws_members_add_bytes(
	struct ws_members *m, const char *name, uint64_t bytes, struct ws_err *err);

/** Reports a rule that the caller found broken. Returns false. */
bool ws_members_refuse(struct ws_members *m, struct ws_err *err, const char *rule, const char *name,
	const char *format, ...) WS_PRINTF(5, 6);

#endif
