/**
 * reapi_call.h - calls of one message that are answered by one message
 */
#ifndef WS_REMOTE_REAPI_CALL_H
#define WS_REMOTE_REAPI_CALL_H

#include "base/text.h"
#include "net/rpc.h"
#include "remote/reapi.pb-c.h"
#include "remote/server.h"

#include <string.h>

/** Its structs know no const; what is packed is only read. */
static inline void *
ws_protobuf_borrow(const void *bytes)
{
	void *same;
	memcpy(&same, &bytes, sizeof(same));
	return same;
}

/** The message of a digest; borrows @a hash. */
Reapi__Digest ws_protobuf_digest(const char *hash, uint64_t size_bytes);

/** Appends @a message, a pointer to one of the generated structs. */
void ws_protobuf_pack(const void *message, struct ws_buf *out);

/** NULL: it is no such message. */
void *ws_protobuf_unpack(
	const ProtobufCMessageDescriptor *type, struct ws_str bytes, struct ws_arena *a);

/* ---- calls ---- */

struct ws_unary {
	struct ws_call call; /**< first */
	struct ws_buf reply; /**< its owner releases it */
	/* Private. */
	struct ws_str request;
	bool sent, heard;
};

/** @a request, a pointer to a generated struct, is packed into @a a. */
void ws_unary_prepare(
	struct ws_unary *unary, const char *method, const void *request, struct ws_arena *a);

/** Brings them to their end; @a bytes: so many are to be moved besides, which takes its time.
 * False: the run is to stop. */
bool ws_unary_run(
	struct ws_rpc *rpc, struct ws_unary *all, size_t count, uint64_t bytes, struct ws_arena *a);

/** Says in @a item how a call fared; true: there is a reply. */
bool ws_unary_came(const struct ws_unary *unary, struct ws_item *item);

/** The same of any call. */
void ws_call_came(const struct ws_call *call, struct ws_item *item);

/** For so many bytes, on a slow line. */
unsigned ws_call_deadline_ms(uint64_t bytes);

#endif
