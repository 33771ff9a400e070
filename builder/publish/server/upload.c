#include "publish/server/upload.h"

#include "base/arena.h"
#include "base/fs.h"
#include "net/index.h"
#include "net/url.h"
#include "publish/admit.h"
#include "publish/answer.h"
#include "publish/gpu_check.h"
#include "publish/server/form.h"
#include "publish/sources.h"

#include <string.h>

#define LONGEST_ANSWER ((size_t)4 << 10)
#define ENDLESS_ANSWER ((uint64_t)1 << 20)

/* One that is to be uploaded. */
struct wheel {
	const char *path;
	struct ws_index_entry entry;
	struct ws_buf metadata;
	bool there;          /* the server has it */
	const char *unasked; /* why no index said what the server has; NULL: one did */
};

struct uploading {
	const struct ws_upload_order *order;
	struct ws_arena *a;
	WS_VEC(struct wheel) wheels;
	struct ws_map checks; /* of GPUs */
	struct ws_upload_outcome *outcome;
};

/* ---- what is to be sent ---- */

static bool
read_wheel(struct uploading *u, const char *path, struct ws_err *err)
{
	const struct ws_upload_order *o = u->order;
	struct wheel *wheel = ws_vec_push(&u->wheels, u->a);
	struct ws_digest digest;
	struct stat status;
	const char *wrong = NULL;
	*wheel = (struct wheel){.path = path};
	if (ws_stop_asked(o->stop)) {
		return ws_stop_err(o->stop, err);
	}
	if (stat(path, &status) != 0) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", path);
	}
	if (!(o->ledger && ws_ledger_file_digest(o->ledger, path, &digest))
		&& !ws_digest_file(path, &digest, NULL, err)) {
		return false;
	}
	struct ws_index_arrival arrival = {.path = path,
		.file = ws_path_base(path),
		.sha256 = digest.hex,
		.size_bytes = (uint64_t)status.st_size};
	if (!ws_index_admit(&arrival, u->a, &wheel->entry, &wheel->metadata, &wrong, err)) {
		return false;
	}
	if (!wrong && o->gpu_check_count > 0 && wheel->entry.kind != WS_INDEX_NONE) {
		wrong = ws_gpu_check_refusal(&u->checks, digest.hex);
	}
	if (wrong && !o->force) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s': %s", arrival.file, wrong);
	}
	if (wrong && o->warn) {
		o->warn(o->self, arrival.file, wrong);
	}
	if (wheel->entry.restricted && o->restricted) {
		o->restricted(o->self, arrival.file, wheel->entry.restricted);
	}
	return true;
}

static bool
read_wheels(struct uploading *u, struct ws_err *err)
{
	const struct ws_upload_order *o = u->order;
	for (size_t i = 0; i < o->gpu_check_count; i++) {
		if (!ws_gpu_check_read(o->gpu_checks[i], u->a, &u->checks, err)) {
			return false;
		}
	}
	for (size_t i = 0; i < o->source_count; i++) {
		struct ws_index_source source;
		if (!ws_index_source_find(o->sources[i], u->a, &source, err)) {
			return false;
		}
		for (size_t j = 0; j < source.count; j++) {
			if (!read_wheel(u, source.wheels[j], err)) {
				return false;
			}
		}
	}
	return true;
}

/* ---- what is there ---- */

/* Where the simple index of an upload address is: beside ".../legacy/", or below (pypiserver,
 * devpi). */
static size_t
guess_indexes(const struct uploading *u, const char *urls[2])
{
	const char *url = u->order->url;
	size_t len = strlen(url);
	while (len > 0 && url[len - 1] == '/') {
		len--;
	}
	const char *bare = ws_arena_copy(u->a, url, len);
	if (u->order->simple) {
		urls[0] = u->order->simple;
		return 1;
	}
	if (ws_ends_with(bare, "/legacy")) {
		urls[0] = ws_arena_printf(u->a, "%.*s/simple", (int)(len - strlen("/legacy")), bare);
		return 1;
	}
	urls[0] = ws_arena_printf(u->a, "%s/simple", bare);
	urls[1] = ws_arena_printf(u->a, "%s/+simple", bare);
	return 2;
}

/* The sha256 of the file of this name; "" when its index does not say, NULL when it is not there.
 * An address that is a guess may be wrong, and then the next is asked; where none answers,
 * wheel->unasked says why. */
static bool
look_up(struct uploading *u, struct ws_index *index, struct wheel *wheel, const char **sha256,
	struct ws_err *err)
{
	const char *urls[2], *why = NULL;
	size_t count = guess_indexes(u, urls), answered = 0;
	*sha256 = NULL;
	for (size_t i = 0; i < count && !*sha256; i++) {
		const struct ws_index_page *page = NULL;
		struct ws_err ignored = {0};
		if (!ws_index_page(index, urls[i], wheel->entry.name.distribution, &page, &ignored)) {
			if (u->order->simple || ws_err_is_stop(&ignored)) {
				*err = ignored;
				return false;
			}
			why = why ? why : ws_arena_strdup(u->a, ignored.text);
			continue; /* a server that cannot be reached fails the upload */
		}
		answered++;
		for (size_t j = 0; page && j < page->count; j++) {
			if (strcmp(page->files[j].name, wheel->entry.file) == 0) {
				*sha256 = page->files[j].sha256;
			}
		}
	}
	wheel->unasked = answered > 0 ? NULL : why;
	return true;
}

/* True when what the server has is not another file; wheel->there says whether it is this one. */
static bool
compare(struct uploading *u, struct ws_index *index, struct wheel *wheel, struct ws_err *err)
{
	const char *sha256;
	if (!look_up(u, index, wheel, &sha256, err)) {
		return false;
	}
	wheel->there = sha256 && strcmp(sha256, wheel->entry.sha256) == 0;
	if (!sha256 || !sha256[0] || wheel->there) {
		return true;
	}
	ws_err_set(err, WS_ERR_PUBLISH,
		"'%s' is published with other contents (sha256 %.12s..., this one has %.12s...)",
		wheel->entry.file, sha256, wheel->entry.sha256);
	return ws_err_cure(err, "published files are immutable: use another version or build tag");
}

/* ---- sending ---- */

/* A form that is sent, and the answer to it. */
struct post {
	struct ws_request request; /* first */
	struct ws_buf answer;      /* its first bytes */
	uint64_t got_bytes;
};

static bool
read_answer(struct ws_request *request, const void *bytes, size_t len, struct ws_err *err)
{
	struct post *p = (struct post *)request;
	size_t room = LONGEST_ANSWER - p->answer.len;
	ws_buf_add(&p->answer, bytes, len < room ? len : room);
	p->got_bytes += len;
	return p->got_bytes <= ENDLESS_ANSWER
		|| ws_err_set(
			err, WS_ERR_PUBLISH, "the server's answer to '%s' does not end", request->subject);
}

static bool
post(struct uploading *u, const struct wheel *wheel, struct post *p, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf head = {0}, tail = {0};
	struct ws_index_form form = {
		.file = wheel->entry.file,
		.name = &wheel->entry.name,
		.sha256 = wheel->entry.sha256,
		.metadata = ws_buf_str(&wheel->metadata),
		.boundary = ws_arena_printf(u->a, "wheelsmith-%s", wheel->entry.sha256),
	};
	ws_index_form_write(&form, u->a, &head, &tail);
	const struct ws_piece pieces[] = {
		{.bytes = ws_buf_text(&head), .length_bytes = head.len},
		{.path = wheel->path,
			.length_bytes = wheel->entry.size_bytes,
			.sha256 = wheel->entry.sha256},
		{.bytes = ws_buf_text(&tail), .length_bytes = tail.len},
	};
	const struct ws_body body = {pieces, WS_LEN(pieces)};
	const char *type =
		ws_arena_printf(u->a, "Content-Type: multipart/form-data; boundary=%s", form.boundary);
	p->request = (struct ws_request){
		.url = u->order->url,
		.subject = wheel->entry.file,
		.method = "POST",
		.sends = &body,
		.headers = &type,
		.header_count = 1,
		.body = read_answer,
		.refusal = &p->answer,
	};
	struct ws_request *const only = &p->request;
	struct ws_batch batch = {.requests = &only, .count = 1};
	return ws_http_run(u->order->http, &batch, err);
}

static bool
compare_anew(struct uploading *u, struct wheel *wheel, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_err other = {0};
	bool compared = compare(u, ws_index_open(u->order->http, a), wheel, &other);
	*err = compared ? *err : other;
	return compared;
}

/* Servers answer 409, 400 or 403 for a file that they have. It may be this one: sent by an attempt
 * whose answer was lost, or by another publisher. */
static bool
check_refusal(struct uploading *u, struct wheel *wheel, const struct post *p, struct ws_err *err)
{
	unsigned status = p->request.reply.status;
	bool may_be_there = status != 401 && status != 413;
	if (status < 400 || status >= 500) {
		return false;
	}
	if (may_be_there && (!compare_anew(u, wheel, err) || wheel->there)) {
		return wheel->there;
	}
	ws_answer_quote(&p->answer, u->order->login, u->a, err);
	return may_be_there && wheel->unasked
		? ws_err_cure(err, "could not compare with the published file: %s", wheel->unasked)
		: false;
}

/* Package servers answer with nothing, a word or JSON; HTML may be a login page. */
static bool
check_page(struct uploading *u, struct wheel *wheel, const struct post *p, struct ws_err *err)
{
	struct ws_url url;
	if (!ws_answer_is_page(&p->answer, p->request.reply.type)) {
		return true;
	}
	if (!compare_anew(u, wheel, err) || wheel->there) {
		return wheel->there;
	}
	if (!ws_url_parse(u->order->url, u->a, &url, err)) {
		return false;
	}
	ws_err_set(err, WS_ERR_PUBLISH,
		"'%s' answered the upload of '%s' with an HTML page (%u), and its index does not list "
		"that file",
		url.host, wheel->entry.file, p->request.reply.status);
	ws_answer_quote(&p->answer, u->order->login, u->a, err);
	return ws_err_cure(err, "check the address, the login, and where its simple index is");
}

static bool
send(struct uploading *u, struct wheel *wheel, struct ws_err *err)
{
	struct post p = {.answer = {0}};
	bool was_there = wheel->there;
	bool done = was_there;
	if (!was_there && post(u, wheel, &p, err)) {
		done = check_page(u, wheel, &p, err);
	} else if (!was_there && !ws_err_is_stop(err) && check_refusal(u, wheel, &p, err)) {
		*err = (struct ws_err){0};
		done = was_there = true;
	}
	ws_buf_release(&p.answer);
	if (done) {
		u->outcome->there += was_there;
		u->outcome->sent += !was_there;
		u->outcome->sent_bytes += was_there ? 0 : wheel->entry.size_bytes;
		u->order->sent(u->order->self, wheel->entry.file, was_there);
	}
	return done;
}

static bool
upload(struct uploading *u, struct ws_err *err)
{
	struct ws_index *index = ws_index_open(u->order->http, u->a);
	if (!read_wheels(u, err)) {
		return false;
	}
	for (size_t i = 0; i < u->wheels.len; i++) {
		if (!compare(u, index, &u->wheels.at[i], err)) {
			return false;
		}
	}
	for (size_t i = 0; i < u->wheels.len; i++) {
		if (!send(u, &u->wheels.at[i], err)) {
			size_t done = u->outcome->sent + u->outcome->there;
			return done == 0 || ws_err_is_stop(err)
				? false
				: ws_err_cure(err, "%zu of %zu wheels are uploaded; the same command continues",
					done, u->wheels.len);
		}
	}
	return true;
}

bool
ws_index_upload(const struct ws_upload_order *order, struct ws_arena *a,
	struct ws_upload_outcome *outcome, struct ws_err *err)
{
	struct uploading u = {.order = order, .a = a, .outcome = outcome};
	*outcome = (struct ws_upload_outcome){0};
	bool done = upload(&u, err);
	for (size_t i = 0; i < u.wheels.len; i++) {
		ws_buf_release(&u.wheels.at[i].metadata);
	}
	if (!done && !ws_err_is_stop(err) && err->kind != WS_ERR_INTERNAL) {
		err->kind = WS_ERR_PUBLISH;
	}
	return done;
}
