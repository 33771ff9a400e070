/* git.c - the door to libgit2: its settings, repositories, what they hold, and bringing a commit
 * into one. Waiting for servers, and how failures are worded, are git_child.c's. */
#include "fetch/git.h"

#include "base/fs.h"

#include <git2.h>

#include <errno.h>
#include <git2/sys/remote.h>

#ifndef LIBGIT2_VERSION_MAJOR
#define LIBGIT2_VERSION_MAJOR LIBGIT2_VER_MAJOR
#define LIBGIT2_VERSION_MINOR LIBGIT2_VER_MINOR
#endif
/* Fetching without history came with 1.7. */
#define HAS_1_7 \
	(LIBGIT2_VERSION_MAJOR > 1 || (LIBGIT2_VERSION_MAJOR == 1 && LIBGIT2_VERSION_MINOR >= 7))

#define OBJECTS_MOST ((size_t)10 * 1000 * 1000) /* of one pack; all of Linux has this many */
#define WINDOW_BYTES ((size_t)4 << 20)          /* of a pack that is mapped at once */
#define MAPPED_BYTES ((size_t)64 << 20)
#define CACHED_BYTES ((ssize_t)4 << 20) /* of decoded objects; each is read once */

struct ws_git_repo {
	struct ws_git *git;
	const char *path;
	git_repository *repository;
	git_odb *odb;
	bool is_damaged; /* something in it could not be read */
};

static const char *
last_words(void)
{
	const git_error *last = git_error_last();
	if (!last || !last->message) {
		return "no reason given";
	}
	/* "malformed URL '...'" quotes the proxy's, login and all. */
	bool quotes_url = strstr(last->message, "URL '") != NULL;
	return quotes_url ? "the URL, or that of the proxy, cannot be used" : last->message;
}

struct ws_git *
ws_git_open(const struct ws_git_config *config, struct ws_arena *a, struct ws_err *err)
{
	if (git_libgit2_init() < 0) {
		ws_err_set(err, WS_ERR_INTERNAL, "libgit2 does not start: %s", last_words());
		return NULL;
	}
	/* Settings of the process: ignore the host's configuration, limit memory. */
	static const int levels[] = {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};
	int code = 0;
	for (size_t i = 0; i < WS_LEN(levels); i++) {
		code |= git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	}
	code |= git_libgit2_opts(GIT_OPT_SET_TEMPLATE_PATH, "");
	code |= git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
	code |= git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
	/* A mounted store is another user's; what is read is held against its id. */
	code |= git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	code |= git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECTS, OBJECTS_MOST);
	code |= git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, WINDOW_BYTES);
	code |= git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, MAPPED_BYTES);
	code |= git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, CACHED_BYTES);
#if HAS_1_7
	code |= git_libgit2_opts(GIT_OPT_SET_HOMEDIR, "");
#endif
	if (config->ca_path) {
		bool folder = ws_fs_is_dir(config->ca_path);
		code |= git_libgit2_opts(GIT_OPT_SET_SSL_CERT_LOCATIONS, folder ? NULL : config->ca_path,
			folder ? config->ca_path : NULL);
	}
	if (code != 0) {
		ws_err_set(err, WS_ERR_INTERNAL, "libgit2 does not take a setting: %s", last_words());
		git_libgit2_shutdown();
		return NULL;
	}
	struct ws_git *git = WS_NEW(a, struct ws_git);
	git->config = *config;
	return git;
}

void
ws_git_close(struct ws_git *git)
{
	if (git) {
		git_libgit2_shutdown();
	}
}

const char *
ws_git_version(struct ws_arena *a, bool *is_old)
{
	int major, minor, revision;
	git_libgit2_version(&major, &minor, &revision);
	*is_old = major * 10000 + minor * 100 + revision < 10907;
	return ws_arena_printf(a, "%d.%d.%d", major, minor, revision);
}

/* The system did not let libgit2 read something (too many open files, a failing disk): it may be
 * whole. */
static bool
is_unreadable(int code)
{
	const git_error *last = git_error_last();
	return last && last->klass == GIT_ERROR_OS && code != GIT_ENOTFOUND;
}

struct ws_git_repo *
ws_git_repo_open(struct ws_git *git, const char *path, struct ws_arena *a, struct ws_err *err)
{
	git_repository *repository = NULL;
	unsigned flags = GIT_REPOSITORY_OPEN_BARE | GIT_REPOSITORY_OPEN_NO_SEARCH;
	int code = git_repository_open_ext(&repository, path, flags, NULL);
	bool closed = code < 0 && is_unreadable(code);
	/* A run that was killed while it made the repository left some of these out. */
	static const char *const parts[] = {"HEAD", "objects", "refs", NULL};
	for (size_t i = 0; i < WS_LEN(parts) && code < 0; i++) {
		struct stat status;
		closed = closed
			|| (lstat(ws_path_join(a, path, parts[i], NULL), &status) < 0 && errno != ENOENT);
	}
	if (closed) {
		ws_err_set(err, WS_ERR_IO, "cannot open the git repository '%s': %s", path, last_words());
		return NULL;
	}
	if (code < 0) {
		git_repository_init_options options;
		git_repository_init_options_init(&options, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
		options.flags =
			GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH | GIT_REPOSITORY_INIT_NO_REINIT;
		options.initial_head = "main"; /* else it asks the user's configuration */
		if (!ws_fs_remove(path, err)) {
			return NULL;
		}
		if (git_repository_init_ext(&repository, path, &options) != 0) {
			ws_err_set(
				err, WS_ERR_IO, "cannot make the git repository '%s': %s", path, last_words());
			return NULL;
		}
	}
	struct ws_git_repo *repo = WS_NEW(a, struct ws_git_repo);
	*repo = (struct ws_git_repo){git, ws_arena_strdup(a, path), repository, NULL, false};
	if (git_repository_odb(&repo->odb, repository) < 0) {
		ws_err_set(err, WS_ERR_IO, "cannot read the git repository '%s': %s", path, last_words());
		ws_git_repo_close(repo);
		return NULL;
	}
	return repo;
}

void
ws_git_repo_close(struct ws_git_repo *repo)
{
	if (repo) {
		git_odb_free(repo->odb);
		git_repository_free(repo->repository);
	}
}

bool
ws_git_has(const struct ws_git_repo *repo, const char *commit)
{
	git_oid id;
	git_commit *found = NULL;
	bool has =
		git_oid_fromstr(&id, commit) == 0 && git_commit_lookup(&found, repo->repository, &id) == 0;
	git_commit_free(found);
	return has;
}

bool
ws_git_is_damaged(const struct ws_git_repo *repo)
{
	if (repo->is_damaged) {
		return true;
	}
	git_reference_iterator *refs = NULL;
	const char *name;
	bool whole = git_reference_iterator_new(&refs, repo->repository) == 0;
	int code = 0;
	while (whole && (code = git_reference_next_name(&name, refs)) == 0) {
		git_oid id;
		size_t len;
		git_object_t type;
		code = git_reference_name_to_id(&id, repo->repository, name);
		code = code < 0 ? code : git_odb_read_header(&len, &type, repo->odb, &id);
		whole = code == 0 || is_unreadable(code);
	}
	whole = whole && (code == 0 || code == GIT_ITEROVER || is_unreadable(code));
	git_reference_iterator_free(refs);
	return !whole;
}

/* ---- bringing a commit ---- */

/* A connection to a server. */
struct connection {
	struct ws_git_repo *repo;
	const char *url;
	ws_git_moved_fn moved;
	void *self;
	bool stopped; /* moved() said so */
	git_remote *remote;
	struct ws_git_outcome *outcome;
	struct ws_arena *a;
};

static int
report(struct connection *c, uint64_t bytes)
{
	c->stopped = c->stopped || !c->moved(c->self, bytes);
	return c->stopped ? -1 : 0;
}

static int
on_transfer(const git_indexer_progress *stats, void *self)
{
	return report(self, stats->received_bytes);
}

static int
on_sideband(const char *text WS_UNUSED, int len WS_UNUSED, void *self)
{
	return report(self, 0);
}

/* Never prompts for a password. */
static int
on_credentials(git_credential **out WS_UNUSED, const char *url WS_UNUSED,
	const char *user WS_UNUSED, unsigned types WS_UNUSED, void *self WS_UNUSED)
{
	return GIT_EAUTH;
}

static git_remote_callbacks
callbacks(struct connection *c)
{
	git_remote_callbacks calls;
	git_remote_init_callbacks(&calls, GIT_REMOTE_CALLBACKS_VERSION);
	calls.transfer_progress = on_transfer;
	calls.sideband_progress = on_sideband;
	calls.credentials = on_credentials;
	calls.payload = c;
	return calls;
}

static bool
fail(struct connection *c, int code)
{
	c->outcome->result = code == GIT_EAUTH ? WS_GIT_NEEDS_LOGIN
		: code == GIT_ECERTIFICATE         ? WS_GIT_BAD_CERTIFICATE
										   : WS_GIT_FAILED;
	snprintf(c->outcome->words, sizeof(c->outcome->words), "%s",
		code == GIT_EAUTH ? "it asks for a user and a password" : last_words());
	return false;
}

static void
hang_up(struct connection *c)
{
	if (c->remote) {
		git_remote_disconnect(c->remote);
		git_remote_free(c->remote);
		c->remote = NULL;
	}
}

/* Connects and hears which refs there are. */
static bool
dial(struct connection *c)
{
	git_remote_create_options create;
	git_remote_create_options_init(&create, GIT_REMOTE_CREATE_OPTIONS_VERSION);
	create.repository = c->repo->repository;
	create.flags = GIT_REMOTE_CREATE_SKIP_INSTEADOF | GIT_REMOTE_CREATE_SKIP_DEFAULT_FETCHSPEC;
	git_remote_connect_options options;
	git_remote_connect_options_init(&options, GIT_REMOTE_CONNECT_OPTIONS_VERSION);
	options.callbacks = callbacks(c);
	options.proxy_opts.type = GIT_PROXY_AUTO;            /* https_proxy and its kin */
	options.follow_redirects = GIT_REMOTE_REDIRECT_NONE; /* to other hosts, that is */
	int code = git_remote_create_with_opts(&c->remote, c->url, &create);
	if (code == 0) {
		code = git_remote_connect_ext(c->remote, GIT_DIRECTION_FETCH, &options);
	}
	return code == 0 || fail(c, code);
}

/* Fetches the refspecs; without @a history only their commits, if the library supports that. */
static bool
download(struct connection *c, char **specs, size_t count, bool history WS_UNUSED)
{
	git_strarray list = {specs, count};
	git_fetch_options options;
	git_fetch_options_init(&options, GIT_FETCH_OPTIONS_VERSION);
	options.callbacks = callbacks(c);
	options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
	options.proxy_opts.type = GIT_PROXY_AUTO;
	options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
#if HAS_1_7
	bool shallow = git_repository_is_shallow(c->repo->repository) == 1;
	bool local = ws_starts_with(c->url, "file://"); /* knows no depth */
	options.depth = !history && !local ? 1
		: shallow                      ? GIT_FETCH_DEPTH_UNSHALLOW
									   : GIT_FETCH_DEPTH_FULL;
#endif
	int code = git_remote_download(c->remote, &list, &options);
	if (code == 0) {
		code = git_remote_update_tips(
			c->remote, &options.callbacks, 0, GIT_REMOTE_DOWNLOAD_TAGS_NONE, NULL);
	}
	return code == 0 || fail(c, code);
}

/* By a ref, else by its id, without or with saying so beforehand; else all branches and tags over a
 * new connection, as a refused request may have ended this one. */
static bool
fetch_objects(struct connection *c, const char *commit)
{
	const char *own = ws_arena_printf(c->a, "refs/wheelsmith/%s", commit);
	const char *ref = NULL; /* points at the commit, or a tag of it */
	git_oid id;
	const git_remote_head **heads;
	size_t count;
	bool listed =
		git_oid_fromstr(&id, commit) == 0 && git_remote_ls(&heads, &count, c->remote) == 0;
	for (size_t i = 0; listed && i < count && !ref; i++) {
		const char *name = heads[i]->name;
		if (git_oid_equal(&heads[i]->oid, &id) && ws_starts_with(name, "refs/")) {
			/* "refs/tags/v1^{}" is what the annotated tag v1 names. */
			ref = ws_arena_copy(c->a, name, strlen(name) - (ws_ends_with(name, "^{}") ? 3 : 0));
		}
	}
	char *one[] = {ref ? ws_arena_printf(c->a, "+%s:%s", ref, own)
					   : ws_arena_printf(c->a, "%s:%s", commit, own)};
	bool came = download(c, one, 1, false);
	if (ref || (came && ws_git_has(c->repo, commit))) {
		return came;
	}
	if (c->stopped) {
		return false;
	}
	char branches[] = "+refs/heads/*:refs/heads/*", tags[] = "+refs/tags/*:refs/tags/*";
	char *all[] = {branches, tags};
	hang_up(c);
	return dial(c) && download(c, all, WS_LEN(all), true);
}

void
ws_git_download(struct ws_git_repo *repo, const char *url, const char *commit,
	ws_git_moved_fn moved, void *self, struct ws_git_outcome *outcome)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct connection c = {
		.repo = repo, .url = url, .moved = moved, .self = self, .outcome = outcome, .a = a};
	*outcome = (struct ws_git_outcome){.result = WS_GIT_CAME};
	if (dial(&c) && fetch_objects(&c, commit)) {
		outcome->result = ws_git_has(repo, commit) ? WS_GIT_CAME : WS_GIT_ABSENT;
	}
	hang_up(&c);
}

/* ---- what a repository holds ---- */

bool
ws_git_is_id(const char *text)
{
	return strlen(text) == WS_GIT_ID - 1 && strspn(text, "0123456789abcdef") == WS_GIT_ID - 1;
}

static bool
fail_to_read(
	struct ws_git_repo *repo, int code, const char *what, const char *id, struct ws_err *err)
{
	repo->is_damaged = repo->is_damaged || !is_unreadable(code);
	return ws_err_set(
		err, WS_ERR_IO, "cannot read the %s '%s' of '%s': %s", what, id, repo->path, last_words());
}

bool
ws_git_tree(struct ws_git_repo *repo, const char *commit, char tree[WS_GIT_ID], struct ws_err *err)
{
	git_oid id;
	git_commit *found = NULL;
	int code = git_oid_fromstr(&id, commit);
	code = code < 0 ? code : git_commit_lookup(&found, repo->repository, &id);
	if (code < 0) {
		return fail_to_read(repo, code, "commit", commit, err);
	}
	git_oid_tostr(tree, WS_GIT_ID, git_commit_tree_id(found));
	git_commit_free(found);
	return true;
}

bool
ws_git_list(struct ws_git_repo *repo, const char *tree, struct ws_arena *a,
	struct ws_git_entry **entries, size_t *count, struct ws_err *err)
{
	/* By the mode of a tree's entry (git-fast-import(1), "filemodify"). */
	static const struct {
		unsigned mode;
		enum ws_git_kind kind;
	} kinds[] = {
		{0100644, WS_GIT_FILE},
		{0100664, WS_GIT_FILE}, /* written by git before 2006 */
		{0100755, WS_GIT_EXECUTABLE},
		{0120000, WS_GIT_LINK},
		{0040000, WS_GIT_FOLDER},
		{0160000, WS_GIT_SUBMODULE},
	};
	git_oid id;
	git_tree *found = NULL;
	int code = git_oid_fromstr(&id, tree);
	code = code < 0 ? code : git_tree_lookup(&found, repo->repository, &id);
	if (code < 0) {
		return fail_to_read(repo, code, "tree", tree, err);
	}
	*count = git_tree_entrycount(found);
	*entries = WS_NEW_N(a, struct ws_git_entry, *count);
	for (size_t i = 0; i < *count; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(found, i);
		(*entries)[i].name = ws_arena_strdup(a, git_tree_entry_name(entry));
		/* Raw: git_tree_entry_filemode would turn what it does not know into what it does. */
		unsigned mode = (unsigned)git_tree_entry_filemode_raw(entry);
		(*entries)[i].kind = WS_GIT_OTHER;
		for (size_t k = 0; k < WS_LEN(kinds); k++) {
			if (kinds[k].mode == mode) {
				(*entries)[i].kind = kinds[k].kind;
			}
		}
		git_oid_tostr((*entries)[i].id, WS_GIT_ID, git_tree_entry_id(entry));
	}
	git_tree_free(found);
	return true;
}

bool
ws_git_read(struct ws_git_repo *repo, const char *id, uint64_t limit, struct ws_buf *out,
	struct ws_err *err)
{
	git_oid oid;
	size_t len;
	git_object_t type;
	git_blob *blob = NULL;
	int code = git_oid_fromstr(&oid, id);
	code = code < 0 ? code : git_odb_read_header(&len, &type, repo->odb, &oid);
	if (code == 0 && len > limit) {
		return ws_err_set(
			err, WS_ERR_FETCH, "it has %zu bytes; the limit is %ju", len, (uintmax_t)limit);
	}
	code = code < 0 ? code : git_blob_lookup(&blob, repo->repository, &oid);
	if (code < 0) {
		return fail_to_read(repo, code, "file", id, err);
	}
	ws_buf_add(out, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
	git_blob_free(blob);
	return true;
}
