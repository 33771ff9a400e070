/**
 * blobs.h - uploads and downloads files of the Remote Execution API's storage
 *
 * Small files in batches, large ones as streams of one call each, never whole in memory. Files
 * that the server has are not sent.
 */
#ifndef WS_REMOTE_BLOBS_H
#define WS_REMOTE_BLOBS_H

#include "remote/reapi.pb-c.h"
#include "remote/server.h"

/** Limit of the files in a batch, in bytes. */
#define WS_BATCH ((uint64_t)1 << 20)

struct ws_blobs {
	struct ws_rpc *rpc;
	const char *instance; /**< "": none */
	uint64_t batch_bytes; /**< the server's limit of a batch */
};

/** As get_files and put_files of struct ws_remote_cache. Files of unknown size count as missing. */
bool ws_blobs_get(const struct ws_blobs *blobs, struct ws_item *items, size_t count);
bool ws_blobs_put(const struct ws_blobs *blobs, struct ws_item *items, size_t count);

#endif
