/**
 * channel.h - a byte stream to one server, with or without TLS
 *
 * For rpc.h, whose protocol libcurl does not support. libcurl makes the connection (wire.h), since
 * it handles several addresses and proxies. TLS is libssl's, 1.2 or newer, with the protocol "h2".
 * Opening blocks; reading and writing do not. Not thread-safe.
 */
#ifndef WS_NET_CHANNEL_H
#define WS_NET_CHANNEL_H

#include "net/wire.h"
#include "sys/stop.h"

/** Borrowed by ws_channel_open. */
struct ws_channel_config {
	struct ws_wire_peer peer;
	bool tls;
	const char *ca_path;   /**< bundle or folder of certificates; NULL: the system's */
	const char *cert_path; /**< client certificate, PEM, with key_path; NULL: none */
	const char *key_path;
	struct ws_stop *stop; /**< interrupts waiting; NULL: nothing does */
};

struct ws_channel;

/** NULL: WS_ERR_FETCH, or WS_ERR_CONFIG for files that cannot be read. */
struct ws_channel *ws_channel_open(const struct ws_channel_config *config, struct ws_err *err);

/** NULL is fine. */
void ws_channel_close(struct ws_channel *channel);

/** Number of bytes read; 0: none yet; -1: the connection is broken, WS_ERR_FETCH. */
ptrdiff_t ws_channel_read(struct ws_channel *channel, void *to, size_t room, struct ws_err *err);

/** Number of bytes written; write the rest later, from the same text. -1 as above. */
ptrdiff_t ws_channel_write(
	struct ws_channel *channel, const void *from, size_t len, struct ws_err *err);

/** The descriptor, for callers that poll several. */
int ws_channel_fd(const struct ws_channel *channel);

/** Waits at most @a ms until the channel is readable or, with @a sends, writable. */
void ws_channel_wait(struct ws_channel *channel, bool sends, unsigned ms);

#endif
