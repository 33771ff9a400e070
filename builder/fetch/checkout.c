#include "base/fs.h"
#include "fetch/source_tree.h"
#include "model/git_url.h"
#include "sys/flock.h"

#include <ctype.h>
#include <time.h>

static bool
is_comment(struct ws_str text)
{
	return text.n == 0 || text.s[0] == '#' || text.s[0] == ';';
}

/* `[submodule "name"]`: sets @a current; NULL for sections of other kinds. */
static bool
read_section(struct ws_str line, ws_gitmodule_list *modules, struct ws_gitmodule **current,
	struct ws_arena *a)
{
	static const char head[] = "[submodule";
	*current = NULL;
	WS_AUTO_BUF struct ws_buf name = {0};
	size_t at = sizeof(head) - 1;
	bool ours = line.n > at && strncasecmp(line.s, head, at) == 0;
	if (!ours) {
		const char *end = memchr(line.s, ']', line.n);
		return end
			&& is_comment(
				ws_str_trim((struct ws_str){end + 1, line.n - (size_t)(end + 1 - line.s)}));
	}
	while (at < line.n && (line.s[at] == ' ' || line.s[at] == '\t')) {
		at++;
	}
	if (at == line.n || line.s[at++] != '"') {
		return false;
	}
	for (; at < line.n && line.s[at] != '"'; at++) {
		at += line.s[at] == '\\';
		if (at == line.n) {
			return false;
		}
		ws_buf_putc(&name, line.s[at]);
	}
	if (at + 1 >= line.n || line.s[at + 1] != ']' || name.len == 0) {
		return false;
	}
	struct ws_str after = {line.s + at + 2, line.n - at - 2};
	for (size_t i = 0; i < modules->len; i++) {
		if (strcmp(modules->at[i].name, ws_buf_text(&name)) == 0) {
			*current = &modules->at[i];
		}
	}
	if (!*current) {
		*current = ws_vec_push(modules, a);
		(*current)->name = ws_buf_copy(&name, a);
	}
	return is_comment(ws_str_trim(after));
}

/* A value: quotes and escapes undone, a comment left out. NULL when it is not well formed. */
static char *
read_value(struct ws_str text, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf value = {0};
	size_t solid = 0; /* where trailing spaces begin */
	bool quoted = false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.s[i];
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && (c == '#' || c == ';')) {
			break;
		}
		if (c == '\\') {
			static const char written[] = "\"\\ntb", meant[] = "\"\\\n\t\b";
			const char *which = ++i < text.n ? strchr(written, text.s[i]) : NULL;
			if (!which || !*which) {
				return NULL;
			}
			c = meant[which - written];
		}
		ws_buf_putc(&value, c);
		solid = quoted || (c != ' ' && c != '\t') ? value.len : solid;
	}
	if (quoted || memchr(ws_buf_text(&value), '\0', value.len)) {
		return NULL;
	}
	return ws_arena_copy(a, ws_buf_text(&value), solid);
}

static bool
read_setting(struct ws_str line, struct ws_gitmodule *current, struct ws_arena *a)
{
	size_t len = 0;
	while (len < line.n && (isalnum((unsigned char)line.s[len]) || line.s[len] == '-')) {
		len++;
	}
	struct ws_str key = {line.s, len};
	struct ws_str rest = ws_str_trim((struct ws_str){line.s + len, line.n - len});
	if (len == 0 || (!is_comment(rest) && rest.s[0] != '=')) {
		return false;
	}
	if (is_comment(rest)) {
		return true; /* a name alone means "true" */
	}
	char *value = read_value(ws_str_trim((struct ws_str){rest.s + 1, rest.n - 1}), a);
	if (value && current && key.n == 4 && strncasecmp(key.s, "path", 4) == 0) {
		current->path = value;
	}
	if (value && current && key.n == 3 && strncasecmp(key.s, "url", 3) == 0) {
		current->url = value;
	}
	return value;
}

bool
ws_gitmodules_parse(
	struct ws_str text, struct ws_arena *a, ws_gitmodule_list *modules, struct ws_err *err)
{
	struct ws_gitmodule *current = NULL;
	unsigned number = 1;
	*modules = (ws_gitmodule_list){0};
	for (struct ws_str rest = text; rest.s && rest.n > 0; number++) {
		struct ws_str line = ws_str_trim(ws_str_cut(&rest, '\n'));
		if (is_comment(line)) {
			continue;
		}
		bool fine = line.s[0] == '[' ? read_section(line, modules, &current, a)
									 : read_setting(line, current, a);
		if (!fine) {
			return ws_err_set(
				err, WS_ERR_FETCH, "line %u of '.gitmodules' is not understood", number);
		}
	}
	return true;
}

const struct ws_gitmodule *
ws_gitmodules_find(const ws_gitmodule_list *modules, const char *path)
{
	const struct ws_gitmodule *found = NULL;
	for (size_t i = 0; i < modules->len; i++) {
		const char *own = modules->at[i].path;
		if (own && strcmp(own, path) == 0) {
			if (found) {
				return NULL;
			}
			found = &modules->at[i];
		}
	}
	return found;
}

/* ---- a commit ---- */

#define FILE_MOST ((uint64_t)512 << 20)
#define GITMODULES_MOST ((uint64_t)1 << 20)
#define LINK_MOST 4096
#define DEPTH_MOST 100 /* depth of folders, counted across submodules */

/* One checkout, over all its repositories. */
struct walk {
	struct ws_git *git;
	const struct ws_store *store;
	struct ws_checkout *checkout;
	struct ws_unpack_sink *into;
	struct ws_members members;
	bool *brought; /* one a chosen submodule */
	struct ws_arena *a;
};

/* One repository of it. */
struct level {
	struct ws_git_repo *repo;
	const char *url;
	const char *top; /* where it stands: "" or "csrc/cutlass" */
	ws_gitmodule_list modules;
};

static bool walk_commit(struct walk *w, const char *url, const char *commit, const char *top,
	char tree[WS_GIT_ID], struct ws_err *err);
static bool walk_tree(struct walk *w, const struct level *l, const char *tree, const char *below,
	unsigned depth, struct ws_err *err);

static char *
cache_path(const struct ws_store *store, const char *url, struct ws_arena *a)
{
	struct ws_digest digest = ws_digest_bytes(url, strlen(url));
	return ws_arena_printf(
		a, "%s/git/%.60s-%.16s", store->path, ws_git_url_name(url, a), digest.hex);
}

/* Another process may be fetching into the same cache. */
static bool
wait_for_lock(const struct walk *w, const char *cache, int *fd, struct ws_err *err)
{
	const char *path = ws_arena_printf(w->a, "%s.lock", cache);
	const struct ws_git_config *config = &w->git->config;
	for (unsigned tries = 0;; tries++) {
		enum ws_flock_result result = ws_flock_try(path, true, fd, err);
		if (result != WS_FLOCK_BUSY) {
			return result == WS_FLOCK_HELD;
		}
		if (tries == 0) {
			ws_events_note(config->events, "waiting for another wheelsmith that fetches '%s'",
				ws_path_base(path));
		}
		if (ws_stop_asked(config->stop)) {
			return ws_stop_err(config->stop, err);
		}
		nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
	}
}

/* Requires the lock. Keeps a damaged cache offline, where it cannot be fetched again. */
static bool
remove_cache(const struct walk *w, const char *path, struct ws_err *err)
{
	const struct ws_git_config *config = &w->git->config;
	if (config->offline) {
		return true;
	}
	ws_events_warn(config->events, "'%s' was damaged in the store and is fetched again", path);
	return ws_fs_remove(path, err);
}

/* Opens the cache of @a url with @a commit in it. */
static struct ws_git_repo *
open_cache(struct walk *w, const char *url, const char *commit, struct ws_err *err)
{
	if (!ws_git_is_id(commit)) {
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is not a commit: 40 hexadecimal digits in lower case",
			commit);
		return NULL;
	}
	if (!ws_git_url_check(url, w->git->config.files, err)) {
		return NULL;
	}
	const char *name = ws_git_url_name(url, w->a);
	const char *path = cache_path(w->store, url, w->a);
	WS_AUTO_FD int lock = -1;
	if (!wait_for_lock(w, path, &lock, err)) {
		return NULL;
	}
	struct ws_git_repo *repo = ws_git_repo_open(w->git, path, w->a, err);
	if (!repo || ws_git_has(repo, commit)) {
		return repo;
	}
	bool is_damaged = ws_git_is_damaged(repo);
	ws_git_repo_close(repo);
	if (is_damaged && !remove_cache(w, path, err)) {
		return NULL;
	}
	return ws_git_fetch(w->git, path, url, name, commit, err)
		? ws_git_repo_open(w->git, path, w->a, err)
		: NULL;
}

static bool
give_file(struct walk *w, const struct level *l, const struct ws_git_entry *entry,
	const struct ws_member *member, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	if (!ws_git_read(l->repo, entry->id, FILE_MOST, &bytes, err)) {
		return ws_err_wrap(err, "'%s' of '%s'", member->name, l->url);
	}
	return ws_members_add_bytes(&w->members, member->name, bytes.len, err)
		&& w->into->begin(w->into, member, err)
		&& w->into->bytes(w->into, ws_buf_text(&bytes), bytes.len, err)
		&& w->into->end(w->into, err);
}

static bool
give_link(struct walk *w, const struct level *l, const struct ws_git_entry *entry,
	struct ws_member *member, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf target = {0};
	if (!ws_git_read(l->repo, entry->id, LINK_MOST, &target, err)) {
		return ws_err_wrap(err, "the link '%s' of '%s'", member->name, l->url);
	}
	member->target = ws_buf_text(&target);
	if (strlen(member->target) != target.len) {
		return ws_members_refuse(
			&w->members, err, "link", member->name, "a zero byte in its target");
	}
	return ws_members_check_link(&w->members, member, err) && w->into->begin(w->into, member, err);
}

static bool
give_submodule(struct walk *w, const struct level *l, const struct ws_git_entry *entry,
	const char *path, struct ws_err *err)
{
	size_t which = 0;
	const struct ws_checkout *checkout = w->checkout;
	while (which < checkout->spec.submodule_count
		&& strcmp(checkout->spec.submodules[which], path) != 0) {
		which++;
	}
	if (which == checkout->spec.submodule_count) {
		return true;
	}
	w->brought[which] = true;
	const struct ws_gitmodule *module =
		ws_gitmodules_find(&l->modules, path + strlen(l->top) + (l->top[0] != '\0'));
	if (!module || !module->url) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'.gitmodules' of '%s' does not give exactly one URL for the submodule '%s'", l->url,
			path);
	}
	char *url = ws_git_url_join(l->url, module->url, w->a, err);
	char tree[WS_GIT_ID];
	return url
		&& (walk_commit(w, url, entry->id, path, tree, err)
			|| ws_err_wrap(err, "submodule '%s'", path));
}

/* Everything in one folder of a commit; @a below is its path, "" for the top. */
static bool
walk_tree(struct walk *w, const struct level *l, const char *tree, const char *below,
	unsigned depth, struct ws_err *err)
{
	static const enum ws_member_kind kinds[] = {
		[WS_GIT_FILE] = WS_MEMBER_FILE,
		[WS_GIT_EXECUTABLE] = WS_MEMBER_FILE,
		[WS_GIT_LINK] = WS_MEMBER_LINK,
		[WS_GIT_FOLDER] = WS_MEMBER_FOLDER,
		[WS_GIT_SUBMODULE] = WS_MEMBER_FOLDER,
		[WS_GIT_OTHER] = WS_MEMBER_FILE,
	};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_git_entry *entries;
	size_t count;
	if (depth > DEPTH_MOST) {
		return ws_members_refuse(&w->members, err, "amount", below, "too deep");
	}
	if (!ws_git_list(l->repo, tree, a, &entries, &count, err)) {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		struct ws_member member = {
			.name = ws_arena_printf(a, "%s%s%s", below, below[0] ? "/" : "", entries[i].name),
			.kind = kinds[entries[i].kind],
			.executable = entries[i].kind == WS_GIT_EXECUTABLE,
		};
		const struct ws_git_entry *entry = &entries[i];
		bool slash = strchr(entry->name, '/');
		if (slash || strcasecmp(entry->name, ".git") == 0) {
			return ws_members_refuse(&w->members, err, "name-path", member.name, "%s",
				slash ? "a slash inside a name" : "a repository in it");
		}
		if (entry->kind == WS_GIT_OTHER) {
			return ws_members_refuse(
				&w->members, err, "type", member.name, "a mode that git does not write");
		}
		if (!ws_members_enter(&w->members, &member, err)) {
			return false;
		}
		bool given = entry->kind == WS_GIT_FOLDER
			? walk_tree(w, l, entry->id, member.name, depth + 1, err)
			: entry->kind == WS_GIT_SUBMODULE ? give_submodule(w, l, entry, member.name, err)
			: entry->kind == WS_GIT_LINK      ? give_link(w, l, entry, &member, err)
											  : give_file(w, l, entry, &member, err);
		if (!given) {
			return false;
		}
	}
	return true;
}

static bool
read_modules(struct walk *w, struct level *l, const char *tree, struct ws_err *err)
{
	struct ws_git_entry *entries;
	size_t count;
	if (!ws_git_list(l->repo, tree, w->a, &entries, &count, err)) {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (strcmp(entries[i].name, ".gitmodules") == 0 && entries[i].kind == WS_GIT_FILE) {
			WS_AUTO_BUF struct ws_buf text = {0};
			return (ws_git_read(l->repo, entries[i].id, GITMODULES_MOST, &text, err)
					   && ws_gitmodules_parse(ws_buf_str(&text), w->a, &l->modules, err))
				|| ws_err_wrap(err, "'%s'", l->url);
		}
	}
	return true;
}

static bool
walk_commit(struct walk *w, const char *url, const char *commit, const char *top,
	char tree[WS_GIT_ID], struct ws_err *err)
{
	struct level l = {.url = url, .top = top};
	l.repo = open_cache(w, url, commit, err);
	if (!l.repo) {
		return false;
	}
	bool fine = ws_git_tree(l.repo, commit, tree, err);
	const char *expected = top[0] ? NULL : w->checkout->spec.tree;
	if (fine && expected && strcmp(expected, tree) != 0) {
		fine = ws_err_set(err, WS_ERR_FETCH, "commit '%s' of '%s' has the tree '%s', not '%s'",
			commit, url, tree, expected);
	}
	if (fine && w->checkout->spec.submodule_count > 0) {
		fine = read_modules(w, &l, tree, err);
	}
	fine = fine && walk_tree(w, &l, tree, top, 0, err);
	if (!fine && ws_git_is_damaged(l.repo)) { /* reading its objects failed */
		const char *path = cache_path(w->store, url, w->a);
		WS_AUTO_FD int lock = -1;
		w->checkout->is_damaged = !w->git->config.offline && wait_for_lock(w, path, &lock, NULL)
			&& remove_cache(w, path, NULL);
	}
	ws_git_repo_close(l.repo);
	return fine;
}

bool
ws_checkout(struct ws_git *git, const struct ws_store *store, struct ws_checkout *checkout,
	struct ws_unpack_sink *into, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct walk w = {.git = git, .store = store, .checkout = checkout, .into = into, .a = a};
	w.members = ws_members_begin(checkout->spec.url, 0, NULL, a);
	w.brought = WS_NEW_N(a, bool, checkout->spec.submodule_count);
	if (!walk_commit(
			&w, checkout->spec.url, checkout->spec.commit, "", checkout->found_tree, err)) {
		return false;
	}
	for (size_t i = 0; i < checkout->spec.submodule_count; i++) {
		if (!w.brought[i]) {
			return ws_err_set(err, WS_ERR_CONFIG, "commit '%.12s' of '%s' has no submodule '%s'",
				checkout->spec.commit, checkout->spec.url, checkout->spec.submodules[i]);
		}
	}
	return true;
}

bool
ws_checkout_recall(struct ws_git *git, const struct ws_store *store, const char *url,
	const char *commit, char tree[WS_GIT_ID])
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = cache_path(store, url, a);
	WS_AUTO_FD int lock = -1;
	if (!ws_fs_is_dir(path)
		|| ws_flock_try(ws_arena_printf(a, "%s.lock", path), true, &lock, NULL) != WS_FLOCK_HELD) {
		return false;
	}
	struct ws_git_repo *repo = ws_git_repo_open(git, path, a, NULL);
	bool known = repo && ws_git_has(repo, commit) && ws_git_tree(repo, commit, tree, NULL);
	ws_git_repo_close(repo);
	return known;
}
