/**
 * reapi_call.h - calls and messages of the Remote Execution API
 *
 * Messages are packed and unpacked by protobuf-c; unpacked ones live in an arena. A unary call
 * sends one message and receives one: its owner releases ws_call.reply.
 */
#ifndef WS_REMOTE_REAPI_CALL_H
#define WS_REMOTE_REAPI_CALL_H

#include "remote/reapi.pb-c.h"
#include "remote/server.h"

/** Removes const for the generated structs, which are only read when packed. */
static inline void *
ws_protobuf_borrow(const void *bytes)
{
	void *same;
	memcpy(&same, &bytes, sizeof(same));
	return same;
}

/** The message of a digest; borrows @a hash. */
Reapi__Digest ws_protobuf_digest(const char *hash, uint64_t size_bytes);

/** Appends @a message, a pointer to a generated struct. */
void ws_protobuf_pack(const void *message, struct ws_buf *out);

/** NULL: not such a message. */
void *ws_protobuf_unpack(
	const ProtobufCMessageDescriptor *type, struct ws_str bytes, struct ws_arena *a);

/* ---- calls ---- */

/** A call without callbacks. @a request, a pointer to a generated struct, is packed into @a a. */
struct ws_call ws_unary_make(const char *method, const void *request, struct ws_arena *a);

/** Runs the calls to their ends. @a bytes: transferred besides, which extends the timeout. False:
 * a stop was requested. */
bool ws_unary_run(
	struct ws_rpc *rpc, struct ws_call *all, size_t count, uint64_t bytes, struct ws_arena *a);

/** Sets the state of @a item by a call; true: there is a reply. */
bool ws_unary_came(const struct ws_call *unary, struct ws_item *item);

/** The reply, unpacked into @a a; NULL: @a item has the reason. */
void *ws_unary_read(const struct ws_call *unary, const ProtobufCMessageDescriptor *type,
	struct ws_item *item, struct ws_arena *a);

/** The same of any call. */
void ws_call_came(const struct ws_call *call, struct ws_item *item);

/** The timeout for @a bytes on a slow connection. */
unsigned ws_call_deadline_ms(uint64_t bytes);

#endif
