/* words.c - see words.h. */
#include "recipe/words.h"

#include <string.h>

bool
ws_name_is_plain(const char *name)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-./";
	return name[0] != '-' && name[strspn(name, letters)] == '\0';
}

bool
ws_path_suits_nvcc(const char *path)
{
	return !strpbrk(path, ",\"$`\\");
}

/* "{work}", "{cxx}": what engine/work.c replaces. "{1, 2}" is not one. */
static bool
holds_token(const char *word)
{
	for (const char *open = strchr(word, '{'); open; open = strchr(open + 1, '{')) {
		size_t len = strspn(open + 1, "abcdefghijklmnopqrstuvwxyz");
		if (len > 0 && open[1 + len] == '}') {
			return true;
		}
	}
	return false;
}

const char *
ws_flag_problem(const char *word, bool cuda)
{
	if (holds_token(word)) {
		return "words in braces are replaced by folders of the run";
	}
	if (cuda && strpbrk(word, "$`")) {
		return "nvcc gives its words to a shell, which replaces $ and `";
	}
	return NULL;
}
