/**
 * operation.h - an Execute call: one Action that a farm runs
 *
 * The response is a stream of Operations, the last of which has the result. Some failures are
 * retried: a lost worker, a full server.
 */
#ifndef WS_REMOTE_OPERATION_H
#define WS_REMOTE_OPERATION_H

#include "remote/reapi_call.h"
#include "remote/remote_action.h"

enum ws_operation_end {
	WS_OPERATION_DONE,    /**< there is a result */
	WS_OPERATION_AGAIN,   /**< send it again after `pause_ms` */
	WS_OPERATION_MISSING, /**< send it again after its inputs were uploaded again */
	WS_OPERATION_LATE,    /**< the Action's time limit has passed */
	WS_OPERATION_FAILED,  /**< `text` has the reason */
};

struct ws_operation {
	struct ws_call call; /**< first */
	const char *instance;
	struct ws_remote_action action;
	bool skip_cache;
	unsigned attempts, refusals; /**< a refusal by a full farm is not an attempt */
	unsigned pause_ms;           /**< for AGAIN */
	int stage;                   /**< of ExecuteOperationMetadata; 0: not reported */
	int64_t staged_ms;           /**< time of the last change of `stage` */
	char name[256];         /**< the server's name of the operation, to cancel it; "": unknown */
	char text[256];         /**< FAILED: the reason */
	int error;              /**< a status in place of a response; 0: none */
	struct ws_buf response; /**< an ExecuteResponse; released by ws_operation_release */
	struct ws_buf request;  /**< private */
};

/** Prepares the first or next call; the caller's members of @a op stay. */
void ws_operation_prepare(struct ws_operation *op);

/** Interprets the end of the call. DONE: @a response, in @a a, has a result. */
enum ws_operation_end ws_operation_read_end(
	struct ws_operation *op, struct ws_arena *a, Reapi__ExecuteResponse **response);

/** True after a minute in the queue. */
bool ws_operation_waits_long(const struct ws_operation *op, int64_t now_ms);

/** The call that cancels the operation, in @a a, to be run within WS_TAKE_BACK_MS. NULL: its name
 * is unknown. */
struct ws_call *ws_operation_cancellation(const struct ws_operation *op, struct ws_arena *a);

#define WS_TAKE_BACK_MS 4000
#define WS_STAGE_EXECUTING 3 /* of ExecuteOperationMetadata */

void ws_operation_release(struct ws_operation *op);

#endif
