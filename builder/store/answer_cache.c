/* answer_cache.c - a digest over size, times and inode of the files that an answer depends on. */
#include "store/answer_cache.h"

#include "base/fs.h"

#include <fcntl.h>
#include <limits.h>
#include <time.h>

/* Folders where packages install compilers and libraries; their times change with their entries. */
static const char *const places[] = {"/bin", "/usr/bin", "/usr/local/bin", "/lib", "/usr/lib",
	"/usr/local/lib", "/lib64", "/usr/lib64", "/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu", "/etc/ld.so.cache"};

/* Paths in answers that do not affect the result. */
static const char *const ignored[] = {"/dev/", "/proc/", "/tmp/tmpxft"};

struct fingerprint {
	struct ws_hasher *h;
	time_t newest_s;
	bool unclear; /* the answer has a path that only its reader can parse */
};

static void
add_file(struct fingerprint *f, const char *path)
{
	struct stat status = {0};
	int64_t fields[8] = {-1};
	if (stat(path, &status) == 0) {
		fields[0] = (int64_t)status.st_size;
		fields[1] = (int64_t)status.st_mode;
		fields[2] = (int64_t)status.st_ino;
		fields[3] = (int64_t)status.st_dev;
		fields[4] = (int64_t)status.st_mtim.tv_sec;
		fields[5] = (int64_t)status.st_mtim.tv_nsec;
		fields[6] = (int64_t)status.st_ctim.tv_sec;
		fields[7] = (int64_t)status.st_ctim.tv_nsec;
	}
	f->newest_s = status.st_ctim.tv_sec > f->newest_s ? status.st_ctim.tv_sec : f->newest_s;
	ws_hasher_add_field(f->h, path);
	ws_hasher_add(f->h, fields, sizeof(fields));
}

/* For "/usr/lib/gcc/12/../libm.so": adds the path, its folder, and the part before "/../". */
static void
add_path(struct fingerprint *f, const char *path)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (size_t i = 0; i < WS_LEN(ignored); i++) {
		if (ws_starts_with(path, ignored[i])) {
			return;
		}
	}
	const char *up = strstr(path, "/../");
	add_file(f, path);
	add_file(f, ws_path_dir(a, path));
	if (up) {
		add_file(f, ws_arena_copy(a, path, (size_t)(up - path)));
	}
}

/* False if the answer must not be cached: a file is so young that another change may not be
 * visible, or a path is unclear. */
static bool
compute_fingerprint(const char *program, const char *answer, struct ws_digest *looks)
{
	struct fingerprint f = {.h = ws_hasher_make()};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (size_t i = 0; i < WS_LEN(places); i++) {
		add_file(&f, places[i]);
	}
	add_path(&f, program);
	/* The configuration of a virtual environment. */
	add_file(&f, ws_arena_printf(a, "%s/../pyvenv.cfg", ws_path_dir(a, program)));
	/* Every absolute path in the answer. In double quotes a path may contain blanks. */
	for (const char *at = answer; *at; at += *at != '\0') {
		bool quoted = at > answer && at[-1] == '"' && at[0] == '/';
		size_t len = strcspn(at, quoted ? "\"\n" : " \t\n\"':;=,()");
		f.unclear = f.unclear || (quoted && memchr(at, '\\', len));
		if (len > 1 && len < PATH_MAX && at[0] == '/') {
			add_path(&f, ws_arena_copy(a, at, len));
		}
		at += len;
	}
	*looks = ws_hasher_finish(f.h);
	return !f.unclear && f.newest_s + 2 < time(NULL);
}

bool
ws_answer_cache_ask(struct ws_ledger *ledger, const struct ws_child_order *order,
	struct ws_buf *answer, struct ws_err *err)
{
	char magic[4] = "";
	WS_AUTO_FREE char *real = ledger ? realpath(order->argv[0], NULL) : NULL;
	WS_AUTO_FD int fd = real ? ws_fs_open_regular(real, 0, NULL, NULL) : -1;
	if (fd < 0 || read(fd, magic, sizeof(magic)) < 0 || memcmp(magic, "\177ELF", 4) != 0) {
		return ws_child_ask(order, answer, err);
	}
	char here[PATH_MAX] = "";
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, "wheelsmith.asked/1");
	ws_hasher_add_field(h, real);
	for (const char *const *word = order->argv; *word; word++) {
		ws_hasher_add_field(h, *word);
	}
	ws_hasher_add_field(h, order->env ? "with" : "without");
	for (const char *const *var = order->env; var && *var; var++) {
		ws_hasher_add_field(h, *var);
	}
	ws_hasher_add_field(h, order->with_stderr ? "both" : "stdout");
	ws_hasher_add_field(h, order->dir && getcwd(here, sizeof(here)) ? here : "/");
	struct ws_digest key = ws_hasher_finish(h), noted, looks;
	size_t start = answer->len;
	if (ws_ledger_answer(ledger, key.hex, answer, &noted)) {
		compute_fingerprint(real, ws_buf_text(answer) + start, &looks);
		if (ws_digest_eq(&looks, &noted)) {
			return true;
		}
		ws_buf_cut(answer, start);
	}
	if (!ws_child_ask(order, answer, err)) {
		return false;
	}
	if (compute_fingerprint(real, ws_buf_text(answer) + start, &looks)) {
		ws_ledger_note_answer(ledger, key.hex, ws_buf_text(answer) + start, &looks);
	}
	return true;
}
