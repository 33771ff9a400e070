/**
 * channel.h - bytes to and from one server, with TLS where it is asked for
 *
 * For protocols that libcurl does not speak (rpc.h). The connection is libcurl's (wire.h): several
 * addresses, proxies. TLS is libssl's, version 1.2 or newer, and demands that the server chooses
 * the protocol "h2". Opening waits; reading and writing do not. Not thread-safe.
 */
#ifndef WS_NET_CHANNEL_H
#define WS_NET_CHANNEL_H

#include "net/wire.h"
#include "sys/stop.h"

/** All borrowed while it is opened. */
struct ws_channel_config {
	struct ws_wire_peer peer;
	bool tls;
	const char *ca_path;   /**< bundle or folder of certificates; NULL: the system's */
	const char *cert_path; /**< of this client, PEM, with key_path; NULL: it has none */
	const char *key_path;
	struct ws_stop *stop; /**< NULL: nothing stops us */
};

struct ws_channel;

/** NULL: WS_ERR_FETCH, or WS_ERR_CONFIG for files that cannot be read. */
struct ws_channel *ws_channel_open(const struct ws_channel_config *config, struct ws_err *err);

/** NULL is fine. */
void ws_channel_close(struct ws_channel *channel);

/** Bytes that came; 0: none for now; -1: the connection is broken, WS_ERR_FETCH. */
ptrdiff_t ws_channel_read(struct ws_channel *channel, void *to, size_t room, struct ws_err *err);

/** Bytes that were sent; the rest later, from the same text. -1 as above. */
ptrdiff_t ws_channel_write(
	struct ws_channel *channel, const void *from, size_t len, struct ws_err *err);

/** For who waits beside others until it can be read. */
int ws_channel_fd(const struct ws_channel *channel);

/** Waits at most @a ms until there may be something to read, or, where @a sends, room to write. */
void ws_channel_wait(struct ws_channel *channel, bool sends, unsigned ms);

#endif
