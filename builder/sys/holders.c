/* holders.c - /proc/PID/statm and comm: proc(5). */
#include "base/buf.h"
#include "base/fs.h"
#include "sys/process.h"

#include <string.h>

static bool
read_small(const char *root, uint64_t pid, const char *name, struct ws_buf *text)
{
	char path[4096];
	ws_buf_clear(text);
	snprintf(path, sizeof(path), "%s/proc/%llu/%s", root, (unsigned long long)pid, name);
	return ws_fs_read_at_most(path, 4096, text, NULL);
}

/* "size resident shared ...", in pages. */
static uint64_t
resident_bytes(const char *root, uint64_t pid, struct ws_buf *text)
{
	uint64_t pages;
	if (!read_small(root, pid, "statm", text)) {
		return 0;
	}
	struct ws_str rest = ws_buf_str(text);
	ws_str_cut(&rest, ' ');
	return ws_str_to_u64(ws_str_cut(&rest, ' '), &pages) && pages < UINT64_MAX >> 20
		? pages * (uint64_t)sysconf(_SC_PAGESIZE)
		: 0;
}

/* A process names itself, so anything may stand there. */
static const char *
name_of(const char *root, uint64_t pid, struct ws_buf *text, struct ws_arena *a)
{
	if (!read_small(root, pid, "comm", text)) {
		return "?";
	}
	char *name = ws_str_copy(ws_str_trim(ws_buf_str(text)), a);
	for (char *c = name; *c; c++) {
		*c = (unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f ? '?' : *c;
	}
	return name;
}

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
		uint64_t bytes = resident_bytes(root, pid, &text);
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
		top[i].name = name_of(root, (uint64_t)top[i].pid, &text, a);
	}
	return count;
}
