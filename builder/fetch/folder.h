/**
 * folder.h - a local folder as sources
 *
 * Copied, because sources must not change while they are compiled; without ".git". The rules of
 * archive/members.h hold, so a link that leaves the folder is refused by name.
 */
#ifndef WS_FETCH_FOLDER_H
#define WS_FETCH_FOLDER_H

#include "fetch/source_tree.h"
#include "store/ledger.h"

/**
 * The digest that the tree of a copy would have now; files that did not change are not read again.
 * False where nobody can say: what a copy would refuse, or more than 1 GiB.
 */
bool ws_folder_digest(const char *path, struct ws_ledger *ledger, struct ws_digest *digest);

bool ws_folder_copy(const char *path, struct ws_source_tree *into, struct ws_err *err);

#endif
