/**
 * shared_file.h - downloads that stay files: prebuilt wheels, for every host once
 *
 * A file whose digest is known in advance proves itself: where other hosts share
 * (store/shared_entries.h) it is asked for there before its own server is, whoever put it there.
 * Its size, which servers want to be told, is said by an index, else by a signed record.
 */
#ifndef WS_FETCH_SHARED_FILE_H
#define WS_FETCH_SHARED_FILE_H

#include "fetch/fetch.h"

/** Brings the file into the store (cas.h). @a size_bytes 0: not known. False: nobody has it. */
bool ws_shared_file_get(const struct ws_fetch *fetch, const char *sha256, uint64_t size_bytes);

/** Tells others of a file that the store has, where they are to be told. */
void ws_shared_file_tell(const struct ws_fetch *fetch, const char *sha256);

#endif
