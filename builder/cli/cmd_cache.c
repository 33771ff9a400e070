/* cmd_cache.c - wheelsmith cache: statistics, damage, garbage collection, export and import. */
#include "base/fs.h"
#include "bundle/bundle.h"
#include "cli/session.h"
#include "report/format.h"

#define LOCK_MOST ((size_t)64 << 20)

/* ---- the record ---- */

struct room {
	const char *name;
	struct ws_inventory_gone held;
};

struct result {
	const char *store;
	uint64_t bytes;
	struct room rooms[WS_ROOMS];
	const struct room *all_rooms; /* rooms, for stats */
	size_t room_count;
	const struct ws_inventory_gone *damaged, *removed;
	const struct ws_bundle_count *exported, *imported;
};

static const struct ws_field some_fields[] = {
	WS_VALUE("count", struct ws_inventory_gone, count, WS_ALWAYS, NULL),
	WS_VALUE("bytes", struct ws_inventory_gone, bytes, WS_ALWAYS, NULL),
};
static const struct ws_table some_table = {"some", some_fields, WS_LEN(some_fields)};

static const struct ws_field shared_fields[] = {
	WS_VALUE("results", struct ws_bundle_count, results, WS_ALWAYS, NULL),
	WS_VALUE("files", struct ws_bundle_count, files, WS_ALWAYS, NULL),
	WS_VALUE("bytes", struct ws_bundle_count, bytes, WS_ALWAYS, "unpacked"),
};
static const struct ws_table shared_table = {"shared", shared_fields, WS_LEN(shared_fields)};

static const struct ws_field room_fields[] = {
	WS_VALUE("name", struct room, name, WS_ALWAYS, NULL),
	WS_OBJECT("held", struct room, held, some_table, WS_ALWAYS, NULL),
};
static const struct ws_table room_table = {NULL, room_fields, WS_LEN(room_fields)};

static const struct ws_field result_fields[] = {
	WS_FIXED("schema", "wheelsmith.cache/1"),
	WS_VALUE("store", struct result, store, WS_ALWAYS, "the folder"),
	WS_VALUE("bytes", struct result, bytes, WS_IF_ANY, "stats: of all rooms"),
	WS_MAP("rooms", struct result, all_rooms, room_count, room_table, WS_IF_ANY,
		"stats: files, results, trees, git, partial"),
	WS_POINTED("damaged", struct result, damaged, some_table, WS_IF_ANY,
		"verify: damaged files, which were removed"),
	WS_POINTED("removed", struct result, removed, some_table, WS_IF_ANY, "gc"),
	WS_POINTED("exported", struct result, exported, shared_table, WS_IF_ANY, "export"),
	WS_POINTED("imported", struct result, imported, shared_table, WS_IF_ANY, "import"),
};
const struct ws_table ws_cache_result_table = {NULL, result_fields, WS_LEN(result_fields)};

/* ---- the parts ---- */

struct caching {
	struct ws_session *s;
	uint64_t most_bytes;
	ws_words locks;
	const char *file;
	struct ws_inventory inventory;
	struct ws_inventory_gone gone;
	struct ws_bundle_count count;
	struct result result;
};

static bool
count_rooms(struct caching *c, struct ws_err *err WS_UNUSED)
{
	const struct ws_inventory *all = &c->inventory;
	struct result *result = &c->result;
	result->bytes = all->bytes;
	result->all_rooms = result->rooms;
	result->room_count = WS_ROOMS;
	for (enum ws_room room = 0; room < WS_ROOMS; room++) {
		result->rooms[room].name = ws_room_name(room);
	}
	for (size_t i = 0; i < all->items.len; i++) {
		struct ws_inventory_gone *held = &result->rooms[all->items.at[i].room].held;
		held->bytes += all->items.at[i].bytes;
		held->count++;
	}
	return true;
}

static bool
verify(struct caching *c, struct ws_err *err)
{
	c->result.damaged = &c->gone;
	if (!ws_inventory_verify(&c->s->store, &c->inventory, &c->s->stop, &c->gone, err)) {
		return false;
	}
	*err = (struct ws_err){.kind = WS_ERR_NEGATIVE};
	return c->gone.count == 0;
}

static bool
collect_garbage(struct caching *c, struct ws_err *err)
{
	c->result.removed = &c->gone;
	return ws_inventory_shrink(&c->s->store, &c->inventory, c->most_bytes, &c->gone, err);
}

static bool export(struct caching *c, struct ws_err *err)
{
	c->result.exported = &c->count;
	return ws_bundle_export(&c->s->store, &c->inventory, c->file, &c->s->stop, &c->count, err);
}

static bool
import(struct caching *c, struct ws_err *err)
{
	c->result.imported = &c->count;
	return ws_bundle_import(&c->s->store, c->file, &c->s->stop, c->s->a, &c->count, err);
}

static void
print_text(const struct caching *c)
{
	const struct ws_out *out = &c->s->out;
	const struct result *r = &c->result;
	char size[WS_FORMAT_BYTES];
	for (size_t i = 0; i < r->room_count; i++) {
		ws_out_result(out, "%-8s  %7u  %9s\n", r->rooms[i].name, r->rooms[i].held.count,
			ws_format_size(r->rooms[i].held.bytes, size));
	}
	if (r->room_count > 0) {
		ws_out_result(out, "all       %7zu  %9s  %s\n", c->inventory.items.len,
			ws_format_size(r->bytes, size), r->store);
	} else if (r->damaged || r->removed) {
		ws_out_result(out, "%s: %u, %s\n", r->damaged ? "damaged" : "removed", c->gone.count,
			ws_format_size(c->gone.bytes, size));
	} else {
		ws_out_result(out, "%s: %zu results, %zu files, %s\n",
			r->exported ? "exported" : "imported", c->count.results, c->count.files,
			ws_format_size(c->count.bytes, size));
	}
}

static const struct part {
	const char *name;
	bool (*run)(struct caching *c, struct ws_err *err);
	bool lists, takes_file, shrinks;
} parts[] = {
	{"stats", count_rooms, true, false, false},
	{"verify", verify, true, false, false},
	{"gc", collect_garbage, true, false, true},
	{"export", export, true, true, false},
	{"import", import, false, true, false},
};

static const struct part *
find_part(const struct caching *c, struct ws_err *err)
{
	const ws_words *words = &c->s->words;
	const struct part *part = NULL;
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		part = strcmp(parts[i].name, words->at[0]) == 0 ? &parts[i] : part;
	}
	if (!part) {
		ws_err_set(err, WS_ERR_USAGE, "wheelsmith cache has no part '%s'", words->at[0]);
		ws_err_cure(err, "`wheelsmith cache --help` lists the parts");
		return NULL;
	}
	if (part->takes_file != (words->len == 2)) {
		ws_err_set(err, WS_ERR_USAGE, "wheelsmith cache %s: %s", part->name,
			part->takes_file ? "a FILE is missing" : "takes no FILE");
		return NULL;
	}
	if (part->shrinks != (c->most_bytes > 0) || (c->locks.len > 0 && !part->shrinks)) {
		ws_err_set(err, WS_ERR_USAGE,
			part->shrinks ? "wheelsmith cache gc: --max-size is missing"
						  : "--max-size and --lock are for `wheelsmith cache gc`");
		return NULL;
	}
	return part;
}

bool
ws_cmd_cache(struct ws_session *s, struct ws_err *err)
{
	struct caching c = {.s = s};
	const struct ws_option rows[] = {
		{"max-size", 0, WS_OPTION_SIZE, &c.most_bytes, "SIZE", "gc: keep at most this much: 20G"},
		{"lock", 0, WS_OPTION_LIST, &c.locks, "FILE", "gc: remove what this lock names last"},
	};
	struct ws_usage usage = {
		.command = "cache",
		.synopsis = "stats\nverify\ngc --max-size SIZE [--lock FILE]...\nexport FILE\nimport FILE",
		.summary =
			"Looks after the store.\n"
			"  stats    prints how much of each kind it holds\n"
			"  verify   reads all files and removes damaged ones; exits 1 if there were any\n"
			"  gc       removes least recently used entries; wheels last\n"
			"  export   writes all results of builds into one file\n"
			"  import   reads such a file; only from somebody whose compiler you would run",
		.least = 1,
		.most = 2,
		.parts = "stats verify gc export import",
		WS_OPTIONS(rows),
	};
	const struct part *part = ws_command_options(s, &usage, err) ? find_part(&c, err) : NULL;
	if (!part || !ws_session_open_store(s, false, err)) {
		return false;
	}
	c.file = s->words.len == 2 ? s->words.at[1] : NULL;
	const char **locks = WS_NEW_N(s->a, const char *, c.locks.len + 1);
	for (size_t i = 0; i < c.locks.len; i++) {
		WS_AUTO_BUF struct ws_buf text = {0};
		if (!ws_fs_read_at_most(c.locks.at[i], LOCK_MOST, &text, err)) {
			return false;
		}
		locks[i] = ws_buf_copy(&text, s->a);
	}
	if (part->lists && !ws_inventory_take(&s->store, locks, c.locks.len, s->a, &c.inventory, err)) {
		return false;
	}
	c.result.store = s->store.path;
	bool fine = part->run(&c, err);
	if (!fine && err->kind != WS_ERR_NEGATIVE) {
		return false;
	}
	if (s->globals.json) {
		ws_session_print_json(s, &ws_cache_result_table, &c.result);
	} else {
		print_text(&c);
	}
	return fine;
}
