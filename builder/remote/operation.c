/* operation.c - reads the stream of Operations and interprets its end. */
#include "remote/operation.h"

#include "sys/clock.h"

#define ATTEMPTS 5
#define REFUSALS 30 /* a few minutes */
#define PAUSE_MS 500
#define LONGEST_PAUSE_MS 10000
#define QUEUED 2
#define QUEUED_TOO_LONG_MS 60000
#define FAILED_PRECONDITION 9

static void
begin_execute(struct ws_call *call)
{
	struct ws_operation *op = (struct ws_operation *)call;
	op->stage = 0;
	op->error = 0;
	op->name[0] = '\0';
	ws_buf_clear(&op->response);
}

static struct ws_str
bytes_of(const Reapi__Any *any)
{
	return (struct ws_str){(const char *)any->value.data, any->value.len};
}

/* Reads an Operation; the last one holds the response. */
static bool
read_operation(struct ws_call *call, struct ws_str message)
{
	struct ws_operation *op = (struct ws_operation *)call;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const Reapi__Operation *said = ws_protobuf_unpack(&reapi__operation__descriptor, message, a);
	if (!said) {
		return true; /* malformed: the end will lack a response */
	}
	snprintf(op->name, sizeof(op->name), "%s", said->name);
	const Reapi__ExecuteOperationMetadata *metadata = said->metadata
		? ws_protobuf_unpack(
			&reapi__execute_operation_metadata__descriptor, bytes_of(said->metadata), a)
		: NULL;
	if (metadata && metadata->stage != op->stage) {
		op->stage = metadata->stage;
		op->staged_ms = ws_clock_ms();
	}
	if (said->done && said->response) {
		struct ws_str response = bytes_of(said->response);
		ws_buf_clear(&op->response);
		ws_buf_add(&op->response, response.s, response.n);
	} else if (said->done && said->error) {
		op->error = said->error->code;
		snprintf(op->text, sizeof(op->text), "%s (gRPC status %d)", said->error->message,
			(int)said->error->code);
	}
	return true;
}

void
ws_operation_prepare(struct ws_operation *op)
{
	Reapi__ExecuteRequest request;
	Reapi__Digest digest = ws_protobuf_digest(op->action.digest, op->action.size_bytes);
	reapi__execute_request__init(&request);
	request.instance_name = ws_protobuf_borrow(op->instance);
	request.skip_cache_lookup = op->skip_cache;
	request.action_digest = &digest;
	ws_buf_clear(&op->request);
	ws_protobuf_pack(&request, &op->request);
	op->attempts++;
	op->text[0] = '\0';
	op->call.method = "/build.bazel.remote.execution.v2.Execution/Execute";
	op->call.message = ws_buf_str(&op->request);
	op->call.begin = begin_execute;
	op->call.take = read_operation;
}

bool
ws_operation_waits_long(const struct ws_operation *op, int64_t now_ms)
{
	return op->stage == QUEUED && now_ms - op->staged_ms > QUEUED_TOO_LONG_MS;
}

struct ws_call *
ws_operation_cancellation(const struct ws_operation *op, struct ws_arena *a)
{
	Reapi__CancelOperationRequest request;
	if (!op->name[0]) {
		return NULL;
	}
	reapi__cancel_operation_request__init(&request);
	request.name = ws_arena_strdup(a, op->name);
	struct ws_call *call = WS_NEW(a, struct ws_call);
	*call = ws_unary_make("/google.longrunning.Operations/CancelOperation", &request, a);
	call->deadline_ms = WS_TAKE_BACK_MS;
	return call;
}

void
ws_operation_release(struct ws_operation *op)
{
	ws_buf_release(&op->request);
	ws_buf_release(&op->response);
}

static enum ws_operation_end
set_failure(struct ws_operation *op, const char *text, int status)
{
	if (op->text[0] == '\0') {
		snprintf(op->text, sizeof(op->text), "%s (gRPC status %d)", text[0] ? text : "no details",
			status);
	}
	return WS_OPERATION_FAILED;
}

/* Pauses are longer each time. */
static enum ws_operation_end
again(struct ws_operation *op, unsigned times)
{
	unsigned pause_ms = (unsigned)PAUSE_MS << (times < 8 ? times : 8);
	op->pause_ms = pause_ms < LONGEST_PAUSE_MS ? pause_ms : LONGEST_PAUSE_MS;
	return WS_OPERATION_AGAIN;
}

/* Interprets a status in place of a result. */
static enum ws_operation_end
interpret_status(struct ws_operation *op, int status, const char *text)
{
	switch (status) {
	case WS_RPC_NOT_FOUND:
	case FAILED_PRECONDITION:
	case WS_RPC_INTERNAL: /* of buildbox-casd, for a missing input */
		return op->attempts < ATTEMPTS ? WS_OPERATION_MISSING : set_failure(op, text, status);
	case WS_RPC_CANCELLED:
	case WS_RPC_UNKNOWN:
	case WS_RPC_DEADLINE:
	case WS_RPC_EXHAUSTED:
	case WS_RPC_ABORTED:
	case WS_RPC_UNAVAILABLE:
		return op->attempts < ATTEMPTS ? again(op, op->attempts) : set_failure(op, text, status);
	default:
		return set_failure(op, text, status);
	}
}

/* The same for a status in an Operation, where a farm without a queue reports that it is full. */
static enum ws_operation_end
interpret_operation_status(struct ws_operation *op, int status, const char *text)
{
	if (status == WS_RPC_EXHAUSTED && op->refusals < REFUSALS) {
		op->attempts--;
		return again(op, op->refusals++);
	}
	return interpret_status(op, status, text);
}

enum ws_operation_end
ws_operation_read_end(
	struct ws_operation *op, struct ws_arena *a, Reapi__ExecuteResponse **response)
{
	const struct ws_call *call = &op->call;
	int ended = (int)call->status;
	if (ended == WS_RPC_UNIMPLEMENTED) {
		return set_failure(op, "it stores results and runs nothing: it has no Execution", ended);
	}
	if (ended != WS_RPC_OK) {
		return call->silent || ended == WS_RPC_UNAVAILABLE /* rpc.h has retried */
			? set_failure(op, call->text, ended)
			: interpret_status(op, ended, call->text);
	}
	if (op->response.len == 0) {
		return interpret_operation_status(
			op, op->error ? op->error : WS_RPC_UNKNOWN, "it ended without a result");
	}
	*response =
		ws_protobuf_unpack(&reapi__execute_response__descriptor, ws_buf_str(&op->response), a);
	if (!*response) {
		return interpret_status(op, WS_RPC_UNKNOWN, "it sent a malformed result");
	}
	const Reapi__Status *status = (*response)->status;
	if (status && status->code == WS_RPC_DEADLINE) {
		set_failure(op, "it took longer than an action may", WS_RPC_DEADLINE);
		return WS_OPERATION_LATE;
	}
	if (status && status->code != WS_RPC_OK) {
		return interpret_operation_status(op, status->code, status->message);
	}
	if (!(*response)->result) {
		return interpret_status(op, WS_RPC_UNKNOWN, "it ended without a result");
	}
	/* A cached failure: run it again, it may have been a lack of memory. */
	if ((*response)->cached_result && (*response)->result->exit_code != 0 && !op->skip_cache) {
		op->skip_cache = true;
		op->pause_ms = 0;
		return WS_OPERATION_AGAIN;
	}
	return WS_OPERATION_DONE;
}
