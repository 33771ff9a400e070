/**
 * rpc_served.h - a gRPC server on loopback for a test: nghttp2's own side of servers, in a child
 *
 * The last part of a method's path says what the server does with a call:
 *   Echo     sends the request back, and OK
 *   Hold     sends one message, and keeps the call open until somebody calls Release
 *   Mute     says nothing, until Release
 *   Release  ends all calls that are held or mute with OK
 *   Break    sends one message and resets the stream; every fourth such call ends with OK
 *   Leave    sends one message and closes the connection; every fourth such call ends with OK
 *   Crowd    RESOURCE_EXHAUSTED while more than 10 calls are open; else like Echo
 *   Burst    RESOURCE_EXHAUSTED for the first 100 calls; then like Echo
 *   Restart  closes all connections and refuses others for two seconds; then like Echo
 *   Seen     answers with a struct ws_rpc_seen
 * Other calls get UNIMPLEMENTED. It closes the connection at a fourth ping without data, as gRPC's
 * own servers do.
 * Ends with the test program.
 */
#ifndef WS_TESTS_UNIT_RPC_SERVED_H
#define WS_TESTS_UNIT_RPC_SERVED_H

#include <stdint.h>

struct ws_rpc_seen {
	uint32_t calls, resets, open, most_open, most_mute, connections;
};

/** @a streams: so many of a connection at once. Its port. */
unsigned ws_rpc_serve(unsigned streams);

#endif
