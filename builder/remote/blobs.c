/* blobs.c - small files go in batches, large ones as streams. */
#include "remote/blobs.h"

#include "base/crypto.h"
#include "base/fs.h"
#include "remote/reapi_call.h"

#include <fcntl.h>
#include <sys/random.h>

#define CHUNK ((size_t)64 << 10)

typedef WS_VEC(struct ws_item *) item_list;

struct stream {
	struct ws_call call; /* first */
	const struct ws_blobs *blobs;
	struct ws_item *item;
	const char *resource; /* name of the upload of this attempt */
	struct ws_arena *a;
	int fd;
	uint64_t done_bytes;
	struct ws_buf message;
	struct ws_hasher *hasher;
	bool wrong, committed;
	struct ws_err failure; /* a local error */
};

/* Thousands of files may be in a list: each call releases its resources at its end. */
static void
release_stream(struct stream *s)
{
	if (s->fd >= 0) {
		close(ws_take_fd(&s->fd));
	}
	ws_hasher_drop(s->hasher);
	s->hasher = NULL;
	ws_buf_release(&s->message);
}

/* "INSTANCE/blobs/HASH/SIZE" */
static const char *
name_blob(const struct stream *s, const char *folder)
{
	const char *instance = s->blobs->instance;
	return ws_arena_printf(s->a, "%s%s%sblobs/%s/%llu", instance, instance[0] ? "/" : "", folder,
		s->item->key, (unsigned long long)s->item->size_bytes);
}

static void
open_stream(struct stream *s, const char *resource, int flags)
{
	release_stream(s);
	s->done_bytes = 0;
	s->wrong = s->committed = false;
	s->failure = (struct ws_err){0};
	s->resource = resource;
	s->fd = open(s->item->path, flags | O_CLOEXEC, 0600);
	if (s->fd < 0) {
		ws_err_sys(&s->failure, WS_ERR_IO, "cannot open '%s'", s->item->path);
	}
}

/* ---- getting ---- */

static void
begin_get(struct ws_call *call)
{
	struct stream *s = (struct stream *)call;
	Reapi__ReadRequest request;
	open_stream(s, name_blob(s, ""), O_WRONLY | O_CREAT | O_TRUNC);
	s->hasher = ws_hasher_make();
	reapi__read_request__init(&request);
	request.resource_name = ws_protobuf_borrow(s->resource);
	ws_protobuf_pack(&request, &s->message);
	call->message = ws_buf_str(&s->message);
}

static bool
write_part(struct ws_call *call, struct ws_str message)
{
	struct stream *s = (struct stream *)call;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const Reapi__ReadResponse *part =
		ws_protobuf_unpack(&reapi__read_response__descriptor, message, a);
	if (s->fd < 0) {
		return false;
	}
	s->wrong = !part || part->data.len > s->item->size_bytes - s->done_bytes;
	if (s->wrong) {
		return false;
	}
	s->done_bytes += part->data.len;
	ws_hasher_add(s->hasher, part->data.data, part->data.len);
	return ws_fs_write_all(s->fd, (const char *)part->data.data, part->data.len)
		|| ws_err_sys(&s->failure, WS_ERR_IO, "cannot write '%s'", s->item->path);
}

static void
end_get(struct ws_call *call)
{
	struct stream *s = (struct stream *)call;
	ws_call_came(call, s->item);
	if (s->wrong) {
		s->item->came = WS_CAME_WRONG;
	} else if (s->failure.kind != WS_ERR_NONE) {
		ws_item_set(s->item, WS_CAME_REFUSED, "%s", s->failure.text);
		s->item->ours = true;
	} else if (s->item->came == WS_CAME_WHOLE) {
		struct ws_digest digest = ws_hasher_finish(s->hasher);
		s->hasher = NULL;
		s->item->came = ws_digest_is(&digest, s->item->key) ? WS_CAME_WHOLE : WS_CAME_WRONG;
	}
	release_stream(s);
}

/* ---- putting ---- */

/* Each attempt is a new upload, "uploads/UUID/blobs/...". */
static void
begin_put(struct ws_call *call)
{
	struct stream *s = (struct stream *)call;
	uint16_t r[8] = {0};
	if (getrandom(r, sizeof(r), 0) != sizeof(r)) {
		abort();
	}
	const char *folder = ws_arena_printf(s->a, "uploads/%04x%04x-%04x-4%03x-8%03x-%04x%04x%04x/",
		r[0], r[1], r[2], r[3] & 0xfffu, r[4] & 0xfffu, r[5], r[6], r[7]);
	open_stream(s, name_blob(s, folder), O_RDONLY);
}

static bool
send_part(struct ws_call *call, struct ws_str *message)
{
	struct stream *s = (struct stream *)call;
	uint8_t bytes[CHUNK];
	ssize_t got;
	Reapi__WriteRequest request;
	reapi__write_request__init(&request);
	if (s->done_bytes == s->item->size_bytes) {
		return false;
	}
	got = s->fd >= 0 ? read(s->fd, bytes, sizeof(bytes)) : 0;
	if (got < 0) {
		return ws_err_sys(&s->failure, WS_ERR_IO, "cannot read '%s'", s->item->path);
	}
	if (got == 0) { /* the file is too short, and the server will refuse it */
		return false;
	}
	request.resource_name = ws_protobuf_borrow(s->done_bytes == 0 ? s->resource : "");
	request.write_offset = (int64_t)s->done_bytes;
	request.data = (ProtobufCBinaryData){(size_t)got, bytes};
	s->done_bytes += (uint64_t)got;
	request.finish_write = s->done_bytes == s->item->size_bytes;
	ws_buf_clear(&s->message);
	ws_protobuf_pack(&request, &s->message);
	*message = ws_buf_str(&s->message);
	return true;
}

/* A server that already has the file replies before it was sent. */
static bool
read_committed(struct ws_call *call, struct ws_str message)
{
	struct stream *s = (struct stream *)call;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const Reapi__WriteResponse *reply =
		ws_protobuf_unpack(&reapi__write_response__descriptor, message, a);
	s->committed = reply && reply->committed_size >= 0
		&& (uint64_t)reply->committed_size == s->item->size_bytes;
	return true;
}

static void
end_put(struct ws_call *call)
{
	struct stream *s = (struct stream *)call;
	ws_call_came(call, s->item);
	if (s->failure.kind != WS_ERR_NONE) {
		ws_item_set(s->item, WS_CAME_REFUSED, "%s", s->failure.text);
	} else if (s->item->came == WS_CAME_WHOLE && !s->committed) {
		ws_item_set(s->item, WS_CAME_REFUSED, "Write: the server did not store all of '%.12s'",
			s->item->key);
	}
	release_stream(s);
}

/* ---- both ---- */

/* @a call: method and callbacks of each stream. */
static bool
run_streams(const struct ws_blobs *blobs, const item_list *items, struct ws_call call)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct stream *all = WS_NEW_N(a, struct stream, items->len);
	struct ws_call **calls = WS_NEW_N(a, struct ws_call *, items->len);
	uint64_t bytes = 0;
	for (size_t i = 0; i < items->len; i++) {
		bytes += items->at[i]->size_bytes;
	}
	call.deadline_ms = ws_call_deadline_ms(bytes);
	for (size_t i = 0; i < items->len; i++) {
		all[i] =
			(struct stream){.call = call, .blobs = blobs, .item = items->at[i], .a = a, .fd = -1};
		calls[i] = &all[i].call;
	}
	return ws_rpc_run(blobs->rpc, calls, items->len);
}

/* ---- batches ---- */

#define CAS "/build.bazel.remote.execution.v2.ContentAddressableStorage/"
#define BESIDES 256                   /* bytes of a message besides the file: digest, lengths */
#define ASKED_AT_ONCE ((size_t)12000) /* digests of 71 bytes each: below 1 MiB */
#define ROUND 16                      /* concurrent batches: their bytes are in memory */

/* The items of one call, adjacent in a list. */
struct batch {
	struct ws_item **items;
	size_t count;
	uint64_t bytes;
};

static bool
is_small(const struct ws_blobs *blobs, const struct ws_item *item)
{
	return item->size_bytes + BESIDES <= blobs->batch_bytes;
}

static Reapi__Digest **
digests_of(struct ws_item *const *items, size_t count, struct ws_arena *a)
{
	Reapi__Digest *digests = WS_NEW_N(a, Reapi__Digest, count);
	Reapi__Digest **all = WS_NEW_N(a, Reapi__Digest *, count);
	for (size_t i = 0; i < count; i++) {
		digests[i] = ws_protobuf_digest(items[i]->key, items[i]->size_bytes);
		all[i] = &digests[i];
	}
	return all;
}

/* Sets the state of a file from its status in a batch. */
static void
set_item_status(struct ws_item *item, const Reapi__Status *status)
{
	if (!status || status->code == WS_RPC_OK) {
		item->came = WS_CAME_WHOLE;
		return;
	}
	ws_item_set(item, status->code == WS_RPC_NOT_FOUND ? WS_CAME_NOT : WS_CAME_REFUSED,
		"file %.12s: %s (gRPC status %d)", item->key, status->message, (int)status->code);
}

/* ---- getting ---- */

static void
write_file(struct ws_item *item, const ProtobufCBinaryData *data)
{
	struct ws_digest digest = ws_digest_bytes(data->data, data->len);
	struct ws_err err = {0};
	if (!ws_digest_is(&digest, item->key)) {
		item->came = WS_CAME_WRONG;
	} else if (!ws_fs_write(item->path, data->data, data->len, 0600, &err)) {
		ws_item_set(item, WS_CAME_REFUSED, "%s", err.text);
		item->ours = true;
	}
}

static void
read_batch(const struct batch *batch, const struct ws_call *unary, struct ws_arena *a)
{
	struct ws_item whole = {0};
	struct ws_map responses = {0};
	const Reapi__BatchReadBlobsResponse *reply =
		ws_unary_read(unary, &reapi__batch_read_blobs_response__descriptor, &whole, a);
	for (size_t i = 0; reply && i < reply->n_responses; i++) {
		if (reply->responses[i]->digest) {
			ws_map_put(&responses, reply->responses[i]->digest->hash, reply->responses[i], a);
		}
	}
	for (size_t i = 0; i < batch->count; i++) {
		struct ws_item *item = batch->items[i];
		const Reapi__BatchReadBlobsResponse__Response *one = ws_map_get(&responses, item->key);
		if (!one) {
			ws_item_set(item, reply ? WS_CAME_NOT : whole.came, "%s", whole.failure);
			continue;
		}
		set_item_status(item, one->status);
		if (item->came == WS_CAME_WHOLE) {
			write_file(item, &one->data);
		}
	}
}

static struct ws_call
make_read(const struct ws_blobs *blobs, const struct batch *batch, struct ws_arena *a)
{
	Reapi__BatchReadBlobsRequest request;
	reapi__batch_read_blobs_request__init(&request);
	request.instance_name = ws_protobuf_borrow(blobs->instance);
	request.digests = digests_of(batch->items, batch->count, a);
	request.n_digests = batch->count;
	return ws_unary_make(CAS "BatchReadBlobs", &request, a);
}

/* ---- putting ---- */

/* Moves the items that the server lacks to @a missing. */
static bool
find_missing(const struct ws_blobs *blobs, item_list *items, item_list *missing, struct ws_arena *a)
{
	struct ws_item whole = {0};
	struct ws_map lacks = {0};
	Reapi__FindMissingBlobsRequest request;
	reapi__find_missing_blobs_request__init(&request);
	request.instance_name = ws_protobuf_borrow(blobs->instance);
	request.blob_digests = digests_of(items->at, items->len, a);
	request.n_blob_digests = items->len;
	struct ws_call unary = ws_unary_make(CAS "FindMissingBlobs", &request, a);
	bool ran = ws_unary_run(blobs->rpc, &unary, 1, 0, a);
	const Reapi__FindMissingBlobsResponse *reply = ran
		? ws_unary_read(&unary, &reapi__find_missing_blobs_response__descriptor, &whole, a)
		: NULL;
	ws_buf_release(&unary.reply);
	for (size_t i = 0; reply && i < reply->n_missing_blob_digests; i++) {
		ws_map_add(&lacks, reply->missing_blob_digests[i]->hash, a);
	}
	for (size_t i = 0; ran && i < items->len; i++) {
		ws_item_set(items->at[i], whole.came, "%s", whole.failure);
		if (reply && ws_map_get(&lacks, items->at[i]->key)) {
			*ws_vec_push(missing, a) = items->at[i];
		}
	}
	return ran;
}

static struct ws_call
make_update(const struct ws_blobs *blobs, const struct batch *batch, struct ws_arena *a)
{
	Reapi__BatchUpdateBlobsRequest request;
	Reapi__BatchUpdateBlobsRequest__Request *parts =
		WS_NEW_N(a, Reapi__BatchUpdateBlobsRequest__Request, batch->count);
	Reapi__Digest **digests = digests_of(batch->items, batch->count, a);
	reapi__batch_update_blobs_request__init(&request);
	request.instance_name = ws_protobuf_borrow(blobs->instance);
	request.requests = WS_NEW_N(a, Reapi__BatchUpdateBlobsRequest__Request *, batch->count);
	for (size_t i = 0; i < batch->count; i++) {
		reapi__batch_update_blobs_request__request__init(&parts[i]);
		parts[i].digest = digests[i];
		struct ws_item *item = batch->items[i];
		WS_AUTO_BUF struct ws_buf bytes = {0};
		struct ws_err err;
		if (!item->path) {
			parts[i].data = (ProtobufCBinaryData){item->bytes.len, (uint8_t *)item->bytes.data};
		} else if (ws_fs_read_at_most(item->path, (size_t)item->size_bytes, &bytes, &err)) {
			parts[i].data = (ProtobufCBinaryData){bytes.len, (uint8_t *)ws_buf_copy(&bytes, a)};
		} else {
			ws_item_set(item, WS_CAME_REFUSED, "%s", err.text);
			continue;
		}
		request.requests[request.n_requests++] = &parts[i];
	}
	return ws_unary_make(CAS "BatchUpdateBlobs", &request, a);
}

static void
read_update(const struct batch *batch, const struct ws_call *unary, struct ws_arena *a)
{
	struct ws_item whole = {0};
	struct ws_map responses = {0};
	const Reapi__BatchUpdateBlobsResponse *reply =
		ws_unary_read(unary, &reapi__batch_update_blobs_response__descriptor, &whole, a);
	for (size_t i = 0; reply && i < reply->n_responses; i++) {
		if (reply->responses[i]->digest) {
			ws_map_put(&responses, reply->responses[i]->digest->hash, reply->responses[i], a);
		}
	}
	for (size_t i = 0; i < batch->count; i++) {
		struct ws_item *item = batch->items[i];
		const Reapi__BatchUpdateBlobsResponse__Response *one = ws_map_get(&responses, item->key);
		if (one) {
			set_item_status(item, one->status);
		} else if (item->came != WS_CAME_REFUSED && reply) {
			ws_item_set(item, WS_CAME_REFUSED, "file %.12s: not in the reply", item->key);
		} else if (item->came != WS_CAME_REFUSED) { /* else its file could not be read */
			ws_item_set(item, whole.came, "%s", whole.failure);
		}
	}
}

/* ---- both ---- */

static bool
run_round(const struct ws_blobs *blobs, bool puts, const struct batch *batches, size_t count)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_call *all = WS_NEW_N(a, struct ws_call, count);
	for (size_t i = 0; i < count; i++) {
		all[i] = puts ? make_update(blobs, &batches[i], a) : make_read(blobs, &batches[i], a);
	}
	bool ran = ws_unary_run(blobs->rpc, all, count, count * blobs->batch_bytes, a);
	for (size_t i = 0; i < count; i++) {
		if (ran && puts) {
			read_update(&batches[i], &all[i], a);
		} else if (ran) {
			read_batch(&batches[i], &all[i], a);
		}
		ws_buf_release(&all[i].reply);
	}
	return ran;
}

static bool
run_rounds(const struct ws_blobs *blobs, bool puts, const item_list *small, struct ws_arena *a)
{
	struct batch *batches = WS_NEW_N(a, struct batch, small->len);
	size_t count = 0;
	for (size_t i = 0; i < small->len; i++) {
		uint64_t bytes = small->at[i]->size_bytes + BESIDES;
		if (count == 0 || batches[count - 1].bytes + bytes > blobs->batch_bytes) {
			batches[count++] = (struct batch){.items = &small->at[i]};
		}
		batches[count - 1].count++;
		batches[count - 1].bytes += bytes;
	}
	bool ran = true;
	for (size_t i = 0; i < count && ran; i += ROUND) {
		ran = run_round(blobs, puts, &batches[i], count - i < ROUND ? count - i : ROUND);
	}
	return ran;
}

bool
ws_blobs_get(const struct ws_blobs *blobs, struct ws_item *items, size_t count)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_digest empty = ws_digest_bytes("", 0);
	ProtobufCBinaryData nothing = {0};
	item_list small = {0}, large = {0};
	for (size_t i = 0; i < count; i++) {
		struct ws_item *item = &items[i];
		if (ws_digest_is(&empty, item->key)) {
			item->came = WS_CAME_WHOLE;
			write_file(item, &nothing);
		} else if (item->size_bytes > 0) {
			*ws_vec_push(is_small(blobs, item) ? &small : &large, a) = item;
		}
	}
	return run_rounds(blobs, false, &small, a)
		&& run_streams(blobs, &large,
			(struct ws_call){.method = "/google.bytestream.ByteStream/Read",
				.begin = begin_get,
				.take = write_part,
				.end = end_get});
}

bool
ws_blobs_put(const struct ws_blobs *blobs, struct ws_item *items, size_t count)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	bool ran = true;
	for (size_t i = 0; i < count && ran; i += ASKED_AT_ONCE) {
		item_list asked = {0}, missing = {0}, small = {0}, large = {0};
		for (size_t j = i; j < count && j < i + ASKED_AT_ONCE; j++) {
			*ws_vec_push(&asked, a) = &items[j];
		}
		ran = find_missing(blobs, &asked, &missing, a);
		for (size_t j = 0; j < missing.len; j++) {
			*ws_vec_push(is_small(blobs, missing.at[j]) ? &small : &large, a) = missing.at[j];
		}
		ran = ran && run_rounds(blobs, true, &small, a)
			&& run_streams(blobs, &large,
				(struct ws_call){.method = "/google.bytestream.ByteStream/Write",
					.begin = begin_put,
					.next = send_part,
					.take = read_committed,
					.end = end_put});
	}
	return ran;
}
