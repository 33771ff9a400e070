/* user.c - the table of the user's configuration. */
#include "config/user.h"

#include "base/fs.h"
#include "config/document.h"
#include "config/values.h"

static const char *const access_words[] = {[WS_REMOTE_READ] = "read",
	[WS_REMOTE_WRITE] = "write",
	[WS_REMOTE_NONE] = "none",
	[WS_REMOTE_NONE + 1] = NULL};

static bool
is_grpc(const char *text)
{
	return ws_starts_with(text, "grpc://") || ws_starts_with(text, "grpcs://");
}

static bool
read_endpoint(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a URL");
	if (!text || !is_grpc(text)) {
		return text && ws_type_url.read(r, value, into);
	}
	const char *host = strstr(text, "://") + 3;
	if (host[0] == '\0' || host[strcspn(host, "/@?# \t\n\"'\\")] != '\0') {
		ws_json_err(r->doc, value, r->err, "'endpoint' is not a host and its port");
		return ws_err_cure(r->err, "grpc://HOST:PORT, or grpcs://HOST:PORT with TLS");
	}
	return (*(const char **)into = text);
}

static bool
read_property(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a property");
	if (text && (text[0] == '=' || !strchr(text, '='))) {
		ws_json_err(r->doc, value, r->err, "a property is NAME=VALUE");
		return false;
	}
	return text && (*(const char **)into = text);
}

static const struct ws_type type_property =
	WS_VALUES(const char *, "a property", "properties", read_property);
static const struct ws_type type_endpoint = WS_VALUES(const char *, "a URL", "URLs", read_endpoint);

static const struct ws_field remote_fields[] = {
	{WS_ONE(struct ws_user_remote, endpoint, "endpoint", type_endpoint), .flags = WS_FIELD_REQUIRED,
		.example = "\"https://cache.example.com/wheels\""},
	{WS_ONE(struct ws_user_remote, instance, "instance", ws_type_text)},
	WS_WORD("access", struct ws_user_remote, access, access_words, WS_IF_ANY, NULL),
	{WS_ONE(struct ws_user_remote, certificate, "certificate", ws_type_path)},
	{WS_ONE(struct ws_user_remote, certificate_key, "certificate_key", ws_type_path)},
	{WS_ONE(struct ws_user_remote, headers, "headers", ws_type_path)},
	{WS_ONE(struct ws_user_remote, key, "key", ws_type_path)},
	{WS_MANY(struct ws_user_remote, trust, trust_count, "trust", ws_type_path),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"~/ci.pem.pub\"]"},
	{WS_MANY(struct ws_user_remote, properties, property_count, "platform", type_property),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"OSFamily=linux\"]"},
	{WS_ONE(struct ws_user_remote, slots, "slots", ws_type_number)},
};
static const struct ws_table remote_table = {"a remote", remote_fields, WS_LEN(remote_fields)};

static bool
read_remote(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_user_remote *remote = into;
	if (!ws_object_read(r, value, &remote_table, remote)) {
		return false;
	}
	size_t len = strlen(remote->endpoint);
	while (len > 0 && remote->endpoint[len - 1] == '/') {
		len--;
	}
	remote->endpoint = ws_arena_copy(r->a, remote->endpoint, len);
	bool grpc = is_grpc(remote->endpoint);
	if (!grpc
		&& (remote->instance || remote->certificate || remote->certificate_key
			|| remote->property_count > 0 || remote->slots > 0)) {
		ws_json_err(r->doc, value, r->err,
			"'instance', 'certificate', 'platform' and 'slots' are of a server by gRPC");
		return ws_err_cure(r->err, "\"endpoint\": \"grpcs://HOST:PORT\"");
	}
	if (!remote->certificate != !remote->certificate_key) {
		return ws_json_err(
			r->doc, value, r->err, "'certificate' and 'certificate_key' belong together");
	}
	if (remote->access == WS_REMOTE_WRITE && !remote->key) {
		ws_json_err(
			r->doc, value, r->err, "'remote' has the access 'write' and no 'key' to sign with");
		return ws_err_cure(r->err, "a private Ed25519 key, as openssl makes it; see docs/farm.md");
	}
	if (!grpc && remote->access == WS_REMOTE_NONE) {
		return ws_json_err(r->doc, value, r->err, "access 'none' makes this cache useless");
	}
	if (remote->access != WS_REMOTE_NONE && !remote->key && remote->trust_count == 0) {
		ws_json_err(
			r->doc, value, r->err, "'remote' has no 'trust': every result would be ignored");
		return ws_err_cure(
			r->err, "name the public keys of those who write there: \"trust\": [\"ci.pem.pub\"]");
	}
	return true;
}

static const struct ws_type type_remote = WS_OBJECTS(struct ws_user_remote, read_remote);

/* ---- the whole configuration ---- */

static const struct ws_field fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{WS_ONE(struct ws_user_config, store, "store", ws_type_path)},
	{WS_ONE(struct ws_user_config, store_bytes, "store_bytes", ws_type_size)},
	{WS_ONE(struct ws_user_config, indexes, "indexes", ws_type_indexes)},
	{WS_ONE(struct ws_user_config, debian_mirror, "debian_mirror", ws_type_url)},
	{WS_ONE(struct ws_user_config, redist, "redist", ws_type_url)},
	{WS_MANY(struct ws_user_config, recipes, recipe_count, "recipes", ws_type_path),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"~/recipes\"]"},
	{WS_ONE(struct ws_user_config, policy, "policy", ws_type_policy)},
	{WS_ONE(struct ws_user_config, remote, "remote", type_remote)},
};
static const struct ws_table table = {"the configuration", fields, WS_LEN(fields)};

const char *
ws_user_config_path(const struct ws_user_env *env, struct ws_arena *a)
{
	const char *folder = ws_user_env_config_home(env, a);
	return folder ? ws_path_join(a, folder, "wheelsmith/config.json", NULL) : NULL;
}

bool
ws_user_config_parse(const struct ws_json_doc *doc, const char *folder, const char *home,
	struct ws_arena *a, struct ws_user_config *config, struct ws_err *err)
{
	struct ws_reader r = {.doc = doc, .folder = folder, .home = home, .a = a, .err = err};
	*config = (struct ws_user_config){.path = doc->name};
	return ws_object_read(&r, doc->root, &table, config);
}

bool
ws_user_config_read(const char *path, const char *home, struct ws_arena *a,
	struct ws_user_config *config, struct ws_err *err)
{
	struct ws_document document;
	*config = (struct ws_user_config){0};
	if (!path || !ws_fs_exists(path)) {
		return true;
	}
	return ws_document_read(path, "configuration", a, &document, err)
		&& ws_user_config_parse(document.doc, document.folder, home, a, config, err);
}
