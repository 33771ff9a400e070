/**
 * rpc.h - gRPC: calls of one server, many at a time over one connection
 *
 * HTTP/2 is nghttp2's, the connection channel.h's. A call sends messages until next() has no more
 * and hears replies by take(), for hours if the server likes (deadline_ms 0). What is worth
 * repeating is repeated, with pauses: broken connections, refused streams, UNAVAILABLE and its
 * like. A server that says GOAWAY finishes what is open, and the rest goes over another connection;
 * one that says nothing for a while is pinged, which tells a slow answer from a dead server, and
 * asked for its health, for the reason in rpc.c.
 * Connects when the first call is made. Not thread-safe.
 *
 * Whoever has nothing else to do calls ws_rpc_run. Whoever has starts calls, turns, waits beside
 * other things until ws_rpc_fd can be read, or for 100 ms, and turns again.
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
#ifndef WS_NET_RPC_H
#define WS_NET_RPC_H

#include "base/text.h"
#include "net/channel.h"

struct ws_rpc;

/** Borrowed until it is closed. */
struct ws_rpc_config {
	struct ws_channel_config channel;
	const char *const *headers; /**< "Name: value", with every call */
	size_t header_count;
	unsigned quiet_ms; /**< nothing heard for so long while calls are open: ping; 0: 10 000 */
};

/** Of google.rpc.Code, those that are told apart. */
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
	const char *method; /**< "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities" */
	/** Before each attempt; may change the method, and may not cancel. */
	void (*begin)(struct ws_call *call);
	/** The next message, borrowed until it is asked for another; false: that was all. */
	bool (*next)(struct ws_call *call, struct ws_str *message);
	/** A reply; false: enough, the call ends as WS_RPC_CANCELLED and is not repeated. */
	bool (*take)(struct ws_call *call, struct ws_str message);
	/** It has ended, nothing looks at it any more; may start others, or itself. NULL is fine. */
	void (*end)(struct ws_call *call);
	/** Of each attempt. 0: none, and one that broke after a message came is always repeated. */
	unsigned deadline_ms;
	/* After its end. */
	bool ended;
	enum ws_rpc_status status; /**< the server's, or other numbers of google.rpc.Code */
	bool silent;               /**< the server gave no answer */
	char text[200];            /**< the server's words, or what broke; on one line */
	void *stream;              /**< private */
};

struct ws_rpc *ws_rpc_open(const struct ws_rpc_config *config);

/** NULL is fine. Calls that take part are told nothing. */
void ws_rpc_close(struct ws_rpc *rpc);

/** Borrowed until its end. Nothing is sent before the next turn. */
void ws_rpc_start(struct ws_rpc *rpc, struct ws_call *call);

/** Ends it, as WS_RPC_CANCELLED; the server is told by the next turn. One that has ended stays. */
void ws_rpc_cancel(struct ws_rpc *rpc, struct ws_call *call);

/** Sends and receives what can be, and looks at the clock; returns when something came, or after
 * @a timeout_ms at the latest. Connects where there is no connection but a call, and waits for that
 * as long as it may take (ws_wire_peer). */
void ws_rpc_turn(struct ws_rpc *rpc, unsigned timeout_ms);

/** Of the connection; -1: there is none now. */
int ws_rpc_fd(const struct ws_rpc *rpc);

/** More is to be sent than the connection takes now: wait until it can be written, too. */
bool ws_rpc_is_sending(const struct ws_rpc *rpc);

/** Starts them, and turns until all have ended, whatever their ends are. False: the run is to
 * stop, they were cancelled. */
bool ws_rpc_run(struct ws_rpc *rpc, struct ws_call *const *calls, size_t count);

#endif
