/* blob_stream.c - a file is read and written as its messages go and come; never whole in memory. */
#include "remote/blob_stream.h"

#include "base/digest.h"
#include "base/fs.h"
#include "remote/protobuf.h"
#include "remote/unary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define CHUNK ((size_t)64 << 10)

struct stream;

struct direction {
	struct ws_call call; /* method, begin, next, take */
	void (*conclude)(struct stream *s);
};

struct stream {
	struct ws_call call; /* first */
	const struct direction *direction;
	const struct ws_blobs *blobs;
	struct ws_item *item;
	const char *resource; /* of this attempt */
	struct ws_arena *a;
	int fd;
	uint64_t done_bytes;
	struct ws_buf message;
	struct ws_hasher *hasher;
	bool wrong, committed;
	struct ws_err failure; /* of this host */
};

static void
end(struct stream *s)
{
	if (s->fd >= 0) {
		close(ws_take_fd(&s->fd));
	}
	ws_hasher_drop(s->hasher);
	s->hasher = NULL;
	s->done_bytes = 0;
}

/* Thousands may be in a list: each gives back what it has as soon as it has ended. */
static void
end_call(struct ws_call *call)
{
	struct stream *s = (struct stream *)call;
	s->direction->conclude(s);
	end(s);
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
begin(struct stream *s, const char *resource, int flags)
{
	end(s);
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
	begin(s, name_blob(s, ""), O_WRONLY | O_CREAT | O_TRUNC);
	s->hasher = ws_hasher_make();
}

static bool
ask_for(struct ws_call *call, struct ws_str *message)
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
take_part(struct ws_call *call, struct ws_str message)
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
		ws_item_say(s->item, WS_CAME_REFUSED, "%s", s->failure.text);
		s->item->ours = true;
	} else if (s->item->came == WS_CAME_WHOLE) {
		struct ws_digest digest = ws_hasher_finish(s->hasher);
		s->hasher = NULL;
		s->item->came = ws_digest_is(&digest, s->item->key) ? WS_CAME_WHOLE : WS_CAME_WRONG;
	}
}

/* ---- putting ---- */

/* Each attempt is another upload. */
static void
begin_put(struct ws_call *call)
{
	struct stream *s = (struct stream *)call;
	begin(s, name_blob(s, name_upload(s->a)), O_RDONLY);
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
	if (got == 0) { /* what is sent is too short, and will be refused */
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

/* A server that has the file by now says so before it was sent. */
static bool
hear_committed(struct ws_call *call, struct ws_str message)
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
		ws_item_say(s->item, WS_CAME_REFUSED, "%s", s->failure.text);
	} else if (s->item->came == WS_CAME_WHOLE && !s->committed) {
		ws_item_say(s->item, WS_CAME_REFUSED, "Write: it did not take '%.12s' whole", s->item->key);
	}
}

/* ---- both ---- */

static bool
run(const struct ws_blobs *blobs, struct ws_item *const *items, size_t count,
	const struct direction *direction)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct stream *all = WS_NEW_N(a, struct stream, count);
	struct ws_call **calls = WS_NEW_N(a, struct ws_call *, count);
	uint64_t bytes = 0;
	for (size_t i = 0; i < count; i++) {
		all[i] = (struct stream){.call = direction->call,
			.direction = direction,
			.blobs = blobs,
			.item = items[i],
			.a = a,
			.fd = -1};
		all[i].call.end = end_call;
		calls[i] = &all[i].call;
		bytes += items[i]->size_bytes;
	}
	for (size_t i = 0; i < count; i++) {
		calls[i]->deadline_ms = ws_call_deadline_ms(bytes);
	}
	return ws_rpc_run(blobs->rpc, calls, count);
}

bool
ws_blob_streams_get(const struct ws_blobs *blobs, struct ws_item *const *items, size_t count)
{
	static const struct direction get = {{.method = "/google.bytestream.ByteStream/Read",
											 .begin = begin_get,
											 .next = ask_for,
											 .take = take_part},
		conclude_get};
	return run(blobs, items, count, &get);
}

bool
ws_blob_streams_put(const struct ws_blobs *blobs, struct ws_item *const *items, size_t count)
{
	static const struct direction put = {{.method = "/google.bytestream.ByteStream/Write",
											 .begin = begin_put,
											 .next = send_part,
											 .take = hear_committed},
		conclude_put};
	return run(blobs, items, count, &put);
}
