/* failure.c - patterns, no parsing: logs of gcc, clang, nvcc, ptxas and ld. */
#include "report/failure.h"

#include <string.h>

#define MOST_LINES 12
#define AFTER_AN_ERROR 3
#define LONGEST_LINE 300

static bool
holds(struct ws_str text, const char *part)
{
	return text.n > 0 && memmem(text.s, text.n, part, strlen(part));
}

static bool
is_error(struct ws_str line)
{
	static const char *const marks[] = {"error:", "error :", ": error",
		"fatal   :", "fatal :", "undefined reference", "multiple definition", "ld: cannot ",
		"syntax error", "Error: ", "died due to signal", "Killed signal", "No space left"};
	for (size_t i = 0; i < WS_LEN(marks); i++) {
		if (holds(line, marks[i])) {
			return true;
		}
	}
	return false;
}

static void
add_line(struct ws_buf *out, struct ws_str line)
{
	size_t len = line.n > LONGEST_LINE ? LONGEST_LINE : line.n;
	ws_buf_puts(out, "  ");
	ws_buf_add(out, line.s, len);
	ws_buf_puts(out, len < line.n ? "...\n" : "\n");
}

static void
add_last_lines(struct ws_str log, struct ws_buf *out)
{
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
	struct ws_str rest = {log.s + start, log.n - start};
	while (rest.s && rest.n > 0) {
		add_line(out, ws_str_cut(&rest, '\n'));
	}
}

void
ws_failure_excerpt(struct ws_str log, struct ws_buf *out)
{
	struct ws_str rest = log;
	unsigned shown = 0, follow = 0;
	while (rest.s && shown < MOST_LINES) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		if (is_error(line)) {
			follow = 1 + AFTER_AN_ERROR;
		}
		if (follow > 0 && line.n > 0) {
			add_line(out, line);
			shown++;
			follow--;
		}
	}
	if (shown == 0) {
		add_last_lines(log, out);
	}
}

/* Two texts that must both stand in the log, and what to do then. */
struct cure {
	const char *sign, *also;
	const char *text;
};

static const struct cure cures[] = {
	{"Python.h: No such file", "",
		"a unit includes Python's headers: the extension's binding must be 'pybind' in the recipe"},
	{"No space left on device", "",
		"free some space, or keep the store elsewhere (--store DIR, WHEELSMITH_STORE)"},
	{"C++20 or later compatible compiler is required", "",
		"a flag of the recipe asks for an older standard: take -std= out, torch's own is used "
		"then"},
	{"C++17 or later compatible compiler is required", "",
		"a flag of the recipe asks for an older standard: take -std= out, torch's own is used "
		"then"},
	{"Unsupported gpu architecture", "",
		"this CUDA toolkit has no such target: take another arch or another CUDA version"},
	{"unsupported GNU version", "",
		"the toolkit refuses this compiler: `wheelsmith doctor` says which one it takes"},
	{"cannot find -lcuda", "",
		"no kit has the driver library: do not link libcuda, ask the runtime for driver functions"},
	{"No such file or directory",
		".h:", "a header is missing: check the recipe's `include`, and a submodule it may need"},
	{"undefined reference to", "",
		"torch allows undefined symbols in modules; a link flag of the recipe forbids them"},
	{"error: parameter packs not expanded", "std_function.h",
		"this nvcc cannot read this compiler's library: take an older host compiler"},
};

void
ws_failure_cures(struct ws_str log, struct ws_err *err)
{
	for (size_t i = 0; i < WS_LEN(cures); i++) {
		if (holds(log, cures[i].sign) && (!cures[i].also[0] || holds(log, cures[i].also))) {
			ws_err_cure(err, "%s", cures[i].text);
			return;
		}
	}
}
