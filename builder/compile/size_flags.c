/* size_flags.c - which words are about size. What is decided of it stands in the product. */
#include "compile/size_flags.h"

#include "base/str.h"
#include "base/vec.h"

#include <string.h>

/* Words that stand alone. */
static const char *const compressing[] = {"-compress-all", "--compress-all", "-no-compress",
	"--no-compress", "-Xfatbin=-compress-all", "-Xfatbin=--compress-all",
	"--fatbin-options=-compress-all", "--fatbin-options=--compress-all"};
static const char *const debugging[] = {"-g", "-g0", "-g1", "-g2", "-g3", "-ggdb", "-gdwarf-4",
	"-gdwarf-5", "--debug", "-Xcompiler=-g", "--compiler-options=-g"};
static const char *const lines[] = {"-lineinfo", "--generate-line-info", "--ptxas-options=-v",
	"--ptxas-options=--verbose", "-Xptxas=-v", "-Xptxas=--verbose"};

/* Words that go with the value that follows them. */
static const struct pair {
	const char *option, *value; /* value NULL: any */
} compressing_pairs[] = {{"-Xfatbin", "-compress-all"}, {"-Xfatbin", "--compress-all"},
	{"--fatbin-options", "-compress-all"}, {"--fatbin-options", "--compress-all"},
	{"--compress-mode", NULL}, {"-compress-mode", NULL}},
  debugging_pairs[] = {{"-Xcompiler", "-g"}, {"--compiler-options", "-g"}},
  lines_pairs[] = {{"-Xptxas", "-v"}, {"-Xptxas", "--verbose"}, {"--ptxas-options", "-v"},
	  {"--ptxas-options", "--verbose"}};

static bool
is_pair(const char *word, const char *next, const struct pair *pairs, size_t count)
{
	for (size_t i = 0; i < count && next; i++) {
		if (strcmp(word, pairs[i].option) == 0
			&& (!pairs[i].value || strcmp(next, pairs[i].value) == 0)) {
			return true;
		}
	}
	return false;
}

/* How many words from @a word on go: 0, 1 or 2. */
static size_t
count_dropped(const char *word, const char *next, enum ws_debug_info info)
{
	bool debug = info != WS_DEBUG_FULL, line = info == WS_DEBUG_NONE;
	if (ws_is_among(word, compressing, WS_LEN(compressing))
		|| ws_starts_with(word, "--compress-mode=") || ws_starts_with(word, "-compress-mode=")
		|| (debug && ws_is_among(word, debugging, WS_LEN(debugging)))
		|| (line && ws_is_among(word, lines, WS_LEN(lines)))) {
		return 1;
	}
	return is_pair(word, next, compressing_pairs, WS_LEN(compressing_pairs))
			|| (debug && is_pair(word, next, debugging_pairs, WS_LEN(debugging_pairs)))
			|| (line && is_pair(word, next, lines_pairs, WS_LEN(lines_pairs)))
		? 2
		: 0;
}

void
ws_size_flags_drop(ws_name_list *words, const struct ws_size_options *size)
{
	size_t kept = 0;
	for (size_t i = 0; i < words->len;) {
		const char *next = i + 1 < words->len ? words->at[i + 1] : NULL;
		size_t dropped = count_dropped(words->at[i], next, size->debug_info);
		if (dropped == 0) {
			words->at[kept++] = words->at[i];
		}
		i += dropped ? dropped : 1;
	}
	words->len = kept;
}

void
ws_size_flags_add_nvcc(ws_name_list *words, const struct ws_size_options *size, struct ws_arena *a)
{
	switch (size->compress) {
	case WS_COMPRESS_NONE:
		break;
	case WS_COMPRESS_ALL:
		*ws_vec_push(words, a) = "-Xfatbin";
		*ws_vec_push(words, a) = "-compress-all";
		break;
	case WS_COMPRESS_SIZE:
		*ws_vec_push(words, a) = "--compress-mode=size";
		break;
	}
}
