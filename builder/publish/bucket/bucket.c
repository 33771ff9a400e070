/* bucket.c - S3's REST API: GetObject, PutObject, DeleteObject and multipart uploads. */
#include "publish/bucket/bucket.h"

#include "base/fs.h"
#include "publish/render.h"

#include <time.h>

#define PART_BYTES ((uint64_t)16 << 20)
#define WHOLE_BYTES (2 * PART_BYTES) /* larger objects are sent in parts */
#define PARTS_AT_ONCE 4
#define LONGEST_PAUSE_MS 1000 /* before a put that met another is tried again */
#define REPLY_BYTES ((size_t)64 << 10)
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* A request and its reply. */
struct asking {
	struct ws_request request; /* first */
	const char *headers[WS_REQUEST_HEADERS];
	struct ws_body body;
	struct ws_buf text, refusal;
	size_t limit;
	bool hashes; /* its bytes are hashed and not kept */
	struct ws_hasher *hasher;
};

static enum ws_begin
begin(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	struct asking *x = (struct asking *)request;
	ws_buf_clear(&x->text);
	if (x->hashes) {
		ws_hasher_drop(x->hasher);
		x->hasher = ws_hasher_make();
	}
	return WS_BEGIN_GO;
}

static bool
on_bytes(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct asking *x = (struct asking *)request;
	if (x->hashes) {
		ws_hasher_add(x->hasher, bytes, len);
		return true;
	}
	if (len > x->limit - x->text.len) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is longer than %zu bytes, which is unexpected",
			request->subject, x->limit);
	}
	ws_buf_add(&x->text, bytes, len);
	return true;
}

static void
add_header(const struct ws_bucket *b, struct asking *x, const char *name, const char *value)
{
	x->headers[x->request.header_count++] = ws_arena_printf(b->a, "%s: %s", name, value);
}

/* @a query must be sorted and encoded: "partNumber=1&uploadId=x"; NULL: none. @a sha256 is that of
 * the body: the signature covers it. */
static void
prepare(const struct ws_bucket *b, struct asking *x, const char *method, const char *key,
	const char *query, const char *sha256)
{
	WS_AUTO_BUF struct ws_buf url = {0};
	struct ws_str rest = ws_str_of(ws_arena_printf(b->a, "%s%s", b->name, key));
	ws_buf_puts(&url, b->endpoint);
	while (rest.s) {
		ws_buf_putc(&url, '/');
		ws_index_put_url(&url, ws_str_copy(ws_str_cut(&rest, '/'), b->a));
	}
	ws_buf_printf(&url, "%s%s", query ? "?" : "", query ? query : "");
	*x = (struct asking){.limit = REPLY_BYTES};
	x->request = (struct ws_request){
		.url = ws_buf_copy(&url, b->a),
		.subject = key,
		.method = method,
		.signing = ws_arena_printf(b->a, "aws:amz:%s:s3", b->region),
		.headers = x->headers,
		.refusal = &x->refusal,
		.begin = begin,
		.body = on_bytes,
	};
	add_header(b, x, "x-amz-content-sha256", sha256);
	if (b->token) {
		add_header(b, x, "x-amz-security-token", b->token);
	}
}

static void
release(struct asking *x)
{
	ws_buf_release(&x->text);
	ws_buf_release(&x->refusal);
}

#define AUTO_ASKING __attribute__((cleanup(release)))

const char *
ws_bucket_error_text(const struct ws_buf *answer, const char *token, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf html = {0};
	WS_AUTO_BUF struct ws_buf url = {0};
	WS_AUTO_BUF struct ws_buf text = {0};
	bool in_tag = false, space = false;
	ws_index_put_html(&html, token ? token : "");
	ws_index_put_url(&url, token ? token : "");
	const char *const spellings[] = {token, ws_buf_text(&html), ws_buf_text(&url)};
	for (size_t i = 0; token && i < WS_LEN(spellings); i++) {
		if (strstr(ws_buf_text(answer), spellings[i])) {
			return "";
		}
	}
	for (const char *c = ws_buf_text(answer); *c && text.len < 200; c++) {
		bool bracket = *c == '<' || *c == '>';
		in_tag = bracket ? *c == '<' : in_tag;
		if (bracket || (unsigned char)*c <= ' ' || *c == 0x7f) {
			space = true;
		} else if (!in_tag) {
			ws_buf_puts(&text, space && text.len > 0 ? " " : "");
			ws_buf_putc(&text, (unsigned char)*c < 0x80 ? *c : '?');
			space = false;
		}
	}
	return ws_buf_copy(&text, a);
}

static void
quote_answer(const struct ws_bucket *b, const struct ws_buf *answer, struct ws_err *err)
{
	const char *text = ws_bucket_error_text(answer, b->token, b->a);
	if (text[0]) {
		ws_err_cure(err, "the server answered: %s", text);
	}
}

static bool
run(const struct ws_bucket *b, struct asking *all, size_t count, struct ws_err *err)
{
	struct ws_request **requests = WS_NEW_N(b->a, struct ws_request *, count);
	for (size_t i = 0; i < count; i++) {
		requests[i] = &all[i].request;
	}
	struct ws_batch batch = {.requests = requests, .count = count, .at_once = PARTS_AT_ONCE};
	if (ws_http_run(b->http, &batch, err)) {
		return true;
	}
	for (size_t i = 0; i < count; i++) {
		unsigned status = all[i].request.reply.status;
		if (status >= 300 && all[i].refusal.len > 0) {
			quote_answer(b, &all[i].refusal, err);
			break;
		}
	}
	if (!ws_err_is_stop(err) && err->kind != WS_ERR_INTERNAL) {
		err->kind = WS_ERR_PUBLISH;
		err->cure_count = 0; /* another index would not help */
	}
	return false;
}

static bool
is_missing(const struct asking *x)
{
	return x->request.reply.status == 404 && !strstr(ws_buf_text(&x->refusal), "NoSuchBucket");
}

bool
ws_bucket_get(const struct ws_bucket *b, const char *key, size_t limit, struct ws_stored *object,
	struct ws_err *err)
{
	AUTO_ASKING struct asking x;
	prepare(b, &x, NULL, key, NULL, EMPTY);
	x.limit = limit;
	object->there = run(b, &x, 1, err);
	if (!object->there) {
		return is_missing(&x);
	}
	ws_buf_clear(&object->text);
	ws_buf_add(&object->text, ws_buf_text(&x.text), x.text.len);
	memcpy(object->etag, x.request.reply.etag, sizeof(object->etag));
	return true;
}

bool
ws_bucket_remove(const struct ws_bucket *b, const char *key, struct ws_err *err)
{
	AUTO_ASKING struct asking x;
	prepare(b, &x, "DELETE", key, NULL, EMPTY);
	return run(b, &x, 1, err) || x.request.reply.status == 404;
}

/* ---- putting ---- */

static bool
digest_of(
	const struct ws_object *object, struct ws_digest *digest, uint64_t *size, struct ws_err *err)
{
	if (object->path) {
		return ws_digest_file(object->path, digest, size, err);
	}
	*size = strlen(object->text);
	*digest = ws_digest_bytes(object->text, *size);
	return true;
}

static bool
prepare_put(
	const struct ws_bucket *b, const struct ws_object *object, struct asking *x, struct ws_err *err)
{
	struct ws_digest digest;
	uint64_t size;
	if (!digest_of(object, &digest, &size, err)) {
		return false;
	}
	prepare(b, x, "PUT", object->key, NULL, digest.hex);
	add_header(b, x, "Content-Type", object->type);
	add_header(b, x, "Cache-Control", object->cache);
	x->body = (struct ws_body){.path = object->path, .bytes = object->text, .length_bytes = size};
	x->request.sends = &x->body;
	return true;
}

/* Compares an object with the one in the store, which is not held in memory: DONE if both are the
 * same, REFUSED if not, or if there is none (@a there). */
static enum ws_put
compare(const struct ws_bucket *b, const struct ws_object *object, char *etag, bool *there,
	struct ws_err *err)
{
	AUTO_ASKING struct asking x;
	struct ws_digest own;
	uint64_t size;
	struct ws_err why = {0};
	prepare(b, &x, NULL, object->key, NULL, EMPTY);
	x.hashes = true;
	bool read = run(b, &x, 1, &why);
	struct ws_digest found = ws_hasher_finish(x.hasher ? x.hasher : ws_hasher_make());
	memcpy(etag, x.request.reply.etag, WS_ETAG_BYTES);
	*there = read || !is_missing(&x);
	if (!*there) {
		return WS_PUT_REFUSED;
	}
	if (!read) {
		*err = why;
		return WS_PUT_FAILED;
	}
	if (!digest_of(object, &own, &size, err)) {
		return WS_PUT_FAILED;
	}
	return ws_digest_eq(&own, &found) ? WS_PUT_DONE : WS_PUT_REFUSED;
}

/* Handles a refused condition. After a lost reply the repeated request is refused because of the
 * object that the first one put. 409 (AWS): another put of the same key was in progress; try
 * again. */
static enum ws_put
check_refused(const struct ws_bucket *b, const struct ws_object *object, unsigned status,
	char *etag, const struct ws_err *why, struct ws_err *err)
{
	if (status == 501) {
		return WS_PUT_UNSUPPORTED;
	}
	if (status != 409 && status != 412 && status != 404) {
		*err = *why;
		return WS_PUT_FAILED;
	}
	bool there;
	return compare(b, object, etag, &there, err);
}

/* In one request; @a etag gets that of the object. */
static enum ws_put
put_if(const struct ws_bucket *b, const struct ws_object *object, const char *name,
	const char *value, char *etag, struct ws_err *err)
{
	for (long pause_ms = 200;; pause_ms *= 2) {
		AUTO_ASKING struct asking x = {.limit = 0};
		struct ws_err why = {0};
		if (!prepare_put(b, object, &x, err)) {
			return WS_PUT_FAILED;
		}
		add_header(b, &x, name, value);
		if (run(b, &x, 1, &why)) {
			memcpy(etag, x.request.reply.etag, WS_ETAG_BYTES);
			return WS_PUT_DONE;
		}
		unsigned status = x.request.reply.status;
		bool none = status == 404 && !is_missing(&x); /* no such bucket */
		enum ws_put put = check_refused(b, object, none ? 0 : status, etag, &why, err);
		if (put != WS_PUT_REFUSED || status != 409 || pause_ms > LONGEST_PAUSE_MS) {
			return put;
		}
		nanosleep(&(struct timespec){pause_ms / 1000, pause_ms % 1000 * 1000000}, NULL);
	}
}

static const char *
begin_parts(const struct ws_bucket *b, const struct ws_object *object, struct ws_err *err)
{
	AUTO_ASKING struct asking x;
	WS_AUTO_BUF struct ws_buf encoded = {0};
	prepare(b, &x, "POST", object->key, "uploads=", EMPTY);
	add_header(b, &x, "Content-Type", object->type);
	add_header(b, &x, "Cache-Control", object->cache);
	x.body = (struct ws_body){.bytes = "", .length_bytes = 0};
	x.request.sends = &x.body;
	if (!run(b, &x, 1, err)) {
		return NULL;
	}
	static const char tag[] = "<UploadId>";
	const char *start = strstr(ws_buf_text(&x.text), tag);
	const char *id = start ? start + strlen(tag) : NULL;
	const char *end = id ? strchr(id, '<') : NULL;
	if (!end) {
		ws_err_set(
			err, WS_ERR_PUBLISH, "cannot upload '%s': the server names no upload", object->key);
		return NULL;
	}
	ws_index_put_url(&encoded, ws_arena_copy(b->a, id, (size_t)(end - id)));
	return ws_buf_copy(&encoded, b->a);
}

static bool
send_parts(const struct ws_bucket *b, const struct ws_object *object, const char *id,
	struct asking *parts, size_t count, uint64_t size, struct ws_err *err)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = i * PART_BYTES;
		uint64_t left = size - offset;
		struct ws_body part = {.path = object->path,
			.offset = offset,
			.length_bytes = left < PART_BYTES ? left : PART_BYTES};
		struct ws_body_reader reader = {.body = &part, .fd = -1};
		struct ws_hasher *h = ws_hasher_make();
		char chunk[65536];
		ptrdiff_t got;
		while ((got = ws_body_read(&reader, chunk, sizeof(chunk))) > 0) {
			ws_hasher_add(h, chunk, (size_t)got);
		}
		ws_body_rewind(&reader);
		struct ws_digest digest = ws_hasher_finish(h);
		if (got != 0) {
			return ws_err_set(err, WS_ERR_PUBLISH, "cannot read '%s'", object->path);
		}
		prepare(b, &parts[i], "PUT", object->key,
			ws_arena_printf(b->a, "partNumber=%zu&uploadId=%s", i + 1, id), digest.hex);
		parts[i].body = part;
		parts[i].request.sends = &parts[i].body;
	}
	return run(b, parts, count, err);
}

/* After a lost reply the repeated request finds no upload (404), but the object is there. */
static enum ws_put
finish_parts(const struct ws_bucket *b, const struct ws_object *object, const char *id,
	const struct asking *parts, size_t count, struct ws_err *err)
{
	const char *key = object->key;
	AUTO_ASKING struct asking x = {.limit = 0};
	WS_AUTO_BUF struct ws_buf list = {0};
	struct ws_err why = {0};
	ws_buf_puts(&list, "<CompleteMultipartUpload>");
	for (size_t i = 0; i < count; i++) {
		ws_buf_printf(&list, "<Part><PartNumber>%zu</PartNumber><ETag>", i + 1);
		ws_index_put_html(&list, parts[i].request.reply.etag);
		ws_buf_puts(&list, "</ETag></Part>");
	}
	ws_buf_puts(&list, "</CompleteMultipartUpload>");
	struct ws_digest digest = ws_digest_bytes(ws_buf_text(&list), list.len);
	prepare(b, &x, "POST", key, ws_arena_printf(b->a, "uploadId=%s", id), digest.hex);
	add_header(b, &x, "If-None-Match", "*");
	x.body = (struct ws_body){.bytes = ws_buf_text(&list), .length_bytes = list.len};
	x.request.sends = &x.body;
	if (!run(b, &x, 1, &why)) {
		char etag[WS_ETAG_BYTES];
		unsigned status = x.request.reply.status;
		enum ws_put put = check_refused(b, object, status, etag, &why, err);
		if (put == WS_PUT_REFUSED && status == 404) {
			*err = why;
			put = WS_PUT_FAILED;
		}
		return put;
	}
	/* A reply with status 200 may contain an error. */
	if (strstr(ws_buf_text(&x.text), "<Error>")) {
		ws_err_set(err, WS_ERR_PUBLISH, "cannot upload '%s'", key);
		quote_answer(b, &x.text, err);
		return WS_PUT_FAILED;
	}
	return WS_PUT_DONE;
}

/* An existing large object is not sent again. Servers that ignore the condition of the last
 * request have no other check. */
static enum ws_put
put_parts(
	const struct ws_bucket *b, const struct ws_object *object, uint64_t size, struct ws_err *err)
{
	size_t count = (size_t)((size + PART_BYTES - 1) / PART_BYTES);
	char etag[WS_ETAG_BYTES];
	bool there;
	enum ws_put put = compare(b, object, etag, &there, err);
	if (put != WS_PUT_REFUSED || there) {
		return put;
	}
	const char *id = begin_parts(b, object, err);
	if (!id) {
		return WS_PUT_FAILED;
	}
	struct asking *parts = WS_NEW_N(b->a, struct asking, count);
	put = send_parts(b, object, id, parts, count, size, err)
		? finish_parts(b, object, id, parts, count, err)
		: WS_PUT_FAILED;
	if (put != WS_PUT_DONE) { /* else the store keeps the parts, and charges for them */
		AUTO_ASKING struct asking x;
		struct ws_err ignored;
		prepare(b, &x, "DELETE", object->key, ws_arena_printf(b->a, "uploadId=%s", id), EMPTY);
		run(b, &x, 1, &ignored);
	}
	for (size_t i = 0; i < count; i++) {
		release(&parts[i]);
	}
	return put;
}

enum ws_put
ws_bucket_create(
	const struct ws_bucket *b, const struct ws_object *object, char *etag, struct ws_err *err)
{
	struct stat status;
	char ignored[WS_ETAG_BYTES];
	if (object->path && stat(object->path, &status) != 0) {
		ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", object->path);
		return WS_PUT_FAILED;
	}
	return object->path && (uint64_t)status.st_size > WHOLE_BYTES
		? put_parts(b, object, (uint64_t)status.st_size, err)
		: put_if(b, object, "If-None-Match", "*", etag ? etag : ignored, err);
}

/* Ceph 16 sends ETags with quotes, but compares without them. */
enum ws_put
ws_bucket_replace(
	const struct ws_bucket *b, const struct ws_object *object, char *etag, struct ws_err *err)
{
	char now[WS_ETAG_BYTES];
	enum ws_put put = put_if(b, object, "If-Match", etag, now, err);
	size_t len = strlen(etag);
	if (put == WS_PUT_REFUSED && len > 2 && etag[0] == '"') {
		const char *bare = ws_arena_copy(b->a, etag + 1, len - 2);
		put = put_if(b, object, "If-Match", bare, now, err);
	}
	if (put == WS_PUT_DONE) {
		memcpy(etag, now, sizeof(now));
	}
	return put;
}

bool
ws_bucket_put(const struct ws_bucket *b, const struct ws_object *object, struct ws_err *err)
{
	AUTO_ASKING struct asking x = {.limit = 0};
	return prepare_put(b, object, &x, err) && run(b, &x, 1, err);
}
