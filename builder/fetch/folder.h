/**
 * folder.h - a local folder as sources
 *
 * Copied, because sources must not change while they are compiled; without ".git". The rules of
 * archive/members.h hold, so a link that leaves the folder is refused by name.
 */
#ifndef WS_FETCH_FOLDER_H
#define WS_FETCH_FOLDER_H

#include "fetch/source_tree.h"

/**
 * The digest of the tree that ws_folder_copy would make now, without making it: whether sources changed
 * since they were pinned. False when a file cannot be read or is of a kind that would be refused.
 */
bool ws_folder_digest(const char *path, struct ws_digest *digest, struct ws_err *err);

bool ws_folder_copy(const char *path, struct ws_source_tree *into, struct ws_err *err);

#endif
