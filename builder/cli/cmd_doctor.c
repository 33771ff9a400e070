/* cmd_doctor.c - `wheelsmith doctor`: looks at this host, part by part, in the order of its page.
 * Nothing here fails: what cannot be found out is a problem, with its reason and its cure. The store is
 * looked at, never opened, but for a Python that was named (doctor_python.h); the network is not asked. */
#include "base/fs.h"
#include "cli/command.h"
#include "cli/cure.h"
#include "cli/doctor_python.h"
#include "cli/doctor_rows.h"
#include "cli/ignored_env.h"
#include "cli/typed.h"
#include "fetch/git.h"
#include "kit/cuda/cuda.h"
#include "kit/cuda/gpu.h"
#include "kit/hostcc/hostcc.h"
#include "kit/python/python.h"
#include "kit/torch/torch.h"
#include "net/url.h"
#include "report/format.h"
#include "sys/holders.h"
#include "sys/process.h"

#include <gnu/libc-version.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LITTLE_MEMORY ((uint64_t)4 << 30)
/* One CUDA 12.4 kit, torch 2.5.1's headers and three packages' sources took 0.57 GB. */
#define LITTLE_SPACE ((uint64_t)2000000000)
#define MOST_COUNTED 200000 /* files of the store that are looked at */
#define HOLDERS 3

struct doctor {
	struct ws_session *s;
	struct ws_arena *a;
	const char *python;       /* --python: a path; NULL: all there are */
	const char *model;        /* --model: a config.json; NULL: none */
	struct ws_python_kit kit; /* of --python, asked; version NULL: it cannot be run */
	struct ws_gpus gpus;
	struct ws_rows rows;
	ws_hostcc_list compilers;
};

/* A path below the home folder as "~/...". */
static const char *
shown(const struct doctor *d, const char *path)
{
	const char *home = ws_user_env_home(&d->s->env);
	size_t len = home ? strlen(home) : 0;
	bool below = len > 1 && strncmp(path, home, len) == 0 && path[len] == '/';
	return below ? ws_arena_printf(d->a, "~%s", path + len) : path;
}

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static const char *
and_comma(const struct ws_buf *list)
{
	return list->len > 0 ? ", " : "";
}

/* ---- host ---- */

/* Each part by itself: a mistake in the configuration hides nothing else. */
static void
look_at_data(struct doctor *d)
{
	struct ws_session *s = d->s;
	struct ws_err err;
	if (!ws_user_config_read(
			ws_user_config_path(&s->env, s->a), ws_user_env_home(&s->env), s->a, &s->user, &err)) {
		ws_rows_problem_err(&d->rows, true, &err);
		s->user = (struct ws_user_config){0};
	}
	if (!ws_data_locate(NULL, s->a, &s->data, &err)
		|| !ws_facts_read(s->data.facts, s->a, &s->facts, &err)) {
		ws_rows_problem_err(&d->rows, true, &err);
		s->facts = (struct ws_facts){0};
	}
}

/* Who holds most of the memory. */
static void
look_at_holders(struct doctor *d)
{
	struct ws_json_writer *w = d->rows.json;
	struct ws_holder holders[HOLDERS];
	size_t count = ws_holders_find("", d->a, holders, HOLDERS);
	WS_AUTO_BUF struct ws_buf b = {0};
	char held[WS_FORMAT_BYTES];
	ws_json_open_list(w, "holders");
	for (size_t i = 0; i < count; i++) {
		ws_buf_printf(&b, "%s%s (%d) %s", and_comma(&b), holders[i].name, (int)holders[i].pid,
			ws_format_memory(holders[i].rss_bytes, held));
		ws_json_open_object(w, NULL);
		ws_json_add_u64(w, "pid", (uint64_t)holders[i].pid);
		ws_json_add_text(w, "name", holders[i].name);
		ws_json_add_u64(w, "rss_bytes", holders[i].rss_bytes);
		ws_json_close(w);
	}
	ws_json_close(w);
	if (b.len > 0) {
		ws_rows_add(&d->rows, WS_PAGE_MORE, "most is held by %s", ws_buf_text(&b));
	}
}

static void
look_at_host(struct doctor *d)
{
	struct ws_json_writer *w = d->rows.json;
	d->s->host = ws_host_read("", d->a);
	const struct ws_host *host = &d->s->host;
	const char *glibc = gnu_get_libc_version();
	uint64_t available = ws_host_available_bytes(host);
	char all[WS_FORMAT_BYTES], left[WS_FORMAT_BYTES];
	ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%s, glibc %s",
		host->pretty_name[0] ? host->pretty_name : "an unknown distribution", glibc);
	ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%u core%s, %s of memory, %s of it free", host->cores,
		plural(host->cores), ws_format_memory(host->memory_bytes, all),
		ws_format_memory(available, left));
	if (host->memory_group) {
		ws_rows_add(&d->rows, WS_PAGE_MORE, "limited by the control group %s", host->memory_group);
	}
	if (available < LITTLE_MEMORY) {
		ws_rows_problem(&d->rows, false, "close what holds it, or build with --memory SIZE or -j 1",
			"only %s of memory is free; one kernel may take several GiB to compile", left);
	}
	ws_json_open_object(w, "host");
	ws_json_add_text(w, "distribution", host->pretty_name);
	ws_json_add_text(w, "glibc", glibc);
	ws_json_add_u64(w, "cores", host->cores);
	ws_json_add_u64(w, "memory_bytes", host->memory_bytes);
	ws_json_add_u64(w, "available_bytes", available);
	ws_json_add_text(w, "memory_group", host->memory_group);
	look_at_holders(d);
	ws_json_close(w);
}

/* ---- store ---- */

/* The store, from outside. */
struct store {
	uint64_t file_count, file_bytes, free_bytes;
	unsigned tree_count;
	bool is_there, counted_all;
};

static bool
count_file(void *self, const struct ws_fs_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct store *store = self;
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

/* Whether builds can keep a store there. */
static void
check_store(struct doctor *d, const char *path, struct store *store)
{
	const char *folder = nearest_folder(path, d->a);
	struct statvfs space;
	struct ws_err err;
	if (!ws_fs_is_dir(folder)) {
		ws_err_set(&err, WS_ERR_IO, "'%s' is not a folder", folder);
		ws_err_cure_code(&err, WS_CURE_STORE, NULL);
		ws_rows_problem_err(&d->rows, true, &err);
		return;
	}
	if (access(folder, W_OK | X_OK) != 0) {
		ws_err_sys(&err, WS_ERR_IO, "cannot write to '%s'", folder);
		ws_err_cure_code(&err, WS_CURE_STORE, NULL);
		ws_rows_problem_err(&d->rows, true, &err);
	}
	if (store->is_there && !ws_store_check(path, &err)) {
		ws_rows_problem_err(&d->rows, true, &err);
	}
	if (statvfs(folder, &space) == 0) {
		store->free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
	}
	if (store->free_bytes < LITTLE_SPACE) {
		char size[WS_FORMAT_BYTES];
		ws_rows_problem(&d->rows, false,
			"free some space there, or name another folder: --store DIR",
			"only %s are free there; kits and sources may not fit",
			ws_format_size(store->free_bytes, size));
	}
	store->counted_all = !store->is_there || ws_fs_walk(path, count_file, store, NULL);
}

static void
look_at_store(struct doctor *d, const char *path)
{
	struct ws_json_writer *w = d->rows.json;
	struct store store = {.is_there = path && ws_fs_is_dir(path)};
	struct ws_err err;
	char size[WS_FORMAT_BYTES];
	ws_rows_part(&d->rows, "store");
	if (!path) {
		ws_store_check(path, &err);
		ws_rows_problem_err(&d->rows, true, &err);
	} else {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%s", shown(d, path));
		check_store(d, path, &store);
	}
	if (store.is_there) {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%s%s in %llu file%s, %u tree%s",
			store.counted_all ? "" : "more than ", ws_format_size(store.file_bytes, size),
			(unsigned long long)store.file_count, plural(store.file_count), store.tree_count,
			plural(store.tree_count));
	} else {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "not there yet");
	}
	if (store.free_bytes > 0) {
		ws_rows_add(
			&d->rows, WS_PAGE_PLAIN, "%s free there", ws_format_size(store.free_bytes, size));
	}
	ws_json_open_object(w, "store");
	ws_json_add_text(w, "path", path);
	ws_json_add_bool(w, "is_there", store.is_there);
	ws_json_add_u64(w, "free_bytes", store.free_bytes);
	ws_json_add_u64(w, "files", store.file_count);
	ws_json_add_u64(w, "bytes", store.file_bytes);
	ws_json_add_u64(w, "trees", store.tree_count);
	ws_json_add_bool(w, "counted_all", store.counted_all);
	ws_json_close(w);
}

/* ---- compilers ---- */

/* Whether the toolkit takes the compiler, as far as the facts tell: they do not know the oldest clang
 * that its header takes. */
static bool
takes(const struct doctor *d, const struct ws_cuda_toolkit *cuda, const struct ws_hostcc *cc)
{
	const struct ws_hostcc_wish wish = {
		.limits = {.gcc_max = cuda->gcc_max, .clang_max = cuda->clang_max},
		.gcc_min = d->s->facts.gcc_min,
	};
	return ws_hostcc_fits(cc, &wish);
}

/* "12.0 and newer", "11.8 to 12.3, 13.0", "none". */
static const char *
versions_that_take(const struct doctor *d, const struct ws_hostcc *cc)
{
	const struct ws_facts *facts = &d->s->facts;
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < facts->cuda_count;) {
		size_t end = i;
		while (end < facts->cuda_count && takes(d, &facts->cuda[end], cc)) {
			end++;
		}
		if (end == i) {
			i++;
			continue;
		}
		ws_buf_printf(&b, "%s%s", and_comma(&b), facts->cuda[i].version.text);
		if (end == facts->cuda_count) {
			ws_buf_puts(&b, " and newer");
		} else if (end > i + 1) {
			ws_buf_printf(&b, " to %s", facts->cuda[end - 1].version.text);
		}
		i = end;
	}
	return b.len > 0 ? ws_buf_copy(&b, d->a) : facts->cuda_count > 0 ? "none" : "";
}

static bool
is_served(const struct doctor *d, const struct ws_cuda_toolkit *cuda)
{
	for (size_t i = 0; i < d->compilers.len; i++) {
		if (takes(d, cuda, &d->compilers.at[i])) {
			return true;
		}
	}
	return false;
}

static void
require_compiler(struct doctor *d)
{
	const struct ws_facts *facts = &d->s->facts;
	const struct ws_cuda_toolkit *newest = &facts->cuda[facts->cuda_count - 1];
	const struct ws_hostcc_wish wish = {.limits = {.gcc_max = newest->gcc_max},
		.cuda = newest->version.text,
		.gcc_min = facts->gcc_min};
	struct ws_err err = {0};
	ws_err_set(&err, WS_ERR_BUILD, "there is no C++ compiler here that any known CUDA takes");
	ws_hostcc_install_cure(&wish, &d->s->host, &err);
	ws_rows_problem_err(&d->rows, true, &err);
}

static void
look_at_compilers(struct doctor *d)
{
	const struct ws_facts *facts = &d->s->facts;
	struct ws_json_writer *w = d->rows.json;
	WS_AUTO_BUF struct ws_buf without = {0};
	size_t served = 0;
	ws_rows_part(&d->rows, "compilers");
	ws_hostcc_list_all("", ws_user_env_get(&d->s->env, "PATH"), d->a, &d->compilers);
	ws_json_open_list(w, "compilers");
	for (size_t i = 0; i < d->compilers.len; i++) {
		const struct ws_hostcc *cc = &d->compilers.at[i];
		const char *kind = cc->kind == WS_HOSTCC_GCC ? "gcc" : "clang";
		const char *cuda = versions_that_take(d, cc);
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%-5s %-9s %s%s%s", kind, cc->version,
			shown(d, cc->path), cuda[0] ? "  for CUDA " : "", cuda);
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "kind", kind);
		ws_json_add_text(w, "version", cc->version);
		ws_json_add_text(w, "path", cc->path);
		ws_json_add_text(w, "cuda", cuda);
		ws_json_close(w);
	}
	ws_json_close(w);
	for (size_t i = 0; i < facts->cuda_count; i++) {
		if (is_served(d, &facts->cuda[i])) {
			served++;
		} else {
			ws_buf_printf(&without, "%s%s", and_comma(&without), facts->cuda[i].version.text);
		}
	}
	if (d->compilers.len > 0 && without.len > 0) {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "none for CUDA %s", ws_buf_text(&without));
	}
	ws_json_add_text(w, "cuda_without_compiler", ws_buf_text(&without));
	if (served == 0 && facts->cuda_count > 0) {
		require_compiler(d);
	}
}

/* ---- CUDA ---- */

/* Some tree of the store has this name before its digest. */
static bool
has_tree(const char *trees, const char *name)
{
	WS_AUTO_DIR DIR *dir = opendir(trees);
	const struct dirent *entry;
	size_t len = strlen(name);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, name, len) == 0 && entry->d_name[len] == '-'
			&& !ws_ends_with(entry->d_name, ".list")) {
			return true;
		}
	}
	return false;
}

static void
look_at_toolkit(struct doctor *d, const struct ws_cuda_kit *kit)
{
	struct ws_json_writer *w = d->rows.json;
	const struct ws_cuda_toolkit *known = ws_facts_cuda(&d->s->facts, &kit->version);
	WS_AUTO_BUF struct ws_buf missing = {0};
	for (size_t i = 0; i < kit->missing_count; i++) {
		ws_buf_printf(&missing, "%s%s", and_comma(&missing), kit->missing[i]);
	}
	if (kit->missing_count > 0) {
		ws_rows_problem(&d->rows, false,
			"nothing needs to be done: an archive kit is used in its place",
			"CUDA %s in '%s' is not complete: it lacks %s", kit->release, kit->path,
			ws_buf_text(&missing));
	} else {
		ws_rows_add(
			&d->rows, WS_PAGE_PLAIN, "%-9s %s  complete", kit->release, shown(d, kit->path));
		if (known && !is_served(d, known)) {
			ws_rows_problem(&d->rows, false, NULL,
				"no compiler here for CUDA %s: it takes gcc up to %u", known->version.text,
				known->gcc_max);
		}
	}
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "version", kit->version.text);
	ws_json_add_text(w, "release", kit->release);
	ws_json_add_text(w, "path", kit->path);
	ws_json_add_texts(w, "missing", kit->missing, kit->missing_count);
	ws_json_close(w);
}

static void
look_at_cuda(struct doctor *d, const char *store)
{
	const struct ws_facts *facts = &d->s->facts;
	const char *trees = ws_path_join(d->a, store ? store : "/nowhere", "trees", NULL);
	struct ws_json_writer *w = d->rows.json;
	WS_AUTO_BUF struct ws_buf all = {0};
	WS_AUTO_BUF struct ws_buf stored = {0};
	ws_cuda_list found = {0};
	ws_rows_part(&d->rows, "CUDA");
	ws_cuda_list_host(&d->s->env, NULL, d->a, &found);
	ws_json_open_list(w, "cuda");
	for (size_t i = 0; i < found.len; i++) {
		look_at_toolkit(d, &found.at[i]);
	}
	ws_json_close(w);
	ws_json_open_list(w, "archive_kits");
	for (size_t i = 0; i < facts->cuda_count; i++) {
		const struct ws_cuda_toolkit *cuda = &facts->cuda[i];
		if (!cuda->kit) {
			continue;
		}
		bool in_store = has_tree(trees, cuda->kit);
		ws_buf_printf(&all, "%s%s", and_comma(&all), cuda->version.text);
		if (in_store) {
			ws_buf_printf(&stored, "%s%s", and_comma(&stored), cuda->version.text);
		}
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "cuda", cuda->version.text);
		ws_json_add_bool(w, "in_store", in_store);
		ws_json_close(w);
	}
	ws_json_close(w);
	if (found.len == 0) {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "none is installed; none needs to be");
	}
	if (all.len > 0) {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "archive kits for %s%s%s", ws_buf_text(&all),
			stored.len > 0 ? ";  in the store: " : "", ws_buf_text(&stored));
	}
	ws_rows_add(&d->rows, WS_PAGE_PLAIN, "other releases from NVIDIA's redistributables");
}

/* ---- Pythons, torch ---- */

/* Older than every Python that any torch of the facts has wheels for. */
static bool
is_too_old(const struct doctor *d, const struct ws_python_tag *tag)
{
	const struct ws_facts *facts = &d->s->facts;
	for (size_t i = 0; i < facts->torch_count; i++) {
		for (size_t j = 0; j < facts->torch[i].python_count; j++) {
			const struct ws_python_tag *known = &facts->torch[i].pythons[j];
			if (known->major < tag->major
				|| (known->major == tag->major && known->minor <= tag->minor)) {
				return false;
			}
		}
	}
	return facts->torch_count > 0;
}

/* The torch that it would import; it is not imported. NULL: none. */
static const char *
torch_of(struct doctor *d, const struct ws_python_kit *python)
{
	struct ws_torch_kit torch;
	struct ws_err ignored = {0};
	return ws_torch_open_installed(&d->s->facts, python, d->a, &torch, &ignored)
		? torch.version.text
		: NULL;
}

/* One Python; returns whether wheels can be built for it. What is too old for any torch goes to @old. */
static bool
look_at_python(
	struct doctor *d, const struct ws_python_kit *listed, struct ws_buf *old, struct ws_err *err)
{
	struct ws_json_writer *w = d->rows.json;
	struct ws_python_kit kit = {0};
	bool has_headers = ws_python_ask(&d->s->env, listed->interpreter, d->a, &kit, err)
		&& ws_python_check_headers(&kit, &d->s->host, err);
	struct ws_err worded = *err;
	ws_cures_word(d->s, &worded);
	const char *cure = has_headers ? "" : ws_arena_strdup(d->a, worded.cure);
	const char *torch = kit.version ? torch_of(d, &kit) : NULL;
	d->kit = d->python ? kit : d->kit;
	if (!kit.version) {
		kit = *listed;
	}
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "version", kit.version);
	ws_json_add_bool(w, "free_threaded", kit.tag.free_threaded);
	ws_json_add_text(w, "path", kit.interpreter);
	ws_json_add_text(w, "torch", torch);
	ws_json_add_bool(w, "has_headers", has_headers);
	ws_json_add_text(w, "wrong", has_headers ? NULL : err->text);
	ws_json_add_text(w, "cure", cure);
	ws_json_close(w);
	if (!kit.version || (d->python && !has_headers)) {
		return has_headers; /* the problem says all */
	}
	if (is_too_old(d, &kit.tag) && !d->python) {
		ws_buf_printf(old, "%s%s", and_comma(old), kit.version);
		return has_headers;
	}
	ws_rows_add_cure(&d->rows, has_headers ? WS_PAGE_PLAIN : WS_PAGE_ADVICE, cure,
		"%s%-*s %s%s%s%s", kit.version, 9 - (int)strlen(kit.version),
		kit.tag.free_threaded ? "t" : "", shown(d, kit.interpreter ? kit.interpreter : kit.include),
		torch ? "  torch " : "", torch ? torch : "", has_headers ? "" : "  no headers");
	return has_headers;
}

static void
look_at_pythons(struct doctor *d)
{
	struct ws_python_places places = ws_python_places_standard(&d->s->env, d->a);
	WS_AUTO_BUF struct ws_buf old = {0};
	ws_python_list found = {0};
	struct ws_err err = {0};
	bool any = false;
	ws_rows_part(&d->rows, "Pythons");
	if (d->python) {
		*ws_vec_push(&found, d->a) = (struct ws_python_kit){.interpreter = d->python};
	} else {
		ws_python_list_all(&places, d->a, &found);
	}
	ws_json_open_list(d->rows.json, "pythons");
	for (size_t i = found.len; i-- > 0;) { /* the newest first */
		any = look_at_python(d, &found.at[i], &old, &err) || any;
	}
	ws_json_close(d->rows.json);
	if (old.len > 0) {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "older than any torch here: %s", ws_buf_text(&old));
	}
	if (!any && d->python) {
		ws_rows_problem_err(&d->rows, true, &err);
	} else if (!any) {
		ws_rows_problem(&d->rows, true,
			found.len > 0 ? "install the headers of one of them, as said above" : NULL,
			"there is no Python here with headers to build for");
	}
}

static void
look_at_torch(struct doctor *d)
{
	struct ws_python_places places = ws_python_places_standard(&d->s->env, d->a);
	struct ws_json_writer *w = d->rows.json;
	struct ws_python_kit host;
	struct ws_torch_kit torch;
	struct ws_err err = {0};
	bool known = d->python ? ws_python_ask(&d->s->env, d->python, d->a, &host, &err)
						   : ws_python_find_host(&places, d->a, &host, &err);
	bool has = known && ws_torch_open_installed(&d->s->facts, &host, d->a, &torch, &err);
	ws_rows_part(&d->rows, "torch");
	ws_json_open_object(w, "torch");
	ws_json_add_text(w, "python", known ? host.interpreter : NULL);
	ws_json_add_text(w, "version", has ? torch.version.text : NULL);
	ws_json_add_text(w, "why_none", has ? NULL : err.text);
	if (has) {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%s, CUDA %s, cxx11abi %d  %s", torch.version.text,
			torch.cuda ? torch.cuda : "none", torch.cxx11abi, shown(d, torch.path));
		ws_json_add_text(w, "cuda", torch.cuda);
		ws_json_add_i64(w, "cxx11abi", torch.cxx11abi);
		ws_json_add_text(w, "path", torch.path);
	} else {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%s", err.text);
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "building does not need it");
	}
	ws_json_close(w);
}

/* ---- GPUs ---- */

/* The process here that has the driver's number, if it is the same one: inside a container the driver
 * counts the host's processes. */
static bool
look_at_process(struct doctor *d, const struct ws_gpu_user *user, struct ws_process *process)
{
	if (!ws_process_look(d->s->env.root, user->pid, d->a, process)) {
		return false;
	}
	const char *first = ws_arena_copy(d->a, process->command, strcspn(process->command, " "));
	const char *base = ws_path_base(user->name);
	return (process->program && strcmp(ws_path_base(process->program), base) == 0)
		|| strcmp(ws_path_base(first), base) == 0;
}

/* One that holds memory of a device. */
static void
look_at_gpu_user(struct doctor *d, const struct ws_gpu_user *user)
{
	struct ws_json_writer *w = d->rows.json;
	struct ws_process process = {0};
	char memory[WS_FORMAT_BYTES], age[WS_FORMAT_BYTES];
	bool ours = look_at_process(d, user, &process);
	bool stale = ours && process.is_left_behind;
	const char *text = ws_arena_printf(d->a, "used by %s (%u), %s", user->name, user->pid,
		user->memory_bytes > 0 ? ws_format_memory(user->memory_bytes, memory)
							   : "its memory is not known");
	if (ours) {
		ws_format_duration(process.age_s * 1000, age);
		text =
			ws_arena_printf(d->a, "%s: %s, for %s: %s", text, process.user, age, process.command);
	}
	if (stale) {
		ws_rows_problem(&d->rows, false,
			ws_arena_printf(d->a, "if it is not needed:  kill %u", user->pid),
			"%s; stale: the process that started it has ended", text);
	} else {
		ws_rows_add(&d->rows, WS_PAGE_MORE, "%s", text);
	}
	ws_json_open_object(w, NULL);
	ws_json_add_u64(w, "pid", user->pid);
	ws_json_add_text(w, "name", user->name);
	ws_json_add_u64(w, "memory_bytes", user->memory_bytes);
	ws_json_add_text(w, "user", ours ? process.user : NULL);
	ws_json_add_text(w, "command", ours ? process.command : NULL);
	if (ours) {
		ws_json_add_u64(w, "age_s", process.age_s);
	} else {
		ws_json_add_null(w, "age_s");
	}
	ws_json_add_bool(w, "stale", stale);
	ws_json_close(w);
}

static void
look_at_gpus(struct doctor *d)
{
	struct ws_json_writer *w = d->rows.json;
	struct ws_gpus *gpus = &d->gpus;
	char memory[WS_FORMAT_BYTES];
	ws_rows_part(&d->rows, "GPUs");
	ws_gpu_list(&d->s->env, d->a, gpus);
	ws_json_open_list(w, "gpus");
	for (size_t i = 0; i < gpus->count; i++) {
		const struct ws_gpu *gpu = &gpus->at[i];
		const char *arch = ws_arch_text(&gpu->arch, d->a);
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%u  %s, arch %s, %s", gpu->index, gpu->name, arch,
			ws_format_memory(gpu->memory_bytes, memory));
		ws_json_open_object(w, NULL);
		ws_json_add_u64(w, "index", gpu->index);
		ws_json_add_text(w, "name", gpu->name);
		ws_json_add_text(w, "arch", arch);
		ws_json_add_u64(w, "memory_bytes", gpu->memory_bytes);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_open_list(w, "gpu_users");
	for (size_t i = 0; i < gpus->user_count; i++) {
		look_at_gpu_user(d, &gpus->users[i]);
	}
	ws_json_close(w);
	if (gpus->count > 0) {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "driver %s%s", gpus->driver,
			gpus->user_count == 0 ? ", idle" : "");
	} else {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "none: %s", gpus->why_none);
		for (size_t i = 0; i < gpus->seen_count; i++) {
			ws_rows_add(&d->rows, WS_PAGE_MORE, "%s", gpus->seen[i]);
		}
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "building does not need one");
	}
	ws_json_add_text(w, "driver", gpus->driver);
	ws_json_add_text(w, "why_no_gpu", gpus->why_none);
	ws_json_add_texts(w, "gpus_seen", gpus->seen, gpus->seen_count);
}

/* ---- indexes, libraries, environment ---- */

static void
list_indexes(struct doctor *d, const struct ws_index_config *indexes)
{
	struct ws_json_writer *w = d->rows.json;
	for (size_t i = 0; i < indexes->count; i++) {
		const struct ws_index_choice *choice = &indexes->choices[i];
		for (size_t j = 0; j < choice->count; j++) {
			const char *url = ws_url_shown(choice->urls[j], d->a);
			ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%-9s %s  (%s)", choice->role, url,
				shown(d, choice->from));
			ws_json_open_object(w, NULL);
			ws_json_add_text(w, "role", choice->role);
			ws_json_add_text(w, "url", url);
			ws_json_add_text(w, "from", choice->from);
			ws_json_close(w);
		}
	}
	if (ws_index_config_list(indexes, NULL, d->a).count == 0) {
		ws_rows_problem(
			&d->rows, false, "name one:  --index URL", "no package index is configured");
	}
}

/* Where else files come from, and whom to trust. */
static void
list_mirrors(struct doctor *d)
{
	struct ws_json_writer *w = d->rows.json;
	const char *from, *mirror = ws_session_debian_mirror(d->s, &from);
	const char *debian = mirror ? ws_url_shown(mirror, d->a) : NULL;
	const char *redist = d->s->user.redist;
	if (debian) {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%-9s %s  (%s)", "Debian", debian, shown(d, from));
	} else {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN,
			"%-9s no mirror is configured; NVIDIA's own archives are used", "Debian");
	}
	if (redist) {
		ws_rows_add(
			&d->rows, WS_PAGE_PLAIN, "%-9s %s  (\"redist\")", "NVIDIA", ws_url_shown(redist, d->a));
	}
	ws_json_add_text(w, "debian_mirror", debian);
	ws_json_add_text(w, "debian_mirror_from", from);
}

static void
look_at_indexes(struct doctor *d)
{
	struct ws_session *s = d->s;
	struct ws_json_writer *w = d->rows.json;
	struct ws_index_config indexes = {0};
	struct ws_err err;
	struct ws_index_sources sources = {
		.options = s->globals.indexes.at,
		.options_from = "--index",
		.option_count = s->globals.indexes.len,
		.user = s->user.indexes,
		.user_count = s->user.index_count,
		.env = d->s->env,
	};
	ws_rows_part(&d->rows, "indexes");
	ws_json_open_list(w, "indexes");
	if (ws_index_config_read(&sources, d->a, &indexes, &err)) {
		list_indexes(d, &indexes);
	} else {
		ws_rows_problem_err(&d->rows, false, &err);
	}
	ws_json_close(w);
	list_mirrors(d);
	if (indexes.ca_path) {
		ws_rows_add(
			&d->rows, WS_PAGE_PLAIN, "%-9s %s  (%s)", "CAs", indexes.ca_path, indexes.ca_from);
	} else {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "%-9s those that libcurl was built with", "CAs");
	}
	if (indexes.ca_path && !ws_fs_exists(indexes.ca_path)) {
		ws_rows_problem(&d->rows, false,
			ws_arena_printf(d->a, "correct or unset %s", indexes.ca_from),
			"the certificates '%s' do not exist", indexes.ca_path);
	}
	ws_json_add_text(w, "ca", indexes.ca_path);
	ws_json_add_text(w, "ca_from", indexes.ca_from);
}

static void
look_at_libraries(struct doctor *d)
{
	const char *version = ws_git_version(d->a);
	bool is_old = ws_git_is_old();
	ws_rows_part(&d->rows, "libraries");
	if (is_old) {
		ws_rows_problem(&d->rows, false,
			"keep it up to date: distributions correct faults in older ones too",
			"libgit2 %s is older than 1.9.7, in which the known faults are corrected", version);
	} else {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "libgit2 %s", version);
	}
	ws_json_add_text(d->rows.json, "libgit2", version);
	ws_json_add_bool(d->rows.json, "libgit2_is_old", is_old);
}

static void
look_at_environment(struct doctor *d)
{
	struct ws_json_writer *w = d->rows.json;
	ws_ignored_list ignored = {0};
	ws_rows_part(&d->rows, "ignored");
	ws_ignored_env_list(d->s->env.vars, d->a, &ignored);
	ws_json_open_list(w, "ignored_variables");
	for (size_t i = 0; i < ignored.len; i++) {
		ws_rows_problem(
			&d->rows, false, NULL, "%s; instead: %s", ignored.at[i].name, ignored.at[i].instead);
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "name", ignored.at[i].name);
		ws_json_add_text(w, "instead", ignored.at[i].instead);
		ws_json_close(w);
	}
	ws_json_close(w);
	if (ignored.len == 0) {
		ws_rows_add(&d->rows, WS_PAGE_PLAIN, "no variable that is ignored is set");
	}
}

/* ---- the command ---- */

static bool
parse(struct ws_session *s, struct doctor *d, int argc, const char *const *argv, struct ws_err *err)
{
	const struct ws_option options[] = {
		{"python", 0, WS_OPTION_TEXT, &d->python, "V",
			"this Python alone, and its CUDA extensions"},
		{"model", 0, WS_OPTION_TEXT, &d->model, "FILE",
			"a config.json: which kernels that model needs"},
	};
	struct ws_usage usage = {
		.command = "doctor",
		.synopsis = "[--python V] [--model FILE]",
		.summary =
			"Looks at this host: memory, store, compilers and which CUDA takes them, CUDA\n"
			"toolkits, Pythons, torch, GPUs and who uses them, indexes. Changes nothing.\n"
			"Exits 0, or 1 when nothing can be built until something is there, or when what\n"
			"--python has installed does not work.",
		.options = options,
		.option_count = WS_LEN(options),
	};
	ws_words words = {0};
	return ws_command_options(s, &usage, argc, argv, &words, err);
}

/* A version stands for the interpreter that a build would take. */
static bool
find_python(struct doctor *d, struct ws_err *err)
{
	struct ws_python_places places = ws_python_places_standard(&d->s->env, d->a);
	struct ws_python_tag tag;
	struct ws_python_kit kit;
	if (!d->python || !ws_python_tag_parse(d->python, &tag)) {
		d->python = d->python ? ws_typed_python(&d->s->env, d->python, d->a) : NULL;
		return true;
	}
	if (!ws_python_find(&places, &tag, d->a, &kit, err)) {
		return false;
	}
	d->python = kit.interpreter;
	return true;
}

bool
ws_cmd_doctor(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct doctor d = {.s = s, .a = s->a};
	if (!parse(s, &d, argc, argv, err)) {
		return err->kind == WS_ERR_NONE;
	}
	if (!find_python(&d, err)) {
		return false;
	}
	d.rows = ws_rows_begin(s);
	ws_rows_part(&d.rows, "host");
	look_at_data(&d);
	look_at_host(&d);
	const char *store = ws_session_store_path(s);
	look_at_store(&d, store);
	look_at_compilers(&d);
	look_at_cuda(&d, store);
	look_at_pythons(&d);
	look_at_torch(&d);
	look_at_gpus(&d);
	const struct ws_doctor_python look = {
		.s = s,
		.rows = &d.rows,
		.python = d.python && d.kit.version ? &d.kit : NULL,
		.gpus = &d.gpus,
		.model = d.model,
	};
	if (look.python || look.model) {
		ws_doctor_python_look(&look);
	}
	look_at_indexes(&d);
	look_at_libraries(&d);
	look_at_environment(&d);
	*err = (struct ws_err){.kind = WS_ERR_NEGATIVE};
	return ws_rows_print(&d.rows);
}
