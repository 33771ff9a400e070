/* shared_results.c - maps states of items to misses, and stops using a server that fails. Only
 * reading the configuration can fail. */
#include "remote/shared_results.h"

#include "base/fs.h"
#include "remote/grpc_cache.h"
#include "remote/record_text.h"
#include "store/cas.h"

struct ws_shared_results {
	struct ws_shared shared; /* first */
	struct ws_shared_results_config config;
	struct ws_arena *a;
	struct ws_remote_cache *cache;
	struct ws_sign_key *key;              /* NULL: read only */
	WS_VEC(struct ws_sign_key *) trusted; /* with `key` */
	const char *shown;                    /* the endpoint, for messages */
	bool closed;                          /* not used any more */
	bool has_warned;                      /* the warning about wrong entries was given */
	unsigned files;                       /* number of temporary files so far */
};

/* ---- the server fails ---- */

static void
close_reading(struct ws_shared_results *r, const char *why)
{
	if (!r->closed) {
		r->closed = true;
		r->shared.writes = false;
		ws_events_warn(r->config.events,
			"shared results at '%s' are not used any more in this run: %s", r->shown, why);
	}
}

static void
warn_of_wrong_entries(struct ws_shared_results *r, const char *what)
{
	if (!r->has_warned) {
		r->has_warned = true;
		ws_events_warn(
			r->config.events, "'%s' has %s; they are ignored and rebuilt locally", r->shown, what);
	}
}

/* ---- getting ---- */

/* Checks an item for a failure of the server. */
static void
check_server(struct ws_shared_results *r, const struct ws_item *item)
{
	if (item->came == WS_CAME_REFUSED || item->came == WS_CAME_SILENT) {
		close_reading(r, item->failure);
	}
}

/* After a stop or a local error, send no more requests. */
static void
stop_if(struct ws_shared_results *r, bool ran)
{
	r->closed = r->closed || !ran;
}

static void
get_records(
	struct ws_shared *self, struct ws_shared_record *records, size_t count, struct ws_arena *a)
{
	struct ws_shared_results *r = (struct ws_shared_results *)self;
	struct ws_item *items = WS_NEW_N(a, struct ws_item, count);
	if (r->closed) {
		return;
	}
	for (size_t i = 0; i < count; i++) {
		WS_AUTO_BUF struct ws_buf command = {0}, action = {0};
		struct ws_digest key =
			ws_action_result_key(records[i].kind, records[i].key, &command, &action);
		items[i].key = ws_arena_strdup(a, key.hex);
		items[i].size_bytes = action.len;
	}
	stop_if(r, r->cache->get_messages(r->cache, items, count));
	struct ws_signers signers = {r->trusted.at, r->trusted.len};
	for (size_t i = 0; i < count; i++) {
		struct ws_shared_record *record = &records[i];
		struct ws_str signed_text, text;
		struct ws_shared_file *files;
		size_t file_count;
		bool came = items[i].came == WS_CAME_WHOLE;
		check_server(r, &items[i]);
		if (came
			&& ws_action_result_read(
				ws_buf_str(&items[i].bytes), a, &signed_text, &files, &file_count)
			&& ws_signed_text_read(signed_text, &signers, record->kind, record->key, &text)) {
			ws_buf_add(&record->text, text.s, text.n);
			record->files = files;
			record->file_count = file_count;
		} else if (came || items[i].came == WS_CAME_WRONG) {
			warn_of_wrong_entries(r, "records that no trusted key has signed");
		}
		ws_buf_release(&items[i].bytes);
	}
}

static void
get_files(struct ws_shared *self, struct ws_shared_file *files, size_t count)
{
	struct ws_shared_results *r = (struct ws_shared_results *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_item *items = WS_NEW_N(a, struct ws_item, count);
	if (r->closed) {
		return;
	}
	for (size_t i = 0; i < count; i++) {
		items[i].key = files[i].digest;
		items[i].path = files[i].path ? files[i].path
									  : ws_arena_printf(a, "%s/partial/shared-%d-%u",
										  r->config.store->path, getpid(), ++r->files);
		items[i].size_bytes = files[i].size_bytes;
	}
	stop_if(r, r->cache->get_files(r->cache, items, count));
	for (size_t i = 0; i < count; i++) {
		struct ws_digest digest;
		check_server(r, &items[i]);
		if (items[i].came == WS_CAME_WHOLE) { /* into the store, or left at its path */
			files[i].here =
				files[i].path || ws_cas_take(r->config.store, items[i].path, &digest, NULL, NULL);
		} else if (items[i].came == WS_CAME_WRONG) {
			warn_of_wrong_entries(r, "files that do not match their digest");
		}
		if (!files[i].here) {
			unlink(items[i].path);
		}
	}
}

/* ---- putting ---- */

/* False: the server refused a file. Stops writing at all if @a all, else this record. */
static bool
were_stored(
	struct ws_shared_results *r, bool ran, const struct ws_item *items, size_t count, bool all)
{
	stop_if(r, ran);
	for (size_t i = 0; i < count && ran && r->shared.writes; i++) {
		if (items[i].came == WS_CAME_SILENT) {
			close_reading(r, items[i].failure);
		} else if (items[i].came != WS_CAME_WHOLE && all) {
			r->shared.writes = false;
			ws_events_warn(r->config.events,
				"results are not shared any more in this run: '%s' refuses them: %s", r->shown,
				items[i].failure);
		} else if (items[i].came != WS_CAME_WHOLE) {
			ws_events_warn(r->config.events,
				"'%s' refuses a file of %llu bytes; other hosts must download "
				"its tree: %s",
				r->shown, (unsigned long long)items[i].size_bytes, items[i].failure);
			return false;
		}
	}
	return ran && r->shared.writes;
}

typedef WS_VEC(struct ws_item) item_list;

/* Adds the files of a record to @a items, each once and with sizes, and keeps those that the
 * record names. False: a file is missing on this host. */
static bool
list_files(struct ws_shared_results *r, struct ws_shared_record *record, item_list *items,
	struct ws_map *seen, struct ws_arena *a)
{
	WS_VEC(struct ws_shared_file) named = {0};
	for (size_t i = 0; i < record->file_count; i++) {
		struct stat status;
		struct ws_shared_file file = record->files[i];
		if (!file.there) {
			file.path = file.path ? file.path : ws_cas_open(r->config.store, file.digest, a, NULL);
			if (!file.path || stat(file.path, &status) < 0) {
				return false;
			}
			file.size_bytes = (uint64_t)status.st_size;
			if (ws_map_add(seen, file.digest, a)) {
				*ws_vec_push(items, a) = (struct ws_item){
					.key = file.digest, .path = file.path, .size_bytes = file.size_bytes};
			}
		}
		if (!file.unnamed) {
			*ws_vec_push(&named, a) = file;
		}
	}
	record->files = named.at;
	record->file_count = named.len;
	return true;
}

/* The ActionResult of a record, and the messages of its Action for servers that need them. */
static struct ws_item
make_message(struct ws_shared_results *r, const struct ws_shared_record *record, item_list *files,
	struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_item message = {0}, parts[2] = {0};
	struct ws_digest key =
		ws_action_result_key(record->kind, record->key, &parts[0].bytes, &parts[1].bytes);
	message.key = ws_arena_strdup(a, key.hex);
	message.size_bytes = parts[1].bytes.len;
	ws_signed_text_write(r->key, record->kind, record->key, ws_buf_str(&record->text), &text);
	ws_action_result_write(ws_buf_str(&text), record->files, record->file_count, &message.bytes);
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		struct ws_digest digest = ws_digest_bytes(parts[i].bytes.data, parts[i].bytes.len);
		parts[i].key = ws_arena_strdup(a, digest.hex);
		parts[i].size_bytes = parts[i].bytes.len;
		*ws_vec_push(files, a) = parts[i];
	}
	return message;
}

static void
release_items(struct ws_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ws_buf_release(&items[i].bytes);
	}
}

static void
put_records(struct ws_shared *self, const struct ws_shared_record *records, size_t count)
{
	struct ws_shared_results *r = (struct ws_shared_results *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_item *messages = WS_NEW_N(a, struct ws_item, count);
	struct ws_shared_record *sized = WS_NEW_N(a, struct ws_shared_record, count);
	struct ws_map seen = {0};
	item_list files = {0};
	for (size_t i = 0; i < count; i++) {
		sized[i] = records[i];
		if (r->closed || !r->shared.writes || !list_files(r, &sized[i], &files, &seen, a)) {
			return;
		}
	}
	size_t of_records = files.len;
	for (size_t i = 0; i < count; i++) {
		messages[i] = make_message(r, &sized[i], &files, a);
	}
	size_t sent = r->cache->wants_actions ? files.len : of_records;
	/* Files of downloads are larger than results: a server may have a limit between both. */
	bool all = strcmp(records[0].kind, "tree") != 0 && strcmp(records[0].kind, "file") != 0;
	if (were_stored(r, r->cache->put_files(r->cache, files.at, sent), files.at, sent, all)) {
		were_stored(r, r->cache->put_messages(r->cache, messages, count), messages, count, true);
	}
	release_items(files.at, files.len);
	release_items(messages, count);
}

/* ---- opening ---- */

static bool
read_keys(struct ws_shared_results *r, struct ws_err *err)
{
	const struct ws_shared_results_config *c = &r->config;
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
	return true;
}

struct ws_shared_results *
ws_shared_results_open(
	const struct ws_shared_results_config *config, struct ws_arena *a, struct ws_err *err)
{
	struct ws_shared_results *r = WS_NEW(a, struct ws_shared_results);
	r->config = *config;
	r->a = a;
	r->shown = config->server->shown;
	r->shared = (struct ws_shared){config->write, get_records, get_files, put_records};
	const struct ws_server *server = config->server;
	if (read_keys(r, err)) {
		r->cache = server->is_grpc ? ws_grpc_cache_open(&server->rpc, server->config.instance, a)
								   : ws_http_cache_open(server, a, err);
	}
	if (!r->cache) {
		ws_shared_results_close(r);
		return NULL;
	}
	return r;
}

void
ws_shared_results_close(struct ws_shared_results *r)
{
	if (!r) {
		return;
	}
	for (size_t i = 0; i < r->trusted.len; i++) {
		ws_sign_key_drop(r->trusted.at[i]);
	}
	if (r->cache) {
		r->cache->close(r->cache);
	}
}

struct ws_shared *
ws_shared_results_interface(struct ws_shared_results *r)
{
	return r ? &r->shared : NULL;
}
