/**
 * protobuf.h - messages of reapi.proto to and from bytes
 *
 * Over protobuf-c; what is unpacked lives in an arena and is not released by itself.
 */
#ifndef WS_REMOTE_PROTOBUF_H
#define WS_REMOTE_PROTOBUF_H

#include "base/buf.h"
#include "remote/reapi.pb-c.h"

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

#endif
