/* answer_cache.c - a digest over how things look, noted beside the answer. */
#include "store/answer_cache.h"

#include "base/fs.h"
#include "base/text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Where packages put what compilers and loaders find; a folder's time moves when something is
 * added. */
static const char *const places[] = {"/bin", "/usr/bin", "/usr/local/bin", "/lib", "/usr/lib",
	"/usr/local/lib", "/lib64", "/usr/lib64", "/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu", "/etc/ld.so.cache"};

/* What answers name and nobody reads later. */
static const char *const passing[] = {"/dev/", "/proc/", "/tmp/tmpxft"};

struct looking {
	struct ws_hasher *h;
	time_t newest_s;
	bool unclear; /* a path stands there that only a reader of the answer knows */
};

static void
add_looks(struct looking *l, const char *path)
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
	l->newest_s = status.st_ctim.tv_sec > l->newest_s ? status.st_ctim.tv_sec : l->newest_s;
	ws_hasher_add_field(l->h, path);
	ws_hasher_add(l->h, fields, sizeof(fields));
}

/* "/usr/lib/gcc/12/../libm.so": itself, the folder it lies in, and that which it leads through. */
static void
add_path(struct looking *l, const char *path)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (size_t i = 0; i < WS_LEN(passing); i++) {
		if (ws_starts_with(path, passing[i])) {
			return;
		}
	}
	const char *up = strstr(path, "/../");
	add_looks(l, path);
	add_looks(l, ws_path_dir(a, path));
	if (up) {
		add_looks(l, ws_arena_copy(a, path, (size_t)(up - path)));
	}
}

/* Each absolute path that stands in @a text. In double quotes it may hold blanks. */
static void
add_paths(struct looking *l, const char *text)
{
	static const char ends[] = " \t\n\"':;=,()";
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (const char *at = text; *at;) {
		bool quoted = at > text && at[-1] == '"' && at[0] == '/';
		size_t len = strcspn(at, quoted ? "\"\n" : ends);
		l->unclear = l->unclear || (quoted && memchr(at, '\\', len));
		if (len > 1 && len < PATH_MAX && at[0] == '/') {
			add_path(l, ws_arena_copy(a, at, len));
		}
		at += len;
		at += *at != '\0';
	}
}

/* False where something is so young that another change in the same moment would not show, or
 * unclear. */
static bool
look(const char *program, const char *answer, struct ws_digest *looks)
{
	struct looking l = {.h = ws_hasher_make()};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (size_t i = 0; i < WS_LEN(places); i++) {
		add_looks(&l, places[i]);
	}
	add_path(&l, program);
	/* A virtual environment's. */
	add_looks(&l, ws_arena_printf(a, "%s/../pyvenv.cfg", ws_path_dir(a, program)));
	add_paths(&l, answer);
	*looks = ws_hasher_finish(l.h);
	return !l.unclear && l.newest_s + 2 < time(NULL);
}

static bool
is_elf(const char *path)
{
	char magic[4];
	WS_AUTO_FD int fd = ws_fs_open_regular(path, 0, NULL, NULL);
	return fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic)
		&& memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

static struct ws_digest
key_of(const struct ws_child_order *order, const char *real)
{
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
	return ws_hasher_finish(h);
}

bool
ws_answer_cache_ask(struct ws_ledger *ledger, const struct ws_child_order *order,
	struct ws_buf *answer, struct ws_err *err)
{
	WS_AUTO_FREE char *real = ledger ? realpath(order->argv[0], NULL) : NULL;
	if (!real || !is_elf(real)) {
		return ws_child_ask(order, answer, err);
	}
	struct ws_digest key = key_of(order, real), noted, looks;
	size_t start = answer->len;
	if (ws_ledger_answer(ledger, key.hex, answer, &noted)) {
		look(real, ws_buf_text(answer) + start, &looks);
		if (ws_digest_eq(&looks, &noted)) {
			return true;
		}
		ws_buf_cut(answer, start);
	}
	if (!ws_child_ask(order, answer, err)) {
		return false;
	}
	if (look(real, ws_buf_text(answer) + start, &looks)) {
		ws_ledger_note_answer(ledger, key.hex, ws_buf_text(answer) + start, &looks);
	}
	return true;
}
