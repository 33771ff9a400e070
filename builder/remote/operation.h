/**
 * operation.h - one Action that a farm was asked to run
 *
 * Execute answers by a stream of Operations, the last of which has the result. What is worth asking
 * again is asked again, a few times: a worker that was lost, a server that had no room.
 */
#ifndef WS_REMOTE_OPERATION_H
#define WS_REMOTE_OPERATION_H

#include "net/rpc.h"
#include "remote/reapi.pb-c.h"
#include "remote/reapi_call.h"
#include "remote/remote_action.h"

enum ws_operation_end {
	WS_OPERATION_DONE,    /**< there is a result */
	WS_OPERATION_AGAIN,   /**< it is to be asked once more, after `pause_ms` */
	WS_OPERATION_MISSING, /**< the same, once what it needs was sent anew */
	WS_OPERATION_LATE,    /**< it ran for as long as the Action may take */
	WS_OPERATION_FAILED,  /**< `text` says why */
};

struct ws_operation {
	struct ws_call call; /**< first */
	const char *instance;
	struct ws_remote_action action;
	bool skip_cache;
	unsigned attempts, refusals; /**< refused by a farm that is full, it was no attempt */
	unsigned pause_ms;           /**< AGAIN */
	int stage;                   /**< of ExecuteOperationMetadata; 0: nothing was said */
	int64_t staged_ms;           /**< since when */
	char name[256];              /**< the server's, to cancel it; "": not told */
	char text[256];              /**< FAILED: why */
	int error;                   /**< a status that came instead of a response; 0: none */
	struct ws_buf response;      /**< of ExecuteResponse; released by ws_operation_release */
	/* Private. */
	struct ws_buf request;
	bool sent;
};

/** What is to be called, once more or for the first time; the caller's own of @a op stays. */
void ws_operation_prepare(struct ws_operation *op);

/** The call has ended. DONE: @a response, in @a a, has a result. */
enum ws_operation_end ws_operation_hear(
	struct ws_operation *op, struct ws_arena *a, Reapi__ExecuteResponse **response);

/** It has been queued for a minute. */
bool ws_operation_waits_long(const struct ws_operation *op, int64_t now_ms);

/** Prepares the call that takes it back, which is the caller's to run, in WS_TAKE_BACK_MS; false:
 * the server has not told its name. */
bool ws_operation_take_back(
	const struct ws_operation *op, struct ws_unary *unary, struct ws_arena *a);

#define WS_TAKE_BACK_MS 4000
#define WS_STAGE_EXECUTING 3 /* of ExecuteOperationMetadata */

void ws_operation_release(struct ws_operation *op);

#endif
