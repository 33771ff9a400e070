#include "config/shared.h"

#include "config/values.h"

#include <string.h>

static bool
read_access(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {"read", "write"};
	bool *write = into;
	if (!ws_text_of(r, value, "an access")) {
		return false;
	}
	*write = strcmp(value->text, "write") == 0;
	return *write || strcmp(value->text, "read") == 0
		|| ws_word_err(r, value, "kind of access", words, WS_LEN(words));
}

static const struct ws_type type_access = WS_VALUES(bool, "an access", "accesses", read_access);

static const struct ws_field fields[] = {
	{WS_ONE(struct ws_user_remote, endpoint, "endpoint", ws_type_url), .flags = WS_FIELD_REQUIRED,
		.example = "\"https://cache.example.com/wheels\""},
	{WS_ONE(struct ws_user_remote, write, "access", type_access)},
	{WS_ONE(struct ws_user_remote, headers, "headers", ws_type_path)},
	{WS_ONE(struct ws_user_remote, key, "key", ws_type_path)},
	{WS_MANY(struct ws_user_remote, trust, trust_count, "trust", ws_type_path),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"~/ci.pem.pub\"]"},
};
static const struct ws_table table = {"a remote", fields, WS_LEN(fields)};

static bool
read_remote(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_user_remote *remote = into;
	if (!ws_object_read(r, value, &table, remote)) {
		return false;
	}
	size_t len = strlen(remote->endpoint);
	while (len > 0 && remote->endpoint[len - 1] == '/') {
		len--;
	}
	remote->endpoint = ws_arena_copy(r->a, remote->endpoint, len);
	if (remote->write && !remote->key) {
		ws_json_err(
			r->doc, value, r->err, "'remote' has the access 'write' and no 'key' to sign with");
		return ws_err_cure(
			r->err, "a private Ed25519 key, as openssl makes it; docs/farm.md tells more");
	}
	if (!remote->key && remote->trust_count == 0) {
		ws_json_err(r->doc, value, r->err, "'remote' has no 'trust': nobody's results would count");
		return ws_err_cure(
			r->err, "name the public keys of those who write there: \"trust\": [\"ci.pem.pub\"]");
	}
	return true;
}

const struct ws_type ws_type_user_remote = WS_OBJECTS(struct ws_user_remote, read_remote);
