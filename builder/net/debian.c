/* debian.c - apt has two syntaxes for the same entry. */
#include "net/debian.h"

#include "base/fs.h"
#include "base/user_env.h"
#include "net/url.h"

#include <strings.h>

/* The fields that identify the owner of an archive; "" where absent. */
enum field { TYPES, URIS, SUITES, COMPONENTS, SIGNED_BY, ENABLED, FIELDS };

struct search {
	const char *root;
	const char *file; /* being read */
	const char *entry[FIELDS];
	struct ws_debian_mirror best; /* without URL: Ubuntu's */
	unsigned weight;              /* of best; 0: none yet */
	struct ws_arena *a;
};

static bool
has_word(const struct search *s, enum field field, const char *word)
{
	size_t count;
	const char *const *words = ws_user_env_words(s->entry[field], s->a, &count);
	return ws_is_among(word, words, count);
}

/* How certain it is that this is the distribution's own archive; 0: it is not. A third party may
 * use a folder "debian" too, but then says so by its keyring or lies deeper. */
static unsigned
weigh(const struct search *s, const char *url, const char *name)
{
	const char *keyring = ws_arena_printf(s->a, "%s-archive-keyring", name);
	bool ours = strstr(s->entry[SIGNED_BY], keyring);
	if (!has_word(s, COMPONENTS, "main") || (s->entry[SIGNED_BY][0] && !ours)
		|| strstr(s->entry[SUITES], "-security") || strstr(url, "-security")) {
		return 0;
	}
	/* The path has this folder: "/debian" or "/mirror/debian/2025", not "/debian-security". */
	const char *path = strchr(strstr(url, "://") + 3, '/');
	struct ws_str rest = ws_str_of(path);
	bool has_folder = false;
	while (rest.s && !has_folder) {
		has_folder = ws_str_is(ws_str_cut(&rest, '/'), name);
	}
	return has_folder ? 1u + (ours ? 2u : 0u) + (strcmp(path + 1, name) == 0 ? 1u : 0u) : 0;
}

static void
consider(struct search *s, const char *text)
{
	struct ws_url parsed;
	char *url = ws_arena_strdup(s->a, text);
	for (size_t len = strlen(url); len > 0 && url[len - 1] == '/'; len--) {
		url[len - 1] = '\0';
	}
	if (!ws_url_parse(url, s->a, &parsed, NULL)) {
		return;
	}
	static const char *const names[] = {"debian", "ubuntu"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		unsigned weight = weigh(s, parsed.plain, names[i]);
		if (weight > s->weight) {
			s->weight = weight;
			s->best = (struct ws_debian_mirror){i == 0 ? url : NULL, s->file};
		}
	}
}

/* A file of apt; NULL if it cannot be read. */
static char *
read_file(const struct search *s, const char *path)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *full = ws_arena_printf(s->a, "%s%s", s->root, path);
	return ws_fs_read_at_most(full, 1 << 20, &text, NULL) ? ws_buf_copy(&text, s->a) : NULL;
}

static void
end_entry(struct search *s)
{
	static const char list[] = "mirror+file:";
	static const char *const off[] = {"no", "false", "0"};
	size_t count = 0;
	const char *const *uris = ws_user_env_words(s->entry[URIS], s->a, &count);
	bool counts = has_word(s, TYPES, "deb") && !ws_is_among(s->entry[ENABLED], off, WS_LEN(off));
	for (size_t i = 0; i < count && counts; i++) {
		if (!ws_starts_with(uris[i], list)) {
			consider(s, uris[i]);
			continue;
		}
		/* "mirror+file:/etc/apt/mirrors/debian.list" names a list, as cloud images do. */
		struct ws_str rest = ws_str_of(read_file(s, uris[i] + strlen(list)));
		while (rest.s) {
			size_t words;
			const char *const *mirror =
				ws_user_env_words(ws_str_copy(ws_str_cut(&rest, '\n'), s->a), s->a, &words);
			if (words > 0 && mirror[0][0] != '#') {
				consider(s, mirror[0]);
			}
		}
	}
	for (size_t i = 0; i < FIELDS; i++) {
		s->entry[i] = "";
	}
}

/* deb [arch=amd64 signed-by=/k.gpg] http://h/debian bookworm main contrib */
static void
read_one_line_form(struct search *s, struct ws_str text)
{
	static const char key[] = "signed-by=";
	while (text.s) {
		struct ws_str line = ws_str_cut(&text, '\n');
		char *rest = ws_str_copy(ws_str_cut(&line, '#'), s->a);
		char *options = strchr(rest, '['), *end = options ? strchr(options, ']') : NULL;
		size_t count;
		if (options && end) {
			*end = '\0';
			const char *const *words = ws_user_env_words(options + 1, s->a, &count);
			for (size_t i = 0; i < count; i++) {
				if (ws_starts_with(words[i], key)) {
					s->entry[SIGNED_BY] = words[i] + strlen(key);
				}
			}
			memset(options, ' ', (size_t)(end + 1 - options));
		}
		const char *const *words = ws_user_env_words(rest, s->a, &count);
		for (size_t i = 0; i < count && i <= SUITES; i++) {
			s->entry[i] = words[i];
		}
		if (count > COMPONENTS) {
			s->entry[COMPONENTS] = ws_join(words + COMPONENTS, count - COMPONENTS, " ", s->a);
		}
		end_entry(s);
	}
}

/* Fields with their continuation lines as they stand. Comments end a field, which loses what may
 * follow them in a list; no such list is known. */
static void
read_deb822_form(struct search *s, struct ws_str text)
{
	static const char *const names[FIELDS] = {
		"Types", "URIs", "Suites", "Components", "Signed-By", "Enabled"};
	while (text.s) {
		struct ws_str line = ws_str_cut(&text, '\n');
		while (text.s && text.n > 0 && (text.s[0] == ' ' || text.s[0] == '\t')) {
			struct ws_str more = ws_str_cut(&text, '\n');
			line.n = (size_t)(more.s + more.n - line.s);
		}
		if (ws_str_trim(line).n == 0) {
			end_entry(s);
			continue;
		}
		const char *name = ws_str_copy(ws_str_trim(ws_str_cut(&line, ':')), s->a);
		for (size_t i = 0; i < FIELDS && name[0] != '#'; i++) {
			if (strcasecmp(name, names[i]) == 0) {
				s->entry[i] = ws_str_copy(ws_str_trim(line), s->a);
			}
		}
	}
	end_entry(s);
}

static void
read_list(struct search *s, const char *file)
{
	struct ws_str text = ws_str_of(read_file(s, file));
	s->file = file;
	if (ws_ends_with(file, ".sources")) {
		read_deb822_form(s, text);
	} else if (ws_ends_with(file, ".list")) {
		read_one_line_form(s, text);
	}
}

bool
ws_debian_mirror_find(const char *root, struct ws_arena *a, struct ws_debian_mirror *mirror)
{
	struct search s = {.root = root, .entry = {"", "", "", "", "", ""}, .a = a};
	read_list(&s, "/etc/apt/sources.list");
	struct dirent **names = NULL;
	const char *dir = ws_arena_printf(a, "%s/etc/apt/sources.list.d", root);
	int count = scandir(dir, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.') {
			read_list(&s, ws_arena_printf(a, "/etc/apt/sources.list.d/%s", names[i]->d_name));
		}
		free(names[i]);
	}
	free(names);
	*mirror = s.best;
	return s.best.url != NULL;
}
