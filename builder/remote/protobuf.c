#include "remote/protobuf.h"

void
ws_protobuf_pack(const void *message, struct ws_buf *out)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	protobuf_c_message_pack(message, (uint8_t *)ws_buf_reserve(out, size));
	out->len += size;
}

Reapi__Digest
ws_protobuf_digest(const char *hash, uint64_t size_bytes)
{
	Reapi__Digest digest;
	reapi__digest__init(&digest);
	digest.hash = ws_protobuf_borrow(hash);
	digest.size_bytes = (int64_t)size_bytes;
	return digest;
}

static void *
allocate(void *arena, size_t size)
{
	return ws_arena_alloc(arena, size);
}

static void
keep(void *arena WS_UNUSED, void *bytes WS_UNUSED)
{
}

void *
ws_protobuf_unpack(const ProtobufCMessageDescriptor *type, struct ws_str bytes, struct ws_arena *a)
{
	ProtobufCAllocator in_arena = {allocate, keep, a};
	return protobuf_c_message_unpack(type, &in_arena, bytes.n, (const uint8_t *)bytes.s);
}
