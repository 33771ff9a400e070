/* cmd_cache.c - wheelsmith cache: statistics, damage, garbage collection, export and import. */
#include "base/fs.h"
#include "base/json.h"
#include "bundle/shared.h"
#include "cli/session.h"
#include "report/format.h"
#include "store/inventory.h"

#include <string.h>

#define LOCK_MOST ((size_t)64 << 20)

struct caching {
	struct ws_session *s;
	uint64_t most_bytes;
	ws_words locks;
	const char *file;
	struct ws_inventory inventory;
	struct ws_json_writer *w;
};

static const struct ws_option *
make_rows(struct caching *c, size_t *count)
{
	const struct ws_option rows[] = {
		{"max-size", 0, WS_OPTION_SIZE, &c->most_bytes, "SIZE", "gc: keep at most this much: 20G"},
		{"lock", 0, WS_OPTION_LIST, &c->locks, "FILE", "gc: remove what this lock names last"},
	};
	*count = WS_LEN(rows);
	struct ws_option *kept = WS_NEW_N(c->s->a, struct ws_option, WS_LEN(rows));
	memcpy(kept, rows, sizeof(rows));
	return kept;
}

static void
add_number(const struct caching *c, const char *name, uint64_t number)
{
	ws_json_add_u64(c->w, name, number);
}

/* "files 1,234 5.6 GB" for each room. */
static bool
print_stats(struct caching *c, struct ws_err *err WS_UNUSED)
{
	const struct ws_inventory *all = &c->inventory;
	char size[WS_FORMAT_BYTES];
	if (c->w) {
		add_number(c, "bytes", all->bytes);
		ws_json_open_object(c->w, "rooms");
	}
	for (enum ws_room room = 0; room < WS_ROOMS; room++) {
		uint64_t bytes = 0;
		unsigned count = 0;
		for (size_t i = 0; i < all->items.len; i++) {
			bool here = all->items.at[i].room == room;
			bytes += here ? all->items.at[i].bytes : 0;
			count += here;
		}
		if (c->w) {
			ws_json_open_object(c->w, ws_room_name(room));
			add_number(c, "count", count);
			add_number(c, "bytes", bytes);
			ws_json_close(c->w);
		} else {
			ws_out_result(&c->s->out, "%-8s  %7u  %9s\n", ws_room_name(room), count,
				ws_format_size(bytes, size));
		}
	}
	if (c->w) {
		ws_json_close(c->w);
	} else {
		ws_out_result(&c->s->out, "all       %7zu  %9s  %s\n", all->items.len,
			ws_format_size(all->bytes, size), c->s->store.path);
	}
	return true;
}

static void
print_gone(const struct caching *c, const char *what, const struct ws_inventory_gone *gone)
{
	char size[WS_FORMAT_BYTES];
	if (c->w) {
		ws_json_open_object(c->w, what);
		add_number(c, "count", gone->count);
		add_number(c, "bytes", gone->bytes);
		ws_json_close(c->w);
	} else {
		ws_out_result(
			&c->s->out, "%s: %u, %s\n", what, gone->count, ws_format_size(gone->bytes, size));
	}
}

static bool
verify(struct caching *c, struct ws_err *err)
{
	struct ws_inventory_gone damaged;
	if (!ws_inventory_verify(&c->s->store, &c->inventory, &c->s->stop, &damaged, err)) {
		return false;
	}
	print_gone(c, "damaged", &damaged);
	*err = (struct ws_err){.kind = WS_ERR_NEGATIVE};
	return damaged.count == 0;
}

static bool
collect_garbage(struct caching *c, struct ws_err *err)
{
	struct ws_inventory_gone gone;
	if (!ws_inventory_shrink(&c->s->store, &c->inventory, c->most_bytes, &gone, err)) {
		return false;
	}
	print_gone(c, "removed", &gone);
	return true;
}

static void
print_count(const struct caching *c, const char *what, const struct ws_shared_count *count)
{
	char size[WS_FORMAT_BYTES];
	if (c->w) {
		ws_json_open_object(c->w, what);
		add_number(c, "results", count->results);
		add_number(c, "files", count->files);
		add_number(c, "bytes", count->bytes);
		ws_json_close(c->w);
	} else {
		ws_out_result(&c->s->out, "%s: %u results, %u files, %s\n", what, count->results,
			count->files, ws_format_size(count->bytes, size));
	}
}

static bool export(struct caching *c, struct ws_err *err)
{
	struct ws_shared_count count;
	if (!ws_shared_export(&c->s->store, &c->inventory, c->file, &c->s->stop, &count, err)) {
		return false;
	}
	print_count(c, "exported", &count);
	return true;
}

static bool
import(struct caching *c, struct ws_err *err)
{
	struct ws_shared_count count;
	if (!ws_shared_import(&c->s->store, c->file, &c->s->stop, c->s->a, &count, err)) {
		return false;
	}
	print_count(c, "imported", &count);
	return true;
}

static const struct part {
	const char *name;
	bool (*run)(struct caching *c, struct ws_err *err);
	bool lists, takes_file, shrinks;
} parts[] = {
	{"stats", print_stats, true, false, false},
	{"verify", verify, true, false, false},
	{"gc", collect_garbage, true, false, true},
	{"export", export, true, true, false},
	{"import", import, false, true, false},
};

static const struct part *
find_part(const struct caching *c, const ws_words *words, struct ws_err *err)
{
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

static bool
take_inventory(struct caching *c, struct ws_err *err)
{
	struct ws_arena *a = c->s->a;
	const char **locks = WS_NEW_N(a, const char *, c->locks.len + 1);
	for (size_t i = 0; i < c->locks.len; i++) {
		WS_AUTO_BUF struct ws_buf text = {0};
		if (!ws_fs_read_at_most(c->locks.at[i], LOCK_MOST, &text, err)) {
			return false;
		}
		locks[i] = ws_buf_copy(&text, a);
	}
	return ws_inventory_take(&c->s->store, locks, c->locks.len, a, &c->inventory, err);
}

bool
ws_cmd_cache(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct caching c = {.s = s};
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
	};
	ws_words words = {0};
	usage.options = make_rows(&c, &usage.option_count);
	if (!ws_command_options(s, &usage, argc, argv, &words, err)) {
		return err->kind == WS_ERR_NONE;
	}
	const struct part *part = find_part(&c, &words, err);
	if (!part || !ws_session_open_store(s, false, err)) {
		return false;
	}
	c.file = words.len == 2 ? words.at[1] : NULL;
	if (part->lists && !take_inventory(&c, err)) {
		return false;
	}
	if (!s->globals.json) {
		return part->run(&c, err);
	}
	WS_AUTO_BUF struct ws_buf text = {0};
	c.w = ws_json_begin();
	ws_json_open_object(c.w, NULL);
	ws_json_add_text(c.w, "schema", "wheelsmith.cache/1");
	ws_json_add_text(c.w, "store", s->store.path);
	bool fine = part->run(&c, err);
	ws_json_close(c.w);
	ws_json_finish(c.w, WS_JSON_PRETTY, &text);
	if (fine || err->kind == WS_ERR_NEGATIVE) {
		ws_out_result(&s->out, "%s", ws_buf_text(&text));
	}
	return fine;
}
