/* records.c - batches of requests, what became of them, and keeping quiet when the server is not
 * fit. Failures of the server end as misses; only reading the configuration can fail. */
#include "remote/records.h"

#include "base/fs.h"
#include "base/vec.h"
#include "model/loopback.h"
#include "net/url.h"
#include "remote/action_result.h"
#include "remote/signed_text.h"
#include "store/cas.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_RECORD ((size_t)1 << 20)
#define LARGEST_FILE ((uint64_t)64 << 20)   /* of manifests and logs, whose size nobody has said */
#define LARGEST_ANSWER ((uint64_t)64 << 10) /* to what is sent; nobody reads it */
#define AT_ONCE 64
#define FIRST_BYTE_MS 5000
#define STALL_MS 10000
#define RECORD_MS \
	20000 /* for a record, which has some kilobytes: one that trickles in is not waited for */

struct ws_records {
	struct ws_shared shared; /* first */
	struct ws_records_config config;
	struct ws_arena *a;
	struct ws_http *http;
	const char *headers[WS_REQUEST_HEADERS];
	size_t header_count;
	struct ws_sign_key *key;              /* NULL: nothing is written */
	WS_VEC(struct ws_sign_key *) trusted; /* `key` too */
	const char *shown;                    /* the endpoint, for people */
	bool closed;                          /* not asked any more */
	bool lied;                            /* that was said */
	unsigned files;                       /* temporary ones so far */
};

/* ---- the server is not fit ---- */

static void
close_reading(struct ws_records *r, const char *why)
{
	if (!r->closed) {
		r->closed = true;
		r->shared.writes = false;
		ws_events_warn(r->config.events,
			"shared results at '%s' are not used any more in this run: %s", r->shown, why);
	}
}

static void
close_writing(struct ws_records *r, const char *why)
{
	if (r->shared.writes) {
		r->shared.writes = false;
		ws_events_warn(r->config.events,
			"results are not shared any more in this run: '%s' does not take them: %s", r->shown,
			why);
	}
}

static void
say_wrong(struct ws_records *r, const char *what)
{
	if (!r->lied) {
		r->lied = true;
		ws_events_warn(r->config.events, "'%s' has %s; what is wrong there is made again here",
			r->shown, what);
	}
}

/* ---- requests ---- */

struct exchange {
	struct ws_request request; /* first */
	struct ws_err failure;
	struct ws_buf *text; /* gets a record; NULL: a file is fetched, or something is sent */
	const char *path;    /* of the file that is fetched */
	int fd;
	struct ws_hasher *hasher;
	int64_t until_ms; /* of a record */
	uint64_t got_bytes, most_bytes;
	bool too_long;
	struct ws_digest digest;
	struct ws_piece piece;
	struct ws_body body;
};

static bool
came(const struct exchange *x)
{
	return x->failure.kind == WS_ERR_NONE && !x->too_long;
}

static void
prepare(struct ws_records *r, struct exchange *x, const char *method, const char *folder,
	const char *name, struct ws_arena *a)
{
	x->fd = -1;
	x->request = (struct ws_request){
		.url = ws_arena_printf(a, "%s/%s/%s", r->config.endpoint, folder, name),
		.subject = ws_arena_printf(a, "%s/%s", folder, name),
		.method = method, /* named, so that no redirect is followed: headers may hold a token */
		.headers = r->headers,
		.header_count = r->header_count,
		.failure = &x->failure,
	};
}

/* Runs them all; false when no more are to be asked. */
static bool
run(struct ws_records *r, struct exchange *all, size_t count, struct ws_arena *a)
{
	struct ws_request **requests = WS_NEW_N(a, struct ws_request *, count);
	struct ws_err err = {0};
	for (size_t i = 0; i < count; i++) {
		requests[i] = &all[i].request;
	}
	struct ws_batch batch = {
		.requests = requests, .count = count, .at_once = AT_ONCE, .each = true};
	bool ran = ws_http_run(r->http, &batch, &err);
	r->closed = r->closed || !ran; /* the run is to stop, or this host fails us */
	return ran;
}

/* A failed GET: a miss, or a server that is not fit. */
static void
judge(struct ws_records *r, const struct exchange *x)
{
	unsigned status = x->request.reply.status;
	if (!came(x) && !x->too_long && status != 404 && status != 410) {
		close_reading(r, x->failure.text);
	}
}

/* ---- getting ---- */

static enum ws_begin
begin_record(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	struct exchange *x = (struct exchange *)request;
	ws_buf_clear(x->text);
	x->until_ms = x->until_ms ? x->until_ms : ws_clock_ms() + RECORD_MS;
	return WS_BEGIN_GO;
}

/* More than it may have: the rest is not looked at. */
static bool
take_record(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct exchange *x = (struct exchange *)request;
	if (len > LARGEST_RECORD - x->text->len) {
		x->too_long = true;
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is too long", request->subject);
	}
	if (ws_clock_ms() > x->until_ms) {
		return ws_err_set(
			err, WS_ERR_FETCH, "'%s' did not come within %d s", request->subject, RECORD_MS / 1000);
	}
	ws_buf_add(x->text, bytes, len);
	return true;
}

/* Leaves the text of a record that a trusted key has signed, or nothing. */
static void
believe(struct ws_records *r, struct ws_shared_record *record, const struct exchange *x)
{
	struct ws_signers signers = {r->trusted.at, r->trusted.len};
	struct ws_str signed_text, text;
	WS_AUTO_BUF struct ws_buf message = record->text;
	record->text = (struct ws_buf){0};
	if (came(x) && ws_action_result_text(ws_buf_str(&message), &signed_text)
		&& ws_signed_text_read(signed_text, &signers, record->kind, record->key, &text)) {
		ws_buf_add(&record->text, text.s, text.n);
	} else if (came(x) || x->too_long) {
		say_wrong(r, "records that no trusted key has signed");
	}
}

static void
get_records(struct ws_shared *self, struct ws_shared_record *records, size_t count)
{
	struct ws_records *r = (struct ws_records *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct exchange *all = WS_NEW_N(a, struct exchange, count);
	if (r->closed) {
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct ws_digest key = ws_action_result_key(records[i].kind, records[i].key);
		prepare(r, &all[i], "GET", "ac", ws_arena_strdup(a, key.hex), a);
		all[i].text = &records[i].text;
		all[i].request.begin = begin_record;
		all[i].request.body = take_record;
	}
	run(r, all, count, a);
	for (size_t i = 0; i < count; i++) {
		judge(r, &all[i]);
		believe(r, &records[i], &all[i]);
	}
}

static void
end_file(struct exchange *x)
{
	if (x->fd >= 0) {
		close(ws_take_fd(&x->fd));
	}
	ws_hasher_drop(x->hasher);
	x->hasher = NULL;
}

static enum ws_begin
begin_file(struct ws_request *request, struct ws_err *err)
{
	struct exchange *x = (struct exchange *)request;
	end_file(x);
	x->got_bytes = 0;
	x->hasher = ws_hasher_make();
	x->fd = open(x->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (x->fd < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", x->path);
		return WS_BEGIN_FAIL;
	}
	return WS_BEGIN_GO;
}

static bool
take_file(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct exchange *x = (struct exchange *)request;
	if (len > x->most_bytes - x->got_bytes) {
		x->too_long = true;
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is too long", request->subject);
	}
	x->got_bytes += len;
	ws_hasher_add(x->hasher, bytes, len);
	return ws_fs_write_all(x->fd, bytes, len)
		|| ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", x->path);
}

static enum ws_answer
take_end(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	struct exchange *x = (struct exchange *)request;
	x->digest = ws_hasher_finish(x->hasher);
	x->hasher = NULL;
	end_file(x);
	return WS_ANSWER_GOOD;
}

/* Into the store, when it is what was asked for. */
static void
keep(struct ws_records *r, struct ws_shared_file *file, const struct exchange *x)
{
	struct ws_digest digest;
	bool whole = came(x) && ws_digest_is(&x->digest, file->digest);
	if (whole) {
		file->here = ws_cas_take(r->config.store, x->path, &digest, NULL, NULL);
	} else if (came(x) || x->too_long) {
		say_wrong(r, "files with other bytes than their digest says");
	}
	if (!file->here) {
		unlink(x->path);
	}
}

static void
get_files(struct ws_shared *self, struct ws_shared_file *files, size_t count)
{
	struct ws_records *r = (struct ws_records *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct exchange *all = WS_NEW_N(a, struct exchange, count);
	if (r->closed) {
		return;
	}
	for (size_t i = 0; i < count; i++) {
		prepare(r, &all[i], "GET", "cas", files[i].digest, a);
		all[i].path = ws_arena_printf(
			a, "%s/partial/shared-%d-%u", r->config.store->path, getpid(), ++r->files);
		all[i].most_bytes = files[i].size_bytes ? files[i].size_bytes : LARGEST_FILE;
		all[i].request.begin = begin_file;
		all[i].request.body = take_file;
		all[i].request.end = take_end;
	}
	run(r, all, count, a);
	for (size_t i = 0; i < count; i++) {
		end_file(&all[i]);
		judge(r, &all[i]);
		keep(r, &files[i], &all[i]);
	}
}

/* ---- putting ---- */

static bool
ignore(struct ws_request *request, const void *bytes WS_UNUSED, size_t len, struct ws_err *err)
{
	struct exchange *x = (struct exchange *)request;
	x->got_bytes += len;
	return x->got_bytes <= LARGEST_ANSWER
		|| ws_err_set(err, WS_ERR_FETCH, "its answer to '%s' does not end", request->subject);
}

static void
send(struct exchange *x, struct ws_piece piece)
{
	x->piece = piece;
	x->body = (struct ws_body){&x->piece, 1};
	x->request.sends = &x->body;
	x->request.body = ignore;
}

/* Runs them; false when one was not taken, which ends all writing. */
static bool
run_puts(struct ws_records *r, struct exchange *all, size_t count, struct ws_arena *a)
{
	bool ran = run(r, all, count, a);
	for (size_t i = 0; i < count && r->shared.writes; i++) {
		if (!came(&all[i]) && ws_http_is_silent(r->http, r->config.endpoint)) {
			close_reading(r, all[i].failure.text);
		} else if (!came(&all[i])) {
			close_writing(r, all[i].failure.text);
		}
	}
	return ran && r->shared.writes;
}

static bool
put_files(struct ws_records *r, const struct ws_shared_file *files, size_t count, uint64_t *sizes,
	struct ws_arena *a)
{
	struct exchange *all = WS_NEW_N(a, struct exchange, count);
	for (size_t i = 0; i < count; i++) {
		struct stat status;
		const char *path = ws_cas_open(r->config.store, files[i].digest, a, NULL);
		if (!path || stat(path, &status) < 0) {
			return false;
		}
		sizes[i] = (uint64_t)status.st_size;
		prepare(r, &all[i], "PUT", "cas", files[i].digest, a);
		send(&all[i],
			(struct ws_piece){.path = path, .length_bytes = sizes[i], .sha256 = files[i].digest});
	}
	return run_puts(r, all, count, a);
}

static void
put(struct ws_shared *self, const struct ws_shared_file *files, size_t file_count,
	const struct ws_shared_record *records, size_t record_count)
{
	struct ws_records *r = (struct ws_records *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	uint64_t *sizes = WS_NEW_N(a, uint64_t, file_count);
	struct ws_buf *messages = WS_NEW_N(a, struct ws_buf, record_count);
	struct exchange *all = WS_NEW_N(a, struct exchange, record_count);
	if (r->closed || !r->shared.writes || !put_files(r, files, file_count, sizes, a)) {
		return;
	}
	for (size_t i = 0; i < record_count; i++) {
		WS_AUTO_BUF struct ws_buf text = {0};
		const struct ws_shared_record *record = &records[i];
		struct ws_digest key = ws_action_result_key(record->kind, record->key);
		ws_signed_text_write(r->key, record->kind, record->key, ws_buf_str(&record->text), &text);
		for (size_t j = 0; j < file_count; j++) {
			ws_action_result_add_file(&messages[i], files[j].digest, sizes[j]);
		}
		ws_action_result_add_text(&messages[i], ws_buf_str(&text));
		prepare(r, &all[i], "PUT", "ac", ws_arena_strdup(a, key.hex), a);
		send(
			&all[i], (struct ws_piece){.bytes = messages[i].data, .length_bytes = messages[i].len});
	}
	run_puts(r, all, record_count, a);
	for (size_t i = 0; i < record_count; i++) {
		ws_buf_release(&messages[i]);
	}
}

/* ---- opening ---- */

static bool
read_headers(struct ws_records *r, const struct ws_url *url, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *path = r->config.headers;
	if (!path) {
		return true;
	}
	if (!url->is_https && !ws_host_is_loopback(ws_str_of(url->host))) {
		return ws_err_set(err, WS_ERR_CONFIG,
			"'%s' is plain http: the headers of '%s' are sent over https only", r->shown, path);
	}
	if (!ws_fs_read_at_most(path, 16384, &text, err)) {
		err->kind = WS_ERR_CONFIG;
		return false;
	}
	struct ws_str rest = ws_buf_str(&text);
	while (rest.s && rest.n > 0) {
		struct ws_str line = ws_str_trim(ws_str_cut(&rest, '\n'));
		if (line.n == 0) {
			continue;
		}
		bool fits = r->header_count < WS_REQUEST_HEADERS;
		if (!fits || line.s[0] == ':' || !memchr(line.s, ':', line.n)
			|| memchr(line.s, '\0', line.n) || memchr(line.s, '\r', line.n)) {
			return ws_err_set(err, WS_ERR_CONFIG, "'%s' is not a list of at most %d headers, '%s'",
				path, WS_REQUEST_HEADERS, "Name: value");
		}
		r->headers[r->header_count++] = ws_str_copy(line, r->a);
	}
	return true;
}

static bool
read_keys(struct ws_records *r, struct ws_err *err)
{
	const struct ws_records_config *c = &r->config;
	if (c->key) {
		r->key = ws_sign_key_read(c->key, err);
		if (!r->key) {
			err->kind = WS_ERR_CONFIG;
			return false;
		}
		*ws_vec_push(&r->trusted, r->a) = r->key;
	}
	for (size_t i = 0; i < c->trust_count; i++) {
		struct ws_sign_key *key = ws_sign_key_read_public(c->trust[i], err);
		if (!key) {
			err->kind = WS_ERR_CONFIG;
			return false;
		}
		*ws_vec_push(&r->trusted, r->a) = key;
	}
	r->shared.writes = c->write;
	return true;
}

struct ws_records *
ws_records_open(const struct ws_records_config *config, struct ws_arena *a, struct ws_err *err)
{
	struct ws_records *r = WS_NEW(a, struct ws_records);
	struct ws_url url;
	r->config = *config;
	r->a = a;
	r->shown = ws_url_shown(config->endpoint, a);
	r->shared = (struct ws_shared){false, get_records, get_files, put};
	struct ws_http_config http = {
		.ca_path = config->ca_path,
		.netrc_path = config->netrc_path,
		.at_once = AT_ONCE,
		.first_byte_ms = FIRST_BYTE_MS,
		.stall_ms = STALL_MS,
		.retries = 1,
		.impatient = true,
		.stop = config->stop,
	};
	if (strpbrk(config->endpoint, "?#")) {
		ws_err_set(err, WS_ERR_CONFIG,
			"'%s' cannot be the 'endpoint' of 'remote': /ac/ and /cas/ are appended to it",
			r->shown);
	} else if (ws_url_parse(config->endpoint, a, &url, err) && read_keys(r, err)
		&& read_headers(r, &url, err)) {
		r->http = ws_http_open(&http, err);
	}
	if (!r->http) {
		ws_records_close(r);
		return NULL;
	}
	return r;
}

void
ws_records_close(struct ws_records *r)
{
	if (!r) {
		return;
	}
	for (size_t i = 0; i < r->trusted.len; i++) {
		ws_sign_key_drop(r->trusted.at[i]);
	}
	ws_http_close(r->http);
}

struct ws_shared *
ws_records_shared(struct ws_records *r)
{
	return r ? &r->shared : NULL;
}
