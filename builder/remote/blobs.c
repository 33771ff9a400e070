/* blobs.c - which file goes which way, and what became of each. */
#include "remote/blobs.h"

#include "base/digest.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"
#include "remote/blob_stream.h"
#include "remote/protobuf.h"
#include "remote/unary.h"

#include <string.h>

#define CAS "/build.bazel.remote.execution.v2.ContentAddressableStorage/"
#define BESIDES 256                   /* bytes of a message beside a file's own: digest, lengths */
#define ASKED_AT_ONCE ((size_t)12000) /* digests of 71 bytes: below 1 MiB */
#define ROUND 16                      /* batches under way: their bytes are in memory */

typedef WS_VEC(struct ws_item *) item_list;

/* Items of one call, next to each other in a list. */
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

/* The reply of a call, unpacked; NULL with what that makes of its files in @a whole. */
static void *
read_reply(struct ws_unary *unary, const ProtobufCMessageDescriptor *type, struct ws_item *whole,
	struct ws_arena *a)
{
	void *reply = NULL;
	if (ws_unary_came(unary, whole)) {
		reply = ws_protobuf_unpack(type, ws_buf_str(&unary->reply), a);
		if (!reply) {
			ws_item_say(whole, WS_CAME_REFUSED, "%s: a malformed reply", unary->call.method);
		}
	}
	return reply;
}

/* What the server says of one file of a batch. */
static void
say_status(struct ws_item *item, const Reapi__Status *status)
{
	if (!status || status->code == WS_RPC_OK) {
		item->came = WS_CAME_WHOLE;
		return;
	}
	ws_item_say(item, status->code == WS_RPC_NOT_FOUND ? WS_CAME_NOT : WS_CAME_REFUSED,
		"file %.12s: %s (gRPC status %d)", item->key, status->message, (int)status->code);
}

/* Items that want the same file. */
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
take_file(struct ws_item *item, const ProtobufCBinaryData *data)
{
	struct ws_digest digest = ws_digest_bytes(data->data, data->len);
	struct ws_err err = {0};
	if (!ws_digest_is(&digest, item->key)) {
		item->came = WS_CAME_WRONG;
	} else if (!ws_fs_write(item->path, data->data, data->len, 0600, &err)) {
		ws_item_say(item, WS_CAME_REFUSED, "%s", err.text);
		item->ours = true;
	}
}

static void
take_batch(const struct batch *batch, struct ws_unary *unary, struct ws_arena *a)
{
	struct ws_item whole = {0};
	struct ws_map index = index_items(batch, a);
	const Reapi__BatchReadBlobsResponse *reply =
		read_reply(unary, &reapi__batch_read_blobs_response__descriptor, &whole, a);
	for (size_t i = 0; i < batch->count; i++) {
		ws_item_say(batch->items[i], reply ? WS_CAME_NOT : whole.came, "%s", whole.failure);
	}
	for (size_t i = 0; reply && i < reply->n_responses; i++) {
		const Reapi__BatchReadBlobsResponse__Response *one = reply->responses[i];
		const struct wanted *wanted = find_items(&index, one->digest);
		for (; wanted && wanted->item->came != WS_CAME_WHOLE; wanted = wanted->next) {
			say_status(wanted->item, one->status);
			if (wanted->item->came == WS_CAME_WHOLE) {
				take_file(wanted->item, &one->data);
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

/* Leaves those in @a missing that the server has not. */
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
		ws_item_say(items->at[i], whole.came, "%s", whole.failure);
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
		ws_item_say(item, WS_CAME_REFUSED, "%s", err.text);
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
hear_update(const struct batch *batch, struct ws_unary *unary, struct ws_arena *a)
{
	struct ws_item whole = {0};
	struct ws_map index = index_items(batch, a);
	const Reapi__BatchUpdateBlobsResponse *reply =
		read_reply(unary, &reapi__batch_update_blobs_response__descriptor, &whole, a);
	for (size_t i = 0; i < batch->count; i++) {
		struct ws_item *item = batch->items[i];
		if (item->came != WS_CAME_REFUSED && reply) {
			ws_item_say(item, WS_CAME_REFUSED, "file %.12s: no word of it", item->key);
		} else if (item->came != WS_CAME_REFUSED) {
			ws_item_say(item, whole.came, "%s", whole.failure);
		}
	}
	for (size_t i = 0; reply && i < reply->n_responses; i++) {
		const struct wanted *wanted = find_items(&index, reply->responses[i]->digest);
		for (; wanted; wanted = wanted->next) {
			say_status(wanted->item, reply->responses[i]->status);
		}
	}
}

/* ---- both ---- */

/* The call of a batch, and what became of its files. */
struct direction {
	void (*prepare)(const struct ws_blobs *blobs, const struct batch *batch, struct ws_unary *unary,
		struct ws_arena *a);
	void (*hear)(const struct batch *batch, struct ws_unary *unary, struct ws_arena *a);
};

static const struct direction reading = {prepare_read, take_batch},
							  writing = {prepare_update, hear_update};

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
			direction->hear(&batches[i], &all[i], a);
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
			take_file(item, &nothing);
		} else if (item->size_bytes > 0) {
			*ws_vec_push(is_small(blobs, item) ? &small : &large, a) = item;
		}
	}
	return run_rounds(blobs, &reading, &small, a)
		&& ws_blob_streams_get(blobs, large.at, large.len);
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
			&& ws_blob_streams_put(blobs, large.at, large.len);
	}
	return ran;
}
