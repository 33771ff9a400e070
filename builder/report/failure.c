/* failure.c - no parsing: logs of gcc, clang, nvcc, ptxas and ld. Cures are the signs'
 * (explain/signs.h). */
#include "report/failure.h"

#include "explain/explain.h"

#define MOST_LINES 12
#define AFTER_AN_ERROR 3
#define LONGEST_LINE 300

static void
add_line(struct ws_buf *out, struct ws_str line)
{
	size_t len = line.n > LONGEST_LINE ? LONGEST_LINE : line.n;
	ws_buf_puts(out, "  ");
	ws_buf_add(out, line.s, len);
	ws_buf_puts(out, len < line.n ? "...\n" : "\n");
}

void
ws_failure_excerpt(struct ws_str log, struct ws_buf *out)
{
	static const char *const marks[] = {"error:", "error :", ": error",
		"fatal   :", "fatal :", "undefined reference", "multiple definition", "ld: cannot ",
		"syntax error", "Error: ", "died due to signal", "Killed signal", "No space left"};
	struct ws_str rest = log;
	unsigned shown = 0, follow = 0;
	while (rest.s && shown < MOST_LINES) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		for (size_t i = 0; i < WS_LEN(marks); i++) {
			bool marked = line.n > 0 && memmem(line.s, line.n, marks[i], strlen(marks[i]));
			follow = marked ? 1 + AFTER_AN_ERROR : follow;
		}
		if (follow > 0 && line.n > 0) {
			add_line(out, line);
			shown++;
			follow--;
		}
	}
	if (shown == 0) {
		while (log.n > 0 && log.s[log.n - 1] == '\n') {
			log.n--;
		}
		size_t start = log.n;
		for (unsigned lines = 0; start > 0 && lines < MOST_LINES; start--) {
			lines += log.s[start - 1] == '\n';
			if (lines == MOST_LINES) {
				break;
			}
		}
		rest = (struct ws_str){log.s + start, log.n - start};
		while (rest.s && rest.n > 0) {
			add_line(out, ws_str_cut(&rest, '\n'));
		}
	}
}

void
ws_failure_cures(
	const struct ws_signs *signs, struct ws_str log, struct ws_arena *a, struct ws_err *err)
{
	const struct ws_found_sign *found;
	struct ws_finder *finder = ws_finder_open(signs, a);
	ws_finder_add(finder, log.s, log.n);
	if (ws_finder_end(finder, &found) == 0) {
		return;
	}
	size_t count;
	const char *const *cures = ws_explain_build(found, a, &count);
	for (size_t i = 0; i < count; i++) {
		ws_err_cure(err, "%s", cures[i]);
	}
}
