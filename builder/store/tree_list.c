#include "store/tree_list.h"

#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void
write_lines(const struct ws_tree_entry *entries, size_t count, bool sized, struct ws_buf *text)
{
	for (size_t i = 0; i < count; i++) {
		const struct ws_tree_entry *entry = &entries[i];
		bool link = entry->kind == WS_TREE_LINK;
		ws_buf_putc(text, "fxl"[entry->kind]);
		ws_buf_putc(text, ' ');
		ws_buf_puts(text, entry->value);
		if (sized && !link) {
			ws_buf_printf(text, "/%" PRIu64, entry->size_bytes);
		}
		ws_buf_putc(text, link ? '\t' : ' ');
		ws_buf_puts(text, entry->path);
		ws_buf_putc(text, '\n');
	}
}

void
ws_tree_list_write(const struct ws_tree_entry *entries, size_t count, struct ws_buf *text)
{
	write_lines(entries, count, true, text);
}

struct ws_digest
ws_tree_digest(struct ws_tree_entry *entries, size_t count)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (count > 1) {
		qsort(entries, count, sizeof(*entries), ws_tree_entry_cmp);
	}
	write_lines(entries, count, false, &text);
	return ws_digest_bytes(ws_buf_text(&text), text.len);
}

/* One line; false when it is none. Cuts it apart in place, and adds it without the size to @a
 * plain. */
static bool
read_line(char *line, struct ws_tree_entry *entry, struct ws_buf *plain, bool *sized)
{
	const char *kinds = "fxl";
	const char *kind = line[0] ? strchr(kinds, line[0]) : NULL;
	char *value = line + 2;
	char *end = kind && line[1] == ' ' ? strchr(value, *kind == 'l' ? '\t' : ' ') : NULL;
	if (!end) {
		return false;
	}
	char *size = *kind == 'l' ? NULL : memchr(value, '/', (size_t)(end - value));
	ws_buf_add(plain, line, (size_t)((size ? size : end) - line));
	ws_buf_puts(plain, end);
	ws_buf_putc(plain, '\n');
	*end = '\0';
	*entry = (struct ws_tree_entry){end + 1, (enum ws_tree_kind)(kind - kinds), value, 0};
	*sized = *sized && (size || *kind == 'l');
	if (size) {
		*size++ = '\0';
	}
	return *kind == 'l'
		|| (strlen(value) == 64 && (!size || ws_str_to_u64(ws_str_of(size), &entry->size_bytes)));
}

bool
ws_tree_list_read(struct ws_str text, struct ws_arena *a, struct ws_tree_entry **entries,
	size_t *count, struct ws_digest *digest, bool *sized)
{
	WS_VEC(struct ws_tree_entry) list = {0};
	WS_AUTO_BUF struct ws_buf plain = {0};
	*sized = true;
	for (char *line = ws_str_copy(text, a); *line;) {
		char *end = line + strcspn(line, "\n");
		char *next = *end ? end + 1 : end;
		*end = '\0';
		if (!read_line(line, ws_vec_push(&list, a), &plain, sized)) {
			return false;
		}
		line = next;
	}
	*entries = list.at;
	*count = list.len;
	*digest = ws_digest_bytes(ws_buf_text(&plain), plain.len);
	return true;
}
