/**
 * blob_stream.h - files over google.bytestream: one call each
 */
#ifndef WS_REMOTE_BLOB_STREAM_H
#define WS_REMOTE_BLOB_STREAM_H

#include "remote/blobs.h"

bool ws_blob_streams_get(const struct ws_blobs *blobs, struct ws_item *const *items, size_t count);
bool ws_blob_streams_put(const struct ws_blobs *blobs, struct ws_item *const *items, size_t count);

#endif
