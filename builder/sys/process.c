/* process.c - /proc/PID/stat, cmdline, exe, statm, comm: proc(5). Names of users: /etc/passwd. */
#include "sys/process.h"

#include "base/fs.h"

#define COMMAND_MOST 300

/* Fields of stat, counted behind the name in parentheses, which may hold anything. */
enum {
	FIELD_PARENT = 1,
	FIELD_SESSION = 3,
	FIELD_STARTED = 19, /* clock ticks since boot */
	FIELDS = 20,
};

static bool
read_file(const char *root, unsigned pid, const char *name, struct ws_buf *text)
{
	char path[4096];
	ws_buf_clear(text);
	snprintf(path, sizeof(path), "%s/proc/%u/%s", root, pid, name);
	return ws_fs_read_at_most(path, (size_t)1 << 20, text, NULL);
}

static uint64_t
age_s(const char *root, uint64_t started)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	uint64_t up;
	char path[4096];
	snprintf(path, sizeof(path), "%s/proc/uptime", root);
	if (!ws_fs_read_at_most(path, 4096, &text, NULL)) {
		return 0;
	}
	struct ws_str rest = ws_buf_str(&text);
	uint64_t at = started / (uint64_t)sysconf(_SC_CLK_TCK);
	return ws_str_to_u64(ws_str_cut(&rest, '.'), &up) && up > at ? up - at : 0;
}

static void
make_printable(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		text[i] = c == '\0' ? ' ' : c < ' ' || c >= 0x7f ? '?' : text[i];
	}
}

/* The words with blanks between them. */
static const char *
command_of(const char *root, unsigned pid, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!read_file(root, pid, "cmdline", &text) || text.len == 0) {
		return "";
	}
	ws_buf_cut(&text, COMMAND_MOST);
	make_printable(text.data, text.len);
	return ws_str_copy(ws_str_trim(ws_buf_str(&text)), a);
}

/* "root:x:0:0:..." */
static const char *
user_of(const char *root, unsigned pid, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct stat status;
	if (stat(ws_arena_printf(a, "%s/proc/%u", root, pid), &status) != 0) {
		return "?";
	}
	ws_fs_read_at_most(ws_arena_printf(a, "%s/etc/passwd", root), (size_t)1 << 20, &text, NULL);
	struct ws_str rest = ws_buf_str(&text);
	while (rest.s) {
		uint64_t uid;
		struct ws_str line = ws_str_cut(&rest, '\n');
		struct ws_str name = ws_str_cut(&line, ':');
		ws_str_cut(&line, ':');
		if (ws_str_to_u64(ws_str_cut(&line, ':'), &uid) && uid == status.st_uid) {
			return ws_str_copy(name, a);
		}
	}
	return ws_arena_printf(a, "%u", (unsigned)status.st_uid);
}

bool
ws_process_look(const char *root, unsigned pid, struct ws_arena *a, struct ws_process *process)
{
	uint64_t fields[FIELDS] = {0};
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!read_file(root, pid, "stat", &text)) {
		return false;
	}
	const char *end = strrchr(ws_buf_text(&text), ')');
	struct ws_str rest = ws_str_of(end && end[1] ? end + 2 : NULL);
	for (size_t i = 0; i < FIELDS; i++) {
		struct ws_str field = ws_str_cut(&rest, ' ');
		if (i > 0 && !ws_str_to_u64(field, &fields[i])) {
			fields[i] = 0; /* tpgid is -1 where there is none */
		}
	}
	if (!rest.s) {
		return false;
	}
	char program[4096];
	const char *link = ws_arena_printf(a, "%s/proc/%u/exe", root, pid);
	ssize_t len = readlink(link, program, sizeof(program));
	bool known = len > 0 && (size_t)len < sizeof(program);
	*process = (struct ws_process){
		.program = known ? ws_arena_copy(a, program, (size_t)len) : NULL,
		.command = command_of(root, pid, a),
		.user = user_of(root, pid, a),
		.age_s = age_s(root, fields[FIELD_STARTED]),
		.is_left_behind = pid != 1 && fields[FIELD_PARENT] == 1 && fields[FIELD_SESSION] != pid,
	};
	return true;
}

/* ---- which processes hold the memory ---- */

size_t
ws_holders_find(const char *root, struct ws_arena *a, struct ws_holder *top, size_t most)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_DIR DIR *dir = opendir(ws_arena_printf(a, "%s/proc", root));
	const struct dirent *entry;
	size_t count = 0;
	while (dir && (entry = readdir(dir))) {
		uint64_t pid;
		if (!ws_str_to_u64(ws_str_of(entry->d_name), &pid) || pid > INT32_MAX) {
			continue;
		}
		uint64_t pages = 0;
		struct ws_str rest = {0}; /* "size resident shared ...", in pages */
		if (read_file(root, (unsigned)pid, "statm", &text)) {
			rest = ws_buf_str(&text);
		}
		ws_str_cut(&rest, ' ');
		bool known = ws_str_to_u64(ws_str_cut(&rest, ' '), &pages) && pages < UINT64_MAX >> 20;
		uint64_t bytes = known ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
		size_t at = count;
		while (at > 0 && top[at - 1].rss_bytes < bytes) {
			at--;
		}
		if (bytes == 0 || at == most) {
			continue;
		}
		count += count < most;
		memmove(&top[at + 1], &top[at], (count - at - 1) * sizeof(*top));
		top[at] = (struct ws_holder){(pid_t)pid, NULL, bytes};
	}
	for (size_t i = 0; i < count; i++) {
		/* A process sets its own name, which may hold any bytes. */
		bool named = read_file(root, (unsigned)top[i].pid, "comm", &text);
		struct ws_str name = ws_str_trim(ws_buf_str(&text));
		make_printable((char *)(uintptr_t)name.s, name.n);
		top[i].name = named ? ws_str_copy(name, a) : "?";
	}
	return count;
}
