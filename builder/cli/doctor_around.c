/* doctor_around.c - what building stands on: the host, the store, where things come from. */
#include "base/fs.h"
#include "cli/doctor.h"
#include "fetch/git.h"
#include "report/words.h"

#include <gnu/libc-version.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LITTLE_MEMORY ((uint64_t)4 << 30)
/* One CUDA 12.4 kit, torch 2.5.1's headers and three packages' sources took 0.57 GB. */
#define LITTLE_SPACE ((uint64_t)2000000000)
#define MOST_COUNTED 200000 /* files of the store that are looked at */

/* Each part by itself: a mistake in the configuration hides nothing else. */
static void
look_at_data(struct ws_doctor *d)
{
	struct ws_session *s = d->s;
	struct ws_err err;
	if (!ws_user_config_read(ws_user_config_path(s->a), s->a, &s->user, &err)) {
		ws_doctor_complain_err(d, WS_DOCTOR_HOST, true, &err);
		s->user = (struct ws_user_config){0};
	}
	if (!ws_data_locate(NULL, s->a, &s->data, &err)
		|| !ws_facts_read(s->data.facts, s->a, &s->facts, &err)) {
		ws_doctor_complain_err(d, WS_DOCTOR_HOST, true, &err);
		s->facts = (struct ws_facts){0};
	}
}

static void
look_at_host(struct ws_doctor *d)
{
	struct ws_session *s = d->s;
	s->host = ws_host_read("", d->a);
	d->glibc = gnu_get_libc_version();
	d->available_bytes = ws_host_available_bytes(&s->host);
	d->holder_count = ws_holders_find("", d->a, d->holders, WS_DOCTOR_HOLDERS);
	if (d->available_bytes < LITTLE_MEMORY) {
		char memory[WS_WORDS];
		ws_doctor_complain(d, WS_DOCTOR_HOST, false,
			"close what holds it, or build with --memory SIZE or -j 1",
			"only %s of memory is free; one kernel may take several GiB to compile",
			ws_words_memory(d->available_bytes, memory));
	}
}

static bool
count_file(void *self, const struct ws_fs_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct ws_doctor_store *store = self;
	if (S_ISREG(entry->status.st_mode)) {
		store->file_count++;
		store->file_bytes += (uint64_t)entry->status.st_size;
	}
	/* trees/NAME-DIGEST is one tree. */
	store->tree_count += S_ISDIR(entry->status.st_mode) && ws_starts_with(entry->name, "trees/")
		&& !strchr(entry->name + strlen("trees/"), '/');
	return store->file_count < MOST_COUNTED;
}

/* The folder itself, or the nearest one above it that is there. */
static const char *
nearest_folder(const char *path, struct ws_arena *a)
{
	while (!ws_fs_exists(path) && strchr(path, '/') && strcmp(path, "/") != 0) {
		path = ws_path_dir(a, path);
	}
	return ws_fs_exists(path) ? path : ".";
}

static void
look_at_store(struct ws_doctor *d)
{
	struct ws_session *s = d->s;
	struct ws_doctor_store *store = &d->store;
	struct statvfs space;
	struct ws_err err;
	store->path = ws_session_store_path(s);
	store->is_there = ws_fs_is_dir(store->path);
	const char *folder = nearest_folder(store->path, d->a);
	if (!ws_fs_is_dir(folder)) {
		ws_doctor_complain(d, WS_DOCTOR_STORE, true,
			"keep the store elsewhere (--store DIR, WHEELSMITH_STORE)", "'%s' is no folder",
			folder);
		return;
	}
	if (access(folder, W_OK | X_OK) != 0) {
		ws_err_sys(&err, WS_ERR_IO, "cannot write to '%s'", folder);
		ws_err_cure(&err, "keep the store elsewhere (--store DIR, WHEELSMITH_STORE)");
		ws_doctor_complain_err(d, WS_DOCTOR_STORE, true, &err);
	}
	if (store->is_there && !ws_store_check(store->path, &err)) {
		ws_doctor_complain_err(d, WS_DOCTOR_STORE, true, &err);
	}
	if (statvfs(folder, &space) == 0) {
		store->free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
	}
	if (store->free_bytes < LITTLE_SPACE) {
		char size[WS_WORDS];
		ws_doctor_complain(d, WS_DOCTOR_STORE, false,
			"free some space there, or keep the store elsewhere (--store DIR)",
			"only %s are free there; kits and sources may not fit",
			ws_words_size(store->free_bytes, size));
	}
	store->counted_all = !store->is_there || ws_fs_walk(store->path, count_file, store, NULL);
}

static void
look_at_indexes(struct ws_doctor *d)
{
	struct ws_session *s = d->s;
	struct ws_err err;
	struct ws_index_sources sources = {
		.options = s->globals.indexes.at,
		.option_count = s->globals.indexes.len,
		.user = s->user.indexes,
		.user_count = s->user.index_count,
		.env = {.vars = (const char *const *)environ, .root = ""},
	};
	d->knows_indexes = ws_index_config_read(&sources, d->a, &d->indexes, &err);
	if (!d->knows_indexes) {
		ws_doctor_complain_err(d, WS_DOCTOR_INDEXES, false, &err);
	} else if (ws_index_config_list(&d->indexes, NULL, d->a).count == 0) {
		ws_doctor_complain(d, WS_DOCTOR_INDEXES, false, "name one:  --index URL",
			"nobody says which package index to ask");
	}
	if (d->indexes.ca_path && !ws_fs_exists(d->indexes.ca_path)) {
		ws_doctor_complain(d, WS_DOCTOR_INDEXES, false,
			ws_arena_printf(d->a, "correct or unset %s", d->indexes.ca_from),
			"the certificates '%s' are not there", d->indexes.ca_path);
	}
}

static void
look_at_libraries(struct ws_doctor *d)
{
	d->git_version = ws_git_version(d->a);
	d->git_is_old = ws_git_is_old();
	if (d->git_is_old) {
		ws_doctor_complain(d, WS_DOCTOR_LIBRARIES, false,
			"keep it up to date: distributions mend faults in older ones too",
			"libgit2 %s is older than 1.9.7, in which the known faults are mended", d->git_version);
	}
}

static void
look_at_environment(struct ws_doctor *d)
{
	ws_ignored_env_list((const char *const *)environ, d->a, &d->ignored);
	for (size_t i = 0; i < d->ignored.len; i++) {
		ws_doctor_complain(d, WS_DOCTOR_ENVIRONMENT, false, NULL, "%s; instead: %s",
			d->ignored.at[i].name, d->ignored.at[i].instead);
	}
}

void
ws_doctor_look_around(struct ws_doctor *d)
{
	look_at_data(d);
	look_at_host(d);
	look_at_store(d);
	look_at_indexes(d);
	d->debian_mirror = ws_session_debian_mirror(d->s, &d->debian_from);
	look_at_libraries(d);
	look_at_environment(d);
}
