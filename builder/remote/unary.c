#include "remote/unary.h"

#include "remote/protobuf.h"

#include <string.h>

#define ANSWER_MS 10000
#define SLOWEST_BYTES_MS 64 /* 64 KB/s */
#define LONGEST_MS 3600000

static void
begin(struct ws_call *call)
{
	struct ws_unary *unary = (struct ws_unary *)call;
	unary->sent = unary->heard = false;
	ws_buf_clear(&unary->reply);
}

static bool
next(struct ws_call *call, struct ws_str *message)
{
	struct ws_unary *unary = (struct ws_unary *)call;
	bool first = !unary->sent;
	*message = unary->request;
	unary->sent = true;
	return first;
}

static bool
take(struct ws_call *call, struct ws_str message)
{
	struct ws_unary *unary = (struct ws_unary *)call;
	unary->heard = true;
	ws_buf_clear(&unary->reply);
	ws_buf_add(&unary->reply, message.s, message.n);
	return true;
}

void
ws_unary_prepare(
	struct ws_unary *unary, const char *method, const void *request, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf packed = {0};
	ws_protobuf_pack(request, &packed);
	unary->call = (struct ws_call){.method = method, .begin = begin, .next = next, .take = take};
	unary->request = (struct ws_str){ws_buf_copy(&packed, a), packed.len};
}

unsigned
ws_call_deadline_ms(uint64_t bytes)
{
	uint64_t ms = ANSWER_MS + bytes / SLOWEST_BYTES_MS;
	return ms < LONGEST_MS ? (unsigned)ms : LONGEST_MS;
}

bool
ws_unary_run(
	struct ws_rpc *rpc, struct ws_unary *all, size_t count, uint64_t bytes, struct ws_arena *a)
{
	struct ws_call **calls = WS_NEW_N(a, struct ws_call *, count);
	for (size_t i = 0; i < count; i++) {
		calls[i] = &all[i].call;
		calls[i]->deadline_ms = ws_call_deadline_ms(bytes + all[i].request.n);
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
	ws_item_say(item, came, "%s: %s (gRPC status %d)", strrchr(call->method, '/') + 1,
		call->text[0] ? call->text : "no details", (int)call->status);
}

bool
ws_unary_came(const struct ws_unary *unary, struct ws_item *item)
{
	ws_call_came(&unary->call, item);
	if (item->came == WS_CAME_WHOLE && !unary->heard) {
		ws_item_say(item, WS_CAME_REFUSED, "%s: no reply", strrchr(unary->call.method, '/') + 1);
	}
	return item->came == WS_CAME_WHOLE;
}
