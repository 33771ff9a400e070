/**
 * server.h - the server of the user's configuration: where it is and what goes with every request
 *
 * Results are shared through it (shared_results.h), and actions run by it (execution.h).
 */
#ifndef WS_REMOTE_SERVER_H
#define WS_REMOTE_SERVER_H

#include "net/http.h"
#include "net/rpc.h"

/** All borrowed. */
struct ws_server_config {
	const char *endpoint; /**< http or https URL, without a slash at its end; grpc(s)://HOST:PORT */
	const char *instance; /**< of a gRPC server; NULL */
	const char *certificate, *certificate_key; /**< for TLS by gRPC; NULL */
	const char *https_proxy;                   /**< for the same; NULL: none */
	const char *headers; /**< file with "Name: value" lines that go with every request; NULL */
	const char *ca_path, *netrc_path;
	struct ws_stop *stop;
};

struct ws_server {
	const char *endpoint;
	const char *shown; /**< the endpoint, for people */
	bool is_grpc;
	const char *headers[WS_REQUEST_HEADERS]; /**< "Name: value" */
	size_t header_count;
	const char *ca_path, *netrc_path;
	struct ws_stop *stop;
	/* By gRPC: */
	struct ws_rpc_config rpc;
	const char *instance; /**< "": none */
};

/** Reads the headers, and asks nobody. NULL: WS_ERR_CONFIG. Lives in @a a. */
struct ws_server *ws_server_open(
	const struct ws_server_config *config, struct ws_arena *a, struct ws_err *err);

#endif
