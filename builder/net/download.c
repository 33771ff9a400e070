/* download.c - downloads that are resumed, hashed and checked; small texts. */
#include "net/download.h"

#include "base/fs.h"
#include "net/url.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>

#define LARGEST_BYTES ((uint64_t)64 << 30) /* of a file whose size is not known */

/* ---- a file that grows over attempts and runs ---- */

struct partial {
	const char *path;
	const char *about;   /* path of the note beside it */
	int fd;              /* -1: not open */
	uint64_t len;        /* bytes there, all of them hashed */
	char validator[200]; /* an ETag or a date; "": the server gave none */
	struct ws_hasher *hasher;
};

/* LATER: another process has it. */
static enum ws_begin
open_locked(struct partial *p, struct ws_err *err)
{
	for (;;) {
		WS_AUTO_FD int fd =
			open(p->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
		struct stat held, named;
		if (fd < 0) {
			ws_err_sys(err, WS_ERR_IO, "cannot open '%s'", p->path);
			return WS_BEGIN_FAIL;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			if (errno == EWOULDBLOCK) {
				return WS_BEGIN_LATER;
			}
			ws_err_sys(err, WS_ERR_IO, "cannot lock '%s'", p->path);
			return WS_BEGIN_FAIL;
		}
		/* The locked file still has this name? Its last owner may have renamed it. */
		if (fstat(fd, &held) == 0 && lstat(p->path, &named) == 0 && held.st_ino == named.st_ino
			&& held.st_dev == named.st_dev) {
			p->fd = ws_take_fd(&fd);
			return WS_BEGIN_GO;
		}
	}
}

static void
partial_close(struct partial *p)
{
	ws_hasher_drop(p->hasher);
	p->hasher = NULL;
	if (p->fd >= 0) {
		close(ws_take_fd(&p->fd));
	}
}

static enum ws_begin
partial_open(struct partial *p, const char *path, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf note = {0};
	char chunk[65536];
	ssize_t got;
	*p = (struct partial){.path = path, .fd = -1};
	p->about = ws_arena_printf(a, "%s.about", path);
	enum ws_begin result = open_locked(p, err);
	if (result != WS_BEGIN_GO) {
		return result;
	}
	p->hasher = ws_hasher_make();
	while ((got = read(p->fd, chunk, sizeof(chunk))) > 0) {
		ws_hasher_add(p->hasher, chunk, (size_t)got);
		p->len += (uint64_t)got;
	}
	if (got < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", p->path);
		partial_close(p);
		return WS_BEGIN_FAIL;
	}
	/* Without the note the bytes are only harder to trust. */
	if (p->len > 0 && ws_fs_read_at_most(p->about, sizeof(p->validator) - 1, &note, NULL)) {
		snprintf(p->validator, sizeof(p->validator), "%.*s",
			(int)strcspn(ws_buf_text(&note), "\r\n"), ws_buf_text(&note));
	}
	return WS_BEGIN_GO;
}

static bool
partial_restart(struct partial *p, const char *validator, struct ws_err *err)
{
	ws_hasher_drop(p->hasher);
	p->hasher = ws_hasher_make();
	p->len = 0;
	if (ftruncate(p->fd, 0) < 0 || lseek(p->fd, 0, SEEK_SET) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot empty '%s'", p->path);
	}
	snprintf(p->validator, sizeof(p->validator), "%s", validator);
	if (validator[0]) {
		return ws_fs_write(p->about, validator, strlen(validator), 0644, err);
	}
	return ws_fs_remove(p->about, err);
}

static bool
partial_add(struct partial *p, const void *bytes, size_t len, struct ws_err *err)
{
	const char *next = bytes;
	for (size_t left = len; left > 0;) {
		ssize_t put = write(p->fd, next, left);
		if (put < 0 && errno == EINTR) {
			continue;
		}
		if (put < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", p->path);
		}
		/* One write at a time: bytes that a full disk accepted must be hashed, too. */
		ws_hasher_add(p->hasher, next, (size_t)put);
		p->len += (uint64_t)put;
		next += put;
		left -= (size_t)put;
	}
	return true;
}

static bool
partial_land(struct partial *p, const char *path, struct ws_arena *a, struct ws_err *err)
{
	if (fsync(p->fd) < 0 || rename(p->path, path) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", path);
	}
	ws_fs_remove(p->about, NULL);
	partial_close(p);
	return ws_fs_sync_dir(ws_path_dir(a, path), err);
}

static void
partial_drop(struct partial *p)
{
	if (p->fd >= 0) {
		ws_fs_remove(p->path, NULL);
		ws_fs_remove(p->about, NULL);
	}
	partial_close(p);
}

/* ---- downloads ---- */

/* One file on its way. */
struct fetch {
	struct ws_request request; /* first */
	struct ws_download *file;
	struct partial partial;
	struct ws_progress progress;
	struct ws_arena *a;
	bool waiting; /* another process having the file was reported */
	bool resumed; /* some bytes came before the last restart of this run */
	bool whole;   /* ranges failed: request the whole file */
};

static uint64_t
limit_of(const struct ws_download *file)
{
	return file->size_bytes ? file->size_bytes : LARGEST_BYTES;
}

static bool
has_pin(const struct ws_download *file)
{
	return file->sha256 && file->sha256[0];
}

/* The partial file is complete: is it right? */
static enum ws_answer
finish(struct fetch *f, struct ws_err *err)
{
	struct ws_download *file = f->file;
	file->digest = ws_hasher_finish(f->partial.hasher);
	f->partial.hasher = NULL;
	file->got_bytes = f->partial.len;
	if (!has_pin(file) || ws_digest_is(&file->digest, file->sha256)) {
		return partial_land(&f->partial, file->path, f->a, err) ? WS_ANSWER_GOOD : WS_ANSWER_FAIL;
	}
	if (f->resumed) {
		/* The older bytes may be wrong; only a file received in one piece is evidence. */
		f->whole = true;
		return partial_restart(&f->partial, "", err) ? WS_ANSWER_ANEW : WS_ANSWER_FAIL;
	}
	partial_drop(&f->partial);
	ws_err_set(err, WS_ERR_FETCH,
		"'%s' from '%s' is not what was pinned: expected sha256 %s, got %s", f->request.subject,
		ws_url_shown(file->url, f->a), file->sha256, file->digest.hex);
	ws_err_cure(err, "it was not used; the file on that server was replaced or damaged");
	ws_err_cure(err, "if the pin is wrong, correct it; else fetch the file from another server");
	ws_err_cure_code(err, WS_CURE_INDEX, NULL);
	return WS_ANSWER_FAIL;
}

/* Existing bytes are continued only if a mixture of two files would be noticed. */
static bool
can_resume(const struct fetch *f)
{
	return !f->whole && f->partial.len > 0 && f->partial.len <= limit_of(f->file)
		&& (has_pin(f->file) || f->partial.validator[0]);
}

static enum ws_begin
begin(struct ws_request *request, struct ws_err *err)
{
	struct fetch *f = (struct fetch *)request;
	struct ws_download *file = f->file;
	if (f->partial.fd < 0) {
		if (has_pin(file) && ws_fs_exists(file->path)
			&& ws_digest_file(file->path, &file->digest, &file->got_bytes, NULL)
			&& ws_digest_is(&file->digest, file->sha256)) {
			return WS_BEGIN_DONE;
		}
		enum ws_begin opened = partial_open(&f->partial, file->partial, f->a, err);
		if (opened == WS_BEGIN_LATER && !f->waiting) {
			f->waiting = true;
			ws_events_note(f->progress.events,
				"'%s' is being fetched by another process; waiting for it", request->subject);
		}
		if (opened != WS_BEGIN_GO) {
			return opened;
		}
	}
	if (can_resume(f) && has_pin(file) && f->partial.len == file->size_bytes) {
		f->resumed = true;
		enum ws_answer answer = finish(f, err); /* only the rename was missing */
		if (answer != WS_ANSWER_ANEW) {
			return answer == WS_ANSWER_GOOD ? WS_BEGIN_DONE : WS_BEGIN_FAIL;
		}
	}
	request->range[0] = request->if_range[0] = '\0';
	if (can_resume(f)) {
		snprintf(request->range, sizeof(request->range), "%" PRIu64 "-", f->partial.len);
		snprintf(request->if_range, sizeof(request->if_range), "%s", f->partial.validator);
		f->resumed = true;
	} else if (f->partial.len > 0 && !partial_restart(&f->partial, "", err)) {
		return WS_BEGIN_FAIL;
	}
	f->resumed = f->resumed && f->partial.len > 0;
	request->kept_bytes = f->partial.len;
	return WS_BEGIN_GO;
}

static enum ws_answer
head(struct ws_request *request, const struct ws_reply *reply, struct ws_err *err)
{
	struct fetch *f = (struct fetch *)request;
	const struct ws_download *file = f->file;
	/* A reply to a range request: 206, for exactly the missing bytes, of the same file. */
	bool continues = reply->has_range
		&& ws_reply_is_range(reply, f->partial.len, reply->range_total - 1,
			file->size_bytes ? file->size_bytes : UINT64_MAX)
		&& (reply->etag[0] != '"' || f->partial.validator[0] != '"'
			|| strcmp(reply->etag, f->partial.validator) == 0);
	if (reply->status == 416 || (reply->status == 206 && !continues)) {
		f->whole = true;
		return WS_ANSWER_ANEW;
	}
	/* Some servers label a gzip file as an encoding of its contents. Its bytes are unchanged. */
	bool labelled = ws_ends_with(ws_url_file_name(file->url, f->a), "gz") && has_pin(file)
		&& (strcmp(reply->encoding, "gzip") == 0 || strcmp(reply->encoding, "x-gzip") == 0);
	if (reply->encoding[0] && !labelled) {
		ws_err_set(err, WS_ERR_FETCH,
			"the server sent '%s' with an unexpected Content-Encoding '%s'", request->subject,
			reply->encoding);
		return WS_ANSWER_FAIL;
	}
	uint64_t total = reply->has_length ? reply->length_bytes : 0;
	total = reply->status == 206 ? reply->range_total : total;
	if (file->size_bytes && total && total != file->size_bytes) {
		ws_err_set(err, WS_ERR_FETCH,
			"'%s' has %" PRIu64 " bytes at '%s' where %" PRIu64 " are expected", request->subject,
			total, ws_url_shown(file->url, f->a), file->size_bytes);
		return WS_ANSWER_FAIL;
	}
	if (reply->status != 206 && !partial_restart(&f->partial, ws_reply_validator(reply), err)) {
		return WS_ANSWER_FAIL;
	}
	f->resumed = f->resumed && reply->status == 206;
	ws_progress_begin(&f->progress, total ? total : file->size_bytes);
	return WS_ANSWER_GOOD;
}

static bool
body(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct fetch *f = (struct fetch *)request;
	uint64_t limit = limit_of(f->file);
	if (len > limit - f->partial.len) {
		partial_drop(&f->partial);
		return ws_err_set(
			err, WS_ERR_FETCH, "'%s' is longer than %" PRIu64 " bytes", request->subject, limit);
	}
	if (!partial_add(&f->partial, bytes, len, err)) {
		return false;
	}
	request->kept_bytes = f->partial.len;
	ws_progress_move(&f->progress, f->partial.len);
	return true;
}

static enum ws_answer
end(struct ws_request *request, struct ws_err *err)
{
	struct fetch *f = (struct fetch *)request;
	if (f->file->size_bytes && f->partial.len < f->file->size_bytes) {
		return WS_ANSWER_ANEW; /* a server that gave no length was cut off */
	}
	enum ws_answer answer = finish(f, err);
	if (answer == WS_ANSWER_GOOD) {
		ws_progress_end(&f->progress, request->wire_bytes);
	}
	return answer;
}

static bool
download(
	struct ws_http *http, struct ws_download *files, size_t count, bool each, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct fetch *fetches = WS_NEW_N(a, struct fetch, count);
	struct ws_request **requests = WS_NEW_N(a, struct ws_request *, count);
	for (size_t i = 0; i < count; i++) {
		struct fetch *f = &fetches[i];
		const char *name = ws_url_file_name(files[i].url, a);
		const char *subject = name[0] ? name : ws_path_base(files[i].path);
		*f = (struct fetch){
			.request =
				{
					.url = files[i].url,
					.subject = subject,
					.begin = begin,
					.head = head,
					.body = body,
					.end = end,
					.failure = each ? &files[i].failure : NULL,
				},
			.file = &files[i],
			.partial.fd = -1,
			.progress = ws_http_progress(http, files[i].url, subject, a),
			.a = a,
		};
		requests[i] = &f->request;
		files[i].failure = (struct ws_err){0};
	}
	struct ws_batch batch = {.requests = requests, .count = count, .each = each};
	bool ok = ws_http_run(http, &batch, err);
	for (size_t i = 0; i < count; i++) {
		partial_close(&fetches[i].partial);
		files[i].wire_bytes = fetches[i].request.wire_bytes;
		files[i].status = fetches[i].request.reply.status;
		files[i].is_absent = ws_reply_is_absent(&fetches[i].request.reply);
	}
	return ok;
}

bool
ws_download_all(struct ws_http *http, struct ws_download *files, size_t count, struct ws_err *err)
{
	return download(http, files, count, false, err);
}

bool
ws_download_each(struct ws_http *http, struct ws_download *files, size_t count, struct ws_err *err)
{
	struct ws_err why = {0}; /* also of a request that failed alone */
	bool done = download(http, files, count, true, &why);
	if (!done && err) {
		*err = why;
	}
	return done;
}

/* ---- small texts ---- */

struct getting {
	struct ws_request request; /* first */
	struct ws_get *get;
	struct ws_buf *text;
};

static enum ws_begin
begin_text(struct ws_request *request, struct ws_err *err WS_UNUSED)
{
	ws_buf_clear(((struct getting *)request)->text);
	return WS_BEGIN_GO;
}

static bool
add_text(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct getting *g = (struct getting *)request;
	if (len > g->get->limit_bytes - g->text->len) {
		g->get->is_too_long = true;
		return ws_err_set(err, WS_ERR_FETCH, "'%s' is longer than %zu bytes, which is unexpected",
			request->subject, g->get->limit_bytes);
	}
	ws_buf_add(g->text, bytes, len);
	return true;
}

bool
ws_get_text(struct ws_http *http, struct ws_get *get, struct ws_arena *a, struct ws_buf *text,
	struct ws_err *err)
{
	struct getting g = {.get = get, .text = text};
	get->is_too_long = false;
	g.request = (struct ws_request){
		.url = get->url,
		.subject = get->subject ? get->subject : ws_url_shown(get->url, a),
		.accept = get->accept,
		.compressed = true,
		.begin = begin_text,
		.body = add_text,
		.final_in = a,
	};
	struct ws_request *const only = &g.request;
	struct ws_batch batch = {.requests = &only, .count = 1};
	bool ok = ws_http_run(http, &batch, err);
	get->reply = g.request.reply;
	get->final_url = g.request.final_url;
	return ok;
}
