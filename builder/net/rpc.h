/**
 * rpc.h - gRPC client: many concurrent calls to one server over one connection
 *
 * Uses nghttp2 over a channel.h connection, which opens with the first call. A call sends messages
 * until next() has no more, and receives replies by take(), for hours with deadline_ms 0.
 *
 * - Retried, with pauses: broken connections, refused streams, UNAVAILABLE, RESOURCE_EXHAUSTED,
 *   ABORTED.
 * - A refused connection ends waiting calls, unless the server responded earlier: then it may be
 *   restarting, and connecting is retried for 15 s.
 * - After GOAWAY open calls finish, others go over a new connection.
 * - A ping on a quiet connection distinguishes a slow answer from a dead server.
 *
 * A caller with nothing else to do uses ws_rpc_run. A caller with an event loop starts calls, and
 * calls ws_rpc_turn whenever ws_rpc_fd is readable, and at least every 100 ms. Not thread-safe.
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
#ifndef WS_NET_RPC_H
#define WS_NET_RPC_H

#include "net/channel.h"

struct ws_rpc;

/** Borrowed until ws_rpc_close. */
struct ws_rpc_config {
	struct ws_channel_config channel;
	const char *const *headers; /**< "Name: value", with every call */
	size_t header_count;
	unsigned quiet_ms; /**< time without data until a ping; 0: 10 000 */
	/** Called every 20 ms while ws_rpc_run waits, with `waiting_for`. NULL is fine. */
	void (*while_waiting)(void *waiting_for);
	void *waiting_for;
};

/** The codes of google.rpc.Code that callers distinguish. */
enum ws_rpc_status {
	WS_RPC_OK = 0,
	WS_RPC_CANCELLED = 1,
	WS_RPC_UNKNOWN = 2,
	WS_RPC_DEADLINE = 4,
	WS_RPC_NOT_FOUND = 5,
	WS_RPC_DENIED = 7,
	WS_RPC_EXHAUSTED = 8,
	WS_RPC_ABORTED = 10,
	WS_RPC_UNIMPLEMENTED = 12,
	WS_RPC_INTERNAL = 13,
	WS_RPC_UNAVAILABLE = 14,
	WS_RPC_UNAUTHENTICATED = 16,
};

/** First member of its owner's struct. */
struct ws_call {
	const char *method;    /**< "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities" */
	struct ws_str message; /**< the only one to send, without next(); borrowed until the end */
	/** Before each attempt; may not cancel. NULL is fine. */
	void (*begin)(struct ws_call *call);
	/** The next message, borrowed until the next call of next(); false: all were sent. */
	bool (*next)(struct ws_call *call, struct ws_str *message);
	/** Receives a reply; false ends the call as WS_RPC_CANCELLED, without a retry. NULL: the last
	 * one stays in `reply`. */
	bool (*take)(struct ws_call *call, struct ws_str message);
	/** Called last; may start other calls, or this one again. NULL is fine. */
	void (*end)(struct ws_call *call);
	/** Timeout of each attempt. 0: none; a call that breaks after its first reply is always
	 * retried. */
	unsigned deadline_ms;
	/* After its end. */
	bool ended;
	enum ws_rpc_status status; /**< the server's; may be another number of google.rpc.Code */
	bool silent;               /**< the server did not answer */
	bool received;             /**< a reply came */
	struct ws_buf reply;       /**< without take(); released by the caller */
	char text[200];            /**< the server's message or a local error, on one line */
	void *stream;              /**< private */
};

struct ws_rpc *ws_rpc_open(const struct ws_rpc_config *config);

/** NULL is fine. Does not call end() of open calls. */
void ws_rpc_close(struct ws_rpc *rpc);

/** Starts a call, borrowed until its end. The next turn sends it. */
void ws_rpc_start(struct ws_rpc *rpc, struct ws_call *call);

/** Ends a call as WS_RPC_CANCELLED; the next turn resets its stream. An ended call stays as it
 * is. */
void ws_rpc_cancel(struct ws_rpc *rpc, struct ws_call *call);

/** Sends, receives and checks timeouts; returns after data was received, or after @a timeout_ms.
 * Connects first if needed, which may take as long as ws_wire_peer allows. */
void ws_rpc_turn(struct ws_rpc *rpc, unsigned timeout_ms);

/** The descriptor of the connection; -1: not connected. */
int ws_rpc_fd(const struct ws_rpc *rpc);

/** Starts the calls and returns when all have ended, with whatever status. False: a stop was
 * requested and the rest was cancelled. */
bool ws_rpc_run(struct ws_rpc *rpc, struct ws_call *const *calls, size_t count);

#endif
