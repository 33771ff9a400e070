/* installed.c - the path first, then the folder that holds the packages. */
#include "base/attr.h"
#include "base/fs.h"
#include "base/text.h"
#include "explain/evidence.h"
#include "model/wheel_name.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MOST ((size_t)8 << 20) /* bytes; torch's own has 1.5 MB */

/* "3.11" of "cpython-311". */
static const char *
python_of(const char *file, struct ws_arena *a)
{
	const char *tag = strstr(file, ".cpython-");
	struct ws_python_tag python;
	if (tag) {
		const char *digits = tag + strlen(".cpython-");
		const char *text = ws_arena_printf(a, "cp%.*s", (int)strcspn(digits, "-."), digits);
		return ws_python_tag_parse(text, &python) ? ws_python_version_text(&python, a) : NULL;
	}
	const char *folder = strstr(file, "/lib/python");
	if (folder) {
		const char *text = folder + strlen("/lib/python");
		text = ws_arena_copy(a, text, strcspn(text, "/"));
		return ws_python_tag_parse(text, &python) ? ws_python_version_text(&python, a) : NULL;
	}
	return NULL;
}

/* Where the packages' folder ends in @file; 0: it is in none. */
static size_t
packages_len(const char *file)
{
	static const char *const names[] = {"/site-packages/", "/dist-packages/"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		const char *found = strstr(file, names[i]);
		if (found) {
			return (size_t)(found - file) + strlen(names[i]) - 1;
		}
	}
	return 0;
}

/* "demo._C" of "demo/_C.cpython-311-x86_64-linux-gnu.so". */
static const char *
module_of(const char *below, struct ws_arena *a)
{
	const char *base = ws_path_base(below);
	size_t len = (size_t)(base - below) + strcspn(base, ".");
	char *module = ws_arena_copy(a, below, len);
	for (char *at = module; *at; at++) {
		*at = *at == '/' ? '.' : *at;
	}
	return module[0] ? module : NULL;
}

/* Does the RECORD in @info list the file? */
static bool
lists(const char *info, const char *below, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *line = ws_arena_printf(a, "\n%s,", below);
	ws_buf_putc(&text, '\n');
	return ws_fs_read_at_most(ws_path_join(a, info, "RECORD", NULL), RECORD_MOST, &text, NULL)
		&& strstr(ws_buf_text(&text), line);
}

/* Takes "flash_attn-2.8.3.dist-info" apart, and conda's "torch-2.5.1-py3.11.egg-info". */
static bool
split_info(const char *name, struct ws_arena *a, const char **package, struct ws_version *version)
{
	struct ws_str rest = ws_str_of(name);
	struct ws_str first = ws_str_cut(&rest, '-');
	if (!rest.s || !(ws_ends_with(name, ".dist-info") || ws_ends_with(name, ".egg-info"))) {
		return false;
	}
	/* The version goes up to ".dist-info", "-py3.11.egg-info" or ".egg-info". */
	const char *text = ws_str_copy(ws_str_cut(&rest, '-'), a);
	size_t len = strlen(text);
	len -= ws_ends_with(text, ".dist") ? strlen(".dist")
		: ws_ends_with(text, ".egg")   ? strlen(".egg")
									   : 0;
	*package = ws_package_normal(ws_str_copy(first, a), a);
	return ws_version_parse(ws_arena_copy(a, text, len), a, version);
}

static void
read_beside(const char *packages, const char *below, struct ws_arena *a, struct ws_installed *place)
{
	WS_AUTO_DIR DIR *dir = opendir(packages);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *package;
		struct ws_version version;
		if (!split_info(entry->d_name, a, &package, &version)) {
			continue;
		}
		if (strcmp(package, "torch") == 0) {
			place->torch = version.text;
		} else if (!place->package
			&& lists(ws_path_join(a, packages, entry->d_name, NULL), below, a)) {
			place->package = package;
			place->version = version.public_text;
		}
	}
}

/* <prefix>/bin/python of <prefix>/lib/python3.11/site-packages. */
static const char *
program_of(const char *packages, struct ws_arena *a)
{
	const char *library = ws_path_dir(a, packages);
	const char *prefix = ws_path_dir(a, ws_path_dir(a, library));
	const char *program = ws_path_join(a, prefix, "bin", ws_path_base(library), NULL);
	return ws_starts_with(ws_path_base(library), "python") && access(program, X_OK) == 0 ? program
																						 : NULL;
}

struct ws_installed
ws_installed_of(const char *file, struct ws_arena *a)
{
	size_t len = packages_len(file);
	const char *below = len ? file + len + 1 : ws_path_base(file);
	struct ws_installed place = {.module = module_of(below, a), .python = python_of(file, a)};
	if (len > 0 && file[0] == '/') {
		const char *packages = ws_arena_copy(a, file, len);
		place.program = program_of(packages, a);
		read_beside(packages, below, a, &place);
	}
	return place;
}
