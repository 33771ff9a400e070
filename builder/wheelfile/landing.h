/**
 * landing.h - where the members of an archive go: into a tree, or beside it
 *
 * One file at a time, in pieces, each of which asks whether to stop, and at its end the digest of what
 * came. A path of the tree that is taken already is compared instead: archives of one kit may share a
 * file, but not have two of it. Which members to take, and what digest they should have, is the
 * caller's.
 */
#ifndef WS_WHEELFILE_LANDING_H
#define WS_WHEELFILE_LANDING_H

#include "store/tree.h"
#include "sys/stop.h"

struct ws_landing {
	struct ws_tree_builder *tree; /**< NULL when nothing goes into one */
	const char *archive;          /**< for messages */
	struct ws_stop *stop;         /**< borrowed; NULL: nobody can ask */
	/* The file that is open. */
	const char *path;         /**< NULL: none; borrowed */
	struct ws_hasher *hasher; /**< of a file that is not being added to the tree */
	int fd;                   /**< of one beside it */
	bool is_beside;
};

struct ws_landing ws_landing_make(
	struct ws_tree_builder *tree, const char *archive, struct ws_stop *stop);

/** The next file, at @a path of the tree. */
bool ws_landing_open(struct ws_landing *l, const char *path, struct ws_err *err);

/** The next file, at the absolute @a path, which is made or emptied. */
bool ws_landing_open_beside(struct ws_landing *l, const char *path, struct ws_err *err);

/** WS_ERR_INTERRUPTED or WS_ERR_STOPPED once somebody asked to stop. */
bool ws_landing_add(struct ws_landing *l, const void *bytes, size_t len, struct ws_err *err);

/** Ends the file. Another archive's file of this path with other bytes is WS_ERR_FETCH. */
bool ws_landing_close(struct ws_landing *l, struct ws_digest *digest, struct ws_err *err);

/** Gives up the file that is open, if one is; the tree is the caller's to abandon. */
void ws_landing_drop(struct ws_landing *l);

#endif
