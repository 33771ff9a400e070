/**
 * shared.h - "remote" of the user's configuration: where results are shared
 *
 * {"endpoint": "https://cache.example.com/wheels", "access": "write", "headers": "~/headers",
 *  "key": "~/records.pem", "trust": ["~/ci.pem.pub"]}, or with "grpcs://cache.example.com:8980" as
 * the endpoint, "instance", "certificate" and "certificate_key"; where that server runs actions,
 * "platform": ["OSFamily=linux"] and "slots": 64
 */
#ifndef WS_CONFIG_SHARED_H
#define WS_CONFIG_SHARED_H

#include "base/table.h"

enum ws_remote_access {
	WS_REMOTE_READ,
	WS_REMOTE_WRITE,
	WS_REMOTE_NONE, /**< no results: it only runs actions */
};

struct ws_user_remote {
	const char *endpoint; /**< without a slash at its end; NULL: nothing is shared */
	const char *instance; /**< of a gRPC server; NULL: none */
	const char *certificate, *certificate_key; /**< files, for TLS by gRPC; NULL: none */
	enum ws_remote_access access;
	const char *headers;      /**< file, absolute; NULL */
	const char *key;          /**< likewise; never NULL with WRITE */
	const char *const *trust; /**< files; at least one, unless there is a key, or NONE */
	size_t trust_count;
	const char *const *properties; /**< of workers that run actions, "NAME=VALUE" */
	size_t property_count;
	unsigned slots; /**< how many actions are there at once; 0: not said */
};

/** Reads an object into a struct ws_user_remote. */
extern const struct ws_type ws_type_user_remote;

#endif
