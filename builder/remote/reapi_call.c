#include "remote/reapi_call.h"

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
allocate_in_arena(void *arena, size_t size)
{
	return ws_arena_alloc(arena, size);
}

static void
keep_in_arena(void *arena WS_UNUSED, void *bytes WS_UNUSED)
{
}

void *
ws_protobuf_unpack(const ProtobufCMessageDescriptor *type, struct ws_str bytes, struct ws_arena *a)
{
	ProtobufCAllocator in_arena = {allocate_in_arena, keep_in_arena, a};
	return protobuf_c_message_unpack(type, &in_arena, bytes.n, (const uint8_t *)bytes.s);
}

/* ---- calls ---- */

#define ANSWER_MS 10000
#define SLOWEST_BYTES_MS 64 /* 64 KB/s */
#define LONGEST_MS 3600000

struct ws_call
ws_unary_make(const char *method, const void *request, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf packed = {0};
	ws_protobuf_pack(request, &packed);
	return (struct ws_call){.method = method, .message = {ws_buf_copy(&packed, a), packed.len}};
}

unsigned
ws_call_deadline_ms(uint64_t bytes)
{
	uint64_t ms = ANSWER_MS + bytes / SLOWEST_BYTES_MS;
	return ms < LONGEST_MS ? (unsigned)ms : LONGEST_MS;
}

bool
ws_unary_run(
	struct ws_rpc *rpc, struct ws_call *all, size_t count, uint64_t bytes, struct ws_arena *a)
{
	struct ws_call **calls = WS_NEW_N(a, struct ws_call *, count);
	for (size_t i = 0; i < count; i++) {
		calls[i] = &all[i];
		calls[i]->deadline_ms = ws_call_deadline_ms(bytes + all[i].message.n);
	}
	return ws_rpc_run(rpc, calls, count);
}

void
ws_call_came(const struct ws_call *call, struct ws_item *item)
{
	if (call->status == WS_RPC_OK) {
		item->came = WS_CAME_WHOLE;
		return;
	}
	enum ws_came came = call->status == WS_RPC_NOT_FOUND ? WS_CAME_NOT
		: call->silent                                   ? WS_CAME_SILENT
														 : WS_CAME_REFUSED;
	ws_item_set(item, came, "%s: %s (gRPC status %d)", strrchr(call->method, '/') + 1,
		call->text[0] ? call->text : "no details", (int)call->status);
}

bool
ws_unary_came(const struct ws_call *unary, struct ws_item *item)
{
	ws_call_came(unary, item);
	if (item->came == WS_CAME_WHOLE && !unary->received) {
		ws_item_set(item, WS_CAME_REFUSED, "%s: no reply", strrchr(unary->method, '/') + 1);
	}
	return item->came == WS_CAME_WHOLE;
}

void *
ws_unary_read(const struct ws_call *unary, const ProtobufCMessageDescriptor *type,
	struct ws_item *item, struct ws_arena *a)
{
	void *reply = NULL;
	if (ws_unary_came(unary, item)
		&& !(reply = ws_protobuf_unpack(type, ws_buf_str(&unary->reply), a))) {
		ws_item_set(
			item, WS_CAME_REFUSED, "%s: a malformed reply", strrchr(unary->method, '/') + 1);
	}
	return reply;
}
