/* blobs.c - small files go in batches, large ones as streams. */
#include "remote/blobs.h"

#include "base/crypto.h"
#include "base/fs.h"
#include "remote/reapi_call.h"

#include <fcntl.h>
#include <sys/random.h>

#define CHUNK ((size_t)64 << 10)

struct stream;

struct stream_kind {
	struct ws_call call; /* method, begin, next, take */
	void (*conclude)(struct stream *s);
};

struct stream {
	struct ws_call call; /* first */
	const struct stream_kind *kind;
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

static void
close_stream(struct stream *s)
{
	if (s->fd >= 0) {
		close(ws_take_fd(&s->fd));
	}
	ws_hasher_drop(s->hasher);
	s->hasher = NULL;
	s->done_bytes = 0;
}

/* Thousands of files may be in a list: each call releases its resources at its end. */
static void
end_call(struct ws_call *call)
{
	struct stream *s = (struct stream *)call;
	s->kind->conclude(s);
	close_stream(s);
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

/* "uploads/UUID/" */
static const char *
name_upload(struct ws_arena *a)
{
	uint16_t r[8] = {0};
	if (getrandom(r, sizeof(r), 0) != sizeof(r)) {
		abort();
	}
	return ws_arena_printf(a, "uploads/%04x%04x-%04x-4%03x-8%03x-%04x%04x%04x/", r[0], r[1], r[2],
		r[3] & 0xfffu, r[4] & 0xfffu, r[5], r[6], r[7]);
}

static void
open_stream(struct stream *s, const char *resource, int flags)
{
	close_stream(s);
	s->wrong = s->committed = false;
	s->failure = (struct ws_err){0};
	s->resource = resource;
	ws_buf_clear(&s->message);
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
	open_stream(s, name_blob(s, ""), O_WRONLY | O_CREAT | O_TRUNC);
	s->hasher = ws_hasher_make();
}

static bool
request_blob(struct ws_call *call, struct ws_str *message)
{
	struct stream *s = (struct stream *)call;
	Reapi__ReadRequest request;
	bool first = s->message.len == 0;
	reapi__read_request__init(&request);
	request.resource_name = ws_protobuf_borrow(s->resource);
	if (first) {
		ws_protobuf_pack(&request, &s->message);
		*message = ws_buf_str(&s->message);
	}
	return first;
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
conclude_get(struct stream *s)
{
	ws_call_came(&s->call, s->item);
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
}

/* ---- putting ---- */

/* Each attempt is a new upload. */
static void
begin_put(struct ws_call *call)
{
	struct stream *s = (struct stream *)call;
	open_stream(s, name_blob(s, name_upload(s->a)), O_RDONLY);
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
conclude_put(struct stream *s)
{
	ws_call_came(&s->call, s->item);
	if (s->failure.kind != WS_ERR_NONE) {
		ws_item_set(s->item, WS_CAME_REFUSED, "%s", s->failure.text);
	} else if (s->item->came == WS_CAME_WHOLE && !s->committed) {
		ws_item_set(s->item, WS_CAME_REFUSED, "Write: the server did not store all of '%.12s'",
			s->item->key);
	}
}

/* ---- both ---- */

static bool
run_streams(const struct ws_blobs *blobs, struct ws_item *const *items, size_t count,
	const struct stream_kind *kind)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct stream *all = WS_NEW_N(a, struct stream, count);
	struct ws_call **calls = WS_NEW_N(a, struct ws_call *, count);
	uint64_t bytes = 0;
	for (size_t i = 0; i < count; i++) {
		all[i] = (struct stream){
			.call = kind->call, .kind = kind, .blobs = blobs, .item = items[i], .a = a, .fd = -1};
		all[i].call.end = end_call;
		calls[i] = &all[i].call;
		bytes += items[i]->size_bytes;
	}
	for (size_t i = 0; i < count; i++) {
		calls[i]->deadline_ms = ws_call_deadline_ms(bytes);
	}
	return ws_rpc_run(blobs->rpc, calls, count);
}

static bool
get_streams(const struct ws_blobs *blobs, struct ws_item *const *items, size_t count)
{
	static const struct stream_kind get = {{.method = "/google.bytestream.ByteStream/Read",
											   .begin = begin_get,
											   .next = request_blob,
											   .take = write_part},
		conclude_get};
	return run_streams(blobs, items, count, &get);
}

static bool
put_streams(const struct ws_blobs *blobs, struct ws_item *const *items, size_t count)
{
	static const struct stream_kind put = {{.method = "/google.bytestream.ByteStream/Write",
											   .begin = begin_put,
											   .next = send_part,
											   .take = read_committed},
		conclude_put};
	return run_streams(blobs, items, count, &put);
}

/* ---- batches ---- */

#define CAS "/build.bazel.remote.execution.v2.ContentAddressableStorage/"
#define BESIDES 256                   /* bytes of a message besides the file: digest, lengths */
#define ASKED_AT_ONCE ((size_t)12000) /* digests of 71 bytes each: below 1 MiB */
#define ROUND 16                      /* concurrent batches: their bytes are in memory */

typedef WS_VEC(struct ws_item *) item_list;

/* The items of one call, adjacent in a list. */
struct batch {
	struct ws_item **items;
	size_t count;
	uint64_t bytes;
};

Reapi__Digest
ws_blob_digest(const struct ws_item *item)
{
	return ws_protobuf_digest(item->key, item->size_bytes);
}

static bool
is_small(const struct ws_blobs *blobs, const struct ws_item *item)
{
	return item->size_bytes + BESIDES <= blobs->batch_bytes;
}

static size_t
cut_batches(const struct ws_blobs *blobs, const item_list *list, struct batch *batches)
{
	size_t count = 0;
	for (size_t i = 0; i < list->len; i++) {
		uint64_t bytes = list->at[i]->size_bytes + BESIDES;
		if (count == 0 || batches[count - 1].bytes + bytes > blobs->batch_bytes) {
			batches[count++] = (struct batch){.items = &list->at[i]};
		}
		batches[count - 1].count++;
		batches[count - 1].bytes += bytes;
	}
	return count;
}

static Reapi__Digest **
digests_of(struct ws_item *const *items, size_t count, struct ws_arena *a)
{
	Reapi__Digest *digests = WS_NEW_N(a, Reapi__Digest, count);
	Reapi__Digest **all = WS_NEW_N(a, Reapi__Digest *, count);
	for (size_t i = 0; i < count; i++) {
		digests[i] = ws_blob_digest(items[i]);
		all[i] = &digests[i];
	}
	return all;
}

/* The reply of a call, unpacked; NULL, with the state of all its files in @a whole. */
static void *
read_reply(struct ws_unary *unary, const ProtobufCMessageDescriptor *type, struct ws_item *whole,
	struct ws_arena *a)
{
	void *reply = NULL;
	if (ws_unary_came(unary, whole)) {
		reply = ws_protobuf_unpack(type, ws_buf_str(&unary->reply), a);
		if (!reply) {
			ws_item_set(whole, WS_CAME_REFUSED, "%s: a malformed reply", unary->call.method);
		}
	}
	return reply;
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

/* Items with the same key. */
struct wanted {
	struct ws_item *item;
	struct wanted *next;
};

/* Key -> struct wanted. */
static struct ws_map
index_items(const struct batch *batch, struct ws_arena *a)
{
	struct ws_map index = {0};
	for (size_t i = 0; i < batch->count; i++) {
		const char *key = batch->items[i]->key;
		struct wanted *wanted = WS_NEW(a, struct wanted);
		*wanted = (struct wanted){batch->items[i], ws_map_get(&index, key)};
		ws_map_put(&index, key, wanted, a);
	}
	return index;
}

static const struct wanted *
find_items(const struct ws_map *index, const Reapi__Digest *digest)
{
	return digest ? ws_map_get(index, digest->hash) : NULL;
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
read_batch(const struct batch *batch, struct ws_unary *unary, struct ws_arena *a)
{
	struct ws_item whole = {0};
	struct ws_map index = index_items(batch, a);
	const Reapi__BatchReadBlobsResponse *reply =
		read_reply(unary, &reapi__batch_read_blobs_response__descriptor, &whole, a);
	for (size_t i = 0; i < batch->count; i++) {
		ws_item_set(batch->items[i], reply ? WS_CAME_NOT : whole.came, "%s", whole.failure);
	}
	for (size_t i = 0; reply && i < reply->n_responses; i++) {
		const Reapi__BatchReadBlobsResponse__Response *one = reply->responses[i];
		const struct wanted *wanted = find_items(&index, one->digest);
		for (; wanted && wanted->item->came != WS_CAME_WHOLE; wanted = wanted->next) {
			set_item_status(wanted->item, one->status);
			if (wanted->item->came == WS_CAME_WHOLE) {
				write_file(wanted->item, &one->data);
			}
		}
	}
}

static void
prepare_read(const struct ws_blobs *blobs, const struct batch *batch, struct ws_unary *unary,
	struct ws_arena *a)
{
	Reapi__BatchReadBlobsRequest request;
	reapi__batch_read_blobs_request__init(&request);
	request.instance_name = ws_protobuf_borrow(blobs->instance);
	request.digests = digests_of(batch->items, batch->count, a);
	request.n_digests = batch->count;
	ws_unary_prepare(unary, CAS "BatchReadBlobs", &request, a);
}

/* ---- putting ---- */

/* Moves the items that the server lacks to @a missing. */
static bool
find_missing(const struct ws_blobs *blobs, item_list *items, item_list *missing, struct ws_arena *a)
{
	struct ws_unary unary = {0};
	struct ws_item whole = {0};
	struct ws_map lacks = {0};
	Reapi__FindMissingBlobsRequest request;
	reapi__find_missing_blobs_request__init(&request);
	request.instance_name = ws_protobuf_borrow(blobs->instance);
	request.blob_digests = digests_of(items->at, items->len, a);
	request.n_blob_digests = items->len;
	ws_unary_prepare(&unary, CAS "FindMissingBlobs", &request, a);
	if (!ws_unary_run(blobs->rpc, &unary, 1, 0, a)) {
		ws_buf_release(&unary.reply);
		return false;
	}
	const Reapi__FindMissingBlobsResponse *reply =
		read_reply(&unary, &reapi__find_missing_blobs_response__descriptor, &whole, a);
	for (size_t i = 0; reply && i < reply->n_missing_blob_digests; i++) {
		ws_map_add(&lacks, reply->missing_blob_digests[i]->hash, a);
	}
	for (size_t i = 0; i < items->len; i++) {
		ws_item_set(items->at[i], whole.came, "%s", whole.failure);
		if (reply && ws_map_get(&lacks, items->at[i]->key)) {
			*ws_vec_push(missing, a) = items->at[i];
		}
	}
	ws_buf_release(&unary.reply);
	return true;
}

/* The bytes of a file, borrowed from the item or in @a a. */
static bool
read_item(struct ws_item *item, ProtobufCBinaryData *data, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	if (!item->path) {
		*data = (ProtobufCBinaryData){item->bytes.len, (uint8_t *)item->bytes.data};
		return true;
	}
	struct ws_err err;
	if (!ws_fs_read_at_most(item->path, (size_t)item->size_bytes, &bytes, &err)) {
		ws_item_set(item, WS_CAME_REFUSED, "%s", err.text);
		return false;
	}
	*data = (ProtobufCBinaryData){bytes.len, (uint8_t *)ws_buf_copy(&bytes, a)};
	return true;
}

static void
prepare_update(const struct ws_blobs *blobs, const struct batch *batch, struct ws_unary *unary,
	struct ws_arena *a)
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
		if (read_item(batch->items[i], &parts[i].data, a)) {
			request.requests[request.n_requests++] = &parts[i];
		}
	}
	ws_unary_prepare(unary, CAS "BatchUpdateBlobs", &request, a);
}

static void
read_update(const struct batch *batch, struct ws_unary *unary, struct ws_arena *a)
{
	struct ws_item whole = {0};
	struct ws_map index = index_items(batch, a);
	const Reapi__BatchUpdateBlobsResponse *reply =
		read_reply(unary, &reapi__batch_update_blobs_response__descriptor, &whole, a);
	for (size_t i = 0; i < batch->count; i++) {
		struct ws_item *item = batch->items[i];
		if (item->came != WS_CAME_REFUSED && reply) {
			ws_item_set(item, WS_CAME_REFUSED, "file %.12s: not in the reply", item->key);
		} else if (item->came != WS_CAME_REFUSED) {
			ws_item_set(item, whole.came, "%s", whole.failure);
		}
	}
	for (size_t i = 0; reply && i < reply->n_responses; i++) {
		const struct wanted *wanted = find_items(&index, reply->responses[i]->digest);
		for (; wanted; wanted = wanted->next) {
			set_item_status(wanted->item, reply->responses[i]->status);
		}
	}
}

/* ---- both ---- */

/* The two halves of a batch call: its request, and the states of its files. */
struct direction {
	void (*prepare)(const struct ws_blobs *blobs, const struct batch *batch, struct ws_unary *unary,
		struct ws_arena *a);
	void (*read)(const struct batch *batch, struct ws_unary *unary, struct ws_arena *a);
};

static const struct direction reading = {prepare_read, read_batch},
							  writing = {prepare_update, read_update};

static bool
run_round(const struct ws_blobs *blobs, const struct direction *direction,
	const struct batch *batches, size_t count)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_unary *all = WS_NEW_N(a, struct ws_unary, count);
	for (size_t i = 0; i < count; i++) {
		direction->prepare(blobs, &batches[i], &all[i], a);
	}
	bool ran = ws_unary_run(blobs->rpc, all, count, count * blobs->batch_bytes, a);
	for (size_t i = 0; i < count; i++) {
		if (ran) {
			direction->read(&batches[i], &all[i], a);
		}
		ws_buf_release(&all[i].reply);
	}
	return ran;
}

static bool
run_rounds(const struct ws_blobs *blobs, const struct direction *direction, const item_list *small,
	struct ws_arena *a)
{
	struct batch *batches = WS_NEW_N(a, struct batch, small->len);
	size_t count = cut_batches(blobs, small, batches);
	bool ran = true;
	for (size_t i = 0; i < count && ran; i += ROUND) {
		ran = run_round(blobs, direction, &batches[i], count - i < ROUND ? count - i : ROUND);
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
	return run_rounds(blobs, &reading, &small, a) && get_streams(blobs, large.at, large.len);
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
		ran = ran && run_rounds(blobs, &writing, &small, a)
			&& put_streams(blobs, large.at, large.len);
	}
	return ran;
}
