/**
 * folder.h - a local folder as sources
 *
 * Copied, because sources must not change while they are compiled; without ".git". The rules of
 * archive/members.h hold, so a link that leaves the folder is refused by name.
 */
#ifndef WS_FETCH_FOLDER_H
#define WS_FETCH_FOLDER_H

#include "fetch/source_tree.h"

bool ws_folder_copy(const char *path, struct ws_source_tree *into, struct ws_err *err);

#endif
