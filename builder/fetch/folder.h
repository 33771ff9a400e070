/**
 * folder.h - a local folder as sources
 *
 * Copied, because sources must not change while they are compiled; without ".git". The rules of
 * archive/members.h hold, so a link that leaves the folder is refused by name.
 */
#ifndef WS_FETCH_FOLDER_H
#define WS_FETCH_FOLDER_H

#include "fetch/stage.h"

bool ws_folder_stage(const char *path, struct ws_stage *stage, struct ws_err *err);

#endif
