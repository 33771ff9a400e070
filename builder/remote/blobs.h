/**
 * blobs.h - files to and from the content-addressed storage of the Remote Execution API
 *
 * Small ones in batches, others as streams of their own; nothing is sent that is there.
 */
#ifndef WS_REMOTE_BLOBS_H
#define WS_REMOTE_BLOBS_H

#include "net/rpc.h"
#include "remote/reapi.pb-c.h"
#include "remote/server.h"

/** Bytes of the files of a batch at most. */
#define WS_BATCH ((uint64_t)1 << 20)

struct ws_blobs {
	struct ws_rpc *rpc;
	const char *instance; /**< "": none */
	uint64_t batch_bytes; /**< what the server takes at once */
};

/** Of a file, or of the Action of a message; borrows from @a item. */
Reapi__Digest ws_blob_digest(const struct ws_item *item);

/** As get_files and put_files of struct ws_remote_cache. Those whose size is not known are not
 * there. */
bool ws_blobs_get(const struct ws_blobs *blobs, struct ws_item *items, size_t count);
bool ws_blobs_put(const struct ws_blobs *blobs, struct ws_item *items, size_t count);

#endif
