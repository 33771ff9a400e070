/* reply.c - field by field; names are compared without regard to case (RFC 9110, 5.1). */
#include "net/reply.h"

#include <string.h>
#include <strings.h>

static void
keep(char *field, size_t size, struct ws_str value)
{
	size_t len = value.n < size ? value.n : 0;
	if (len > 0) {
		memcpy(field, value.s, len);
	}
	field[len] = '\0';
}

static void
keep_lower(char *field, size_t size, struct ws_str value)
{
	keep(field, size, value);
	ws_lower_all(field);
}

static void
read_status(struct ws_reply *reply, struct ws_str line)
{
	*reply = (struct ws_reply){0};
	ws_str_cut(&line, ' ');
	uint64_t status;
	if (line.s && ws_str_to_u64(ws_str_cut(&line, ' '), &status) && status < 1000) {
		reply->status = (unsigned)status;
	}
}

static void
read_type(struct ws_reply *reply, struct ws_str value)
{
	keep_lower(reply->type, sizeof(reply->type), ws_str_trim(ws_str_cut(&value, ';')));
}

static void
read_encoding(struct ws_reply *reply, struct ws_str value)
{
	keep_lower(reply->encoding, sizeof(reply->encoding), value);
	if (strcmp(reply->encoding, "identity") == 0) {
		reply->encoding[0] = '\0';
	}
}

static void
read_etag(struct ws_reply *reply, struct ws_str value)
{
	keep(reply->etag, sizeof(reply->etag), value);
}

static void
read_modified(struct ws_reply *reply, struct ws_str value)
{
	keep(reply->modified, sizeof(reply->modified), value);
}

static void
read_length(struct ws_reply *reply, struct ws_str value)
{
	reply->has_length = ws_str_to_u64(value, &reply->length_bytes);
}

/* "bytes 0-99/1000"; the length may be an asterisk. The form without a span (416) is not a
 * range. */
static void
read_range(struct ws_reply *reply, struct ws_str value)
{
	reply->has_range = false;
	struct ws_str unit = ws_str_cut(&value, ' ');
	if (!ws_str_is(unit, "bytes") || !value.s) {
		return;
	}
	struct ws_str span = ws_str_cut(&value, '/');
	struct ws_str first = ws_str_cut(&span, '-');
	if (!value.s || !span.s || !ws_str_to_u64(ws_str_trim(first), &reply->range_first)
		|| !ws_str_to_u64(ws_str_trim(span), &reply->range_last)
		|| reply->range_last < reply->range_first) {
		return;
	}
	struct ws_str total = ws_str_trim(value);
	if (ws_str_is(total, "*")) {
		reply->range_total = UINT64_MAX;
	} else if (!ws_str_to_u64(total, &reply->range_total)
		|| reply->range_total <= reply->range_last) {
		return;
	}
	reply->has_range = true;
}

static const struct {
	const char *name;
	void (*take)(struct ws_reply *reply, struct ws_str value);
} fields[] = {
	{"content-type", read_type},
	{"content-encoding", read_encoding},
	{"etag", read_etag},
	{"last-modified", read_modified},
	{"content-length", read_length},
	{"content-range", read_range},
};

void
ws_reply_add(struct ws_reply *reply, struct ws_str line)
{
	line = ws_str_trim(line);
	if (line.n > 5 && memcmp(line.s, "HTTP/", 5) == 0) {
		read_status(reply, line);
		return;
	}
	struct ws_str name = ws_str_cut(&line, ':');
	for (size_t i = 0; line.s && i < WS_LEN(fields); i++) {
		if (strlen(fields[i].name) == name.n && strncasecmp(fields[i].name, name.s, name.n) == 0) {
			fields[i].take(reply, ws_str_trim(line));
		}
	}
}

const char *
ws_reply_strong_etag(const struct ws_reply *reply)
{
	return reply->etag[0] == '"' ? reply->etag : NULL;
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
