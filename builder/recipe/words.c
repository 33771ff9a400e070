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

bool
ws_flag_takes_value(const char *flag)
{
	/* GCC 14 "Invoking GCC" and nvcc 13.0 --help; a library or a folder may stand apart as well. */
	static const char *const flags[] = {"-D", "-I", "-L", "-T", "-U", "-Xarchive", "-Xassembler",
		"-Xcompiler", "-Xcudafe", "-Xfatbin", "-Xlinker", "-Xnvlink", "-Xpreprocessor", "-Xptxas",
		"-arch", "-ccbin", "-code", "-default-stream", "-diag-error", "-diag-suppress",
		"-diag-warn", "-gencode", "-idirafter", "-imacros", "-include", "-iquote", "-isystem", "-l",
		"-maxrregcount", "-std", "-u", "-x", "-z", "--archive-options", "--compiler-bindir",
		"--compiler-options", "--default-stream", "--diag-error", "--diag-suppress", "--diag-warn",
		"--fatbin-options", "--generate-code", "--gpu-architecture", "--gpu-code",
		"--linker-options", "--maxrregcount", "--nvlink-options", "--optimize", "--param",
		"--pre-include", "--ptxas-options", "--std", "--threads", "-t", "-framework", "-Werror",
		"-Xclang", "-fmad", "-ftz", "-mllvm", "-prec-div", "-prec-sqrt", "-rdc", "-split-compile",
		"--fmad", "--ftz", "--prec-div", "--prec-sqrt", "--relocatable-device-code",
		"--split-compile"};
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(flags[i], flag) == 0) {
			return true;
		}
	}
	return false;
}
