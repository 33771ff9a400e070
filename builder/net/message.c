#include "net/message.h"

#include "base/crypto.h"
#include "base/fs.h"

#include <strings.h>

/* ---- the body of a request ---- */

void
ws_body_rewind(struct ws_body_reader *r)
{
	if (r->fd >= 0) {
		close(r->fd);
		r->fd = -1;
	}
	ws_hasher_drop(r->hasher);
	r->hasher = NULL;
	r->done_bytes = 0;
}

ptrdiff_t
ws_body_read(struct ws_body_reader *r, void *to, size_t room)
{
	const struct ws_body *body = r->body;
	uint64_t left = body->length_bytes - r->done_bytes;
	size_t len = left < room ? (size_t)left : room;
	if (len == 0) {
		return 0;
	}
	if (body->bytes) {
		memcpy(to, (const char *)body->bytes + r->done_bytes, len);
	} else {
		if (r->fd < 0 && (r->fd = ws_fs_open_regular(body->path, 0, NULL, NULL)) < 0) {
			return -1;
		}
		ssize_t got = pread(r->fd, to, len, (off_t)(body->offset + r->done_bytes));
		if (got <= 0) {
			return -1;
		}
		len = (size_t)got;
	}
	r->done_bytes += len;
	if (!body->sha256) {
		return (ptrdiff_t)len;
	}
	r->hasher = r->hasher ? r->hasher : ws_hasher_make();
	ws_hasher_add(r->hasher, to, len);
	if (r->done_bytes < body->length_bytes) {
		return (ptrdiff_t)len;
	}
	/* The last bytes are sent only if the digest of all is as expected. */
	struct ws_digest digest = ws_hasher_finish(r->hasher);
	r->hasher = NULL;
	return ws_digest_is(&digest, body->sha256) ? (ptrdiff_t)len : -1;
}

/* ---- the head of a reply ---- */

/* "bytes 0-99/1000"; the length may be an asterisk. The form without a span (416) is not a
 * range. */
static bool
read_range(struct ws_reply *reply, struct ws_str value)
{
	struct ws_str unit = ws_str_cut(&value, ' ');
	if (!ws_str_is(unit, "bytes") || !value.s) {
		return false;
	}
	struct ws_str span = ws_str_cut(&value, '/');
	struct ws_str first = ws_str_cut(&span, '-');
	if (!value.s || !span.s || !ws_str_to_u64(ws_str_trim(first), &reply->range_first)
		|| !ws_str_to_u64(ws_str_trim(span), &reply->range_last)
		|| reply->range_last < reply->range_first) {
		return false;
	}
	struct ws_str total = ws_str_trim(value);
	if (ws_str_is(total, "*")) {
		reply->range_total = UINT64_MAX;
		return true;
	}
	return ws_str_to_u64(total, &reply->range_total) && reply->range_total > reply->range_last;
}

static bool
is_named(struct ws_str name, const char *field)
{
	return name.n == strlen(field) && strncasecmp(field, name.s, name.n) == 0; /* RFC 9110, 5.1 */
}

void
ws_reply_add(struct ws_reply *reply, struct ws_str line)
{
	line = ws_str_trim(line);
	if (line.n > 5 && memcmp(line.s, "HTTP/", 5) == 0) {
		uint64_t status;
		*reply = (struct ws_reply){0};
		ws_str_cut(&line, ' ');
		if (line.s && ws_str_to_u64(ws_str_cut(&line, ' '), &status) && status < 1000) {
			reply->status = (unsigned)status;
		}
		return;
	}
	struct ws_str name = ws_str_cut(&line, ':');
	if (!line.s) {
		return;
	}
	struct ws_str value = ws_str_trim(line);
	if (is_named(name, "content-length")) {
		reply->has_length = ws_str_to_u64(value, &reply->length_bytes);
	} else if (is_named(name, "content-range")) {
		reply->has_range = read_range(reply, value);
	}
	const struct {
		const char *name;
		char *to;
		size_t size;
		bool lower; /* and without parameters */
	} fields[] = {
		{"content-type", reply->type, sizeof(reply->type), true},
		{"content-encoding", reply->encoding, sizeof(reply->encoding), true},
		{"etag", reply->etag, sizeof(reply->etag), false},
		{"last-modified", reply->modified, sizeof(reply->modified), false},
	};
	for (size_t i = 0; i < WS_LEN(fields); i++) {
		if (!is_named(name, fields[i].name)) {
			continue;
		}
		value = fields[i].lower ? ws_str_trim(ws_str_cut(&value, ';')) : value;
		size_t len = value.n < fields[i].size ? value.n : 0;
		memcpy(fields[i].to, len > 0 ? value.s : "", len);
		fields[i].to[len] = '\0';
		if (fields[i].lower) {
			ws_lower_all(fields[i].to);
		}
	}
	if (strcmp(reply->encoding, "identity") == 0) {
		reply->encoding[0] = '\0';
	}
}

const char *
ws_reply_validator(const struct ws_reply *reply)
{
	return reply->etag[0] == '"' ? reply->etag : reply->modified;
}

bool
ws_reply_is_good(const struct ws_reply *reply)
{
	return reply->status >= 200 && reply->status < 300;
}

bool
ws_reply_is_range(const struct ws_reply *reply, uint64_t first, uint64_t last, uint64_t total)
{
	return reply->status == 206 && reply->has_range && reply->range_first == first
		&& reply->range_last == last && reply->range_total != UINT64_MAX
		&& (total == UINT64_MAX || reply->range_total == total);
}

bool
ws_reply_is_absent(const struct ws_reply *reply)
{
	return reply->status == 404 || reply->status == 410
		|| (reply->status == 403 && !reply->with_login);
}
