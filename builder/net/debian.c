/* debian.c - apt has two syntaxes for the same entry. */
#include "net/debian.h"

#include "base/fs.h"
#include "net/url.h"

#include <strings.h>

/* The fields that identify the owner of an archive. */
struct entry {
	struct ws_str types, uris, suites, components, signed_by;
	bool disabled;
};

struct search {
	const char *root;
	const char *file; /* being read */
	struct ws_debian_mirror best;
	unsigned weight; /* of best; 0: none yet */
	struct ws_arena *a;
};

/* Cuts the first word off. */
static struct ws_str
cut_word(struct ws_str *rest)
{
	*rest = ws_str_trim(*rest);
	if (rest->n == 0) {
		return (struct ws_str){0};
	}
	size_t n = 0;
	while (n < rest->n && !strchr(" \t\r\n", rest->s[n])) {
		n++;
	}
	struct ws_str word = {rest->s, n};
	*rest = (struct ws_str){rest->s + n, rest->n - n};
	return word;
}

static bool
has_word(struct ws_str words, const char *word)
{
	for (struct ws_str next = cut_word(&words); next.n > 0; next = cut_word(&words)) {
		if (ws_str_is(next, word)) {
			return true;
		}
	}
	return false;
}

static bool
holds(struct ws_str text, const char *part)
{
	return text.n > 0 && memmem(text.s, text.n, part, strlen(part)) != NULL;
}

/* The path of a URL has this folder: "/debian" or "/mirror/debian/2025", not "/debian-security". */
static bool
has_folder(const char *url, const char *folder)
{
	struct ws_str rest = ws_str_of(strstr(url, "://"));
	for (unsigned depth = 0; rest.s; depth++) {
		if (ws_str_is(ws_str_cut(&rest, '/'), folder) && depth > 2) {
			return true;
		}
	}
	return false;
}

/* How certain it is that this is the distribution's own archive; 0: it is not. A third party may
 * use a folder "debian" too, but then says so by its keyring or lies deeper. */
static unsigned
weigh(const struct entry *e, const char *url, const char *name)
{
	char keyring[64];
	snprintf(keyring, sizeof(keyring), "%s-archive-keyring", name);
	bool ours = holds(e->signed_by, keyring);
	if (!has_folder(url, name) || !has_word(e->components, "main") || (e->signed_by.n > 0 && !ours)
		|| holds(e->suites, "-security") || strstr(url, "-security")) {
		return 0;
	}
	char top[64];
	snprintf(top, sizeof(top), "/%s", name);
	const char *path = strchr(strstr(url, "://") + 3, '/');
	return 1u + (ours ? 2u : 0u) + (path && strcmp(path, top) == 0 ? 1u : 0u);
}

static void
consider(struct search *s, const struct entry *e, const char *text)
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
		unsigned weight = weigh(e, url, names[i]);
		if (weight > s->weight) {
			s->weight = weight;
			s->best = (struct ws_debian_mirror){url, i == 1, s->file};
		}
	}
}

/* "mirror+file:/etc/apt/mirrors/debian.list" names a list of mirrors, as cloud images do. */
static void
consider_list(struct search *s, const struct entry *e, struct ws_str path)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *full = ws_arena_printf(s->a, "%s%.*s", s->root, WS_STR_ARGS(path));
	if (!ws_fs_read_at_most(full, 1 << 20, &text, NULL)) {
		return;
	}
	struct ws_str rest = ws_buf_str(&text);
	while (rest.s) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		struct ws_str word = cut_word(&line);
		if (word.n > 0 && word.s[0] != '#') {
			consider(s, e, ws_str_copy(word, s->a));
		}
	}
}

static void
read_entry(struct search *s, const struct entry *e)
{
	if (e->disabled || !has_word(e->types, "deb")) {
		return;
	}
	static const char list[] = "mirror+file:";
	struct ws_str uris = e->uris;
	for (struct ws_str uri = cut_word(&uris); uri.n > 0; uri = cut_word(&uris)) {
		if (uri.n > strlen(list) && memcmp(uri.s, list, strlen(list)) == 0) {
			struct ws_str path = {uri.s + strlen(list), uri.n - strlen(list)};
			while (path.n > 1 && path.s[0] == '/' && path.s[1] == '/') {
				path.s++;
				path.n--;
			}
			consider_list(s, e, path);
		} else {
			consider(s, e, ws_str_copy(uri, s->a));
		}
	}
}

/* deb [arch=amd64 signed-by=/k.gpg] http://h/debian bookworm main contrib */
static void
read_line(struct search *s, struct ws_str line)
{
	struct entry e = {.types = cut_word(&line)};
	line = ws_str_trim(line);
	if (line.n > 0 && line.s[0] == '[') {
		struct ws_str options = ws_str_cut(&line, ']');
		options = (struct ws_str){options.s + 1, options.n - 1};
		for (struct ws_str o = cut_word(&options); o.n > 0; o = cut_word(&options)) {
			struct ws_str name = ws_str_cut(&o, '=');
			e.signed_by = ws_str_is(name, "signed-by") ? o : e.signed_by;
		}
	}
	e.uris = cut_word(&line);
	e.suites = cut_word(&line);
	e.components = line;
	read_entry(s, &e);
}

static void
read_one_line_form(struct search *s, struct ws_str text)
{
	while (text.s) {
		struct ws_str line = ws_str_cut(&text, '\n');
		read_line(s, ws_str_trim(ws_str_cut(&line, '#')));
	}
}

static bool
is_field(struct ws_str name, const char *field)
{
	return name.n == strlen(field) && strncasecmp(name.s, field, name.n) == 0;
}

/* The field of a stanza, with its continuation lines as they stand. Comments end it, which loses
 * what may follow them in a list; no such list is known. */
static void
read_field(struct entry *e, struct ws_str name, struct ws_str value)
{
	struct ws_str *const slots[] = {&e->types, &e->uris, &e->suites, &e->components, &e->signed_by};
	static const char *const names[] = {"Types", "URIs", "Suites", "Components", "Signed-By"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		if (is_field(name, names[i])) {
			*slots[i] = value;
		}
	}
	if (is_field(name, "Enabled")) {
		e->disabled = ws_str_is(value, "no") || ws_str_is(value, "false") || ws_str_is(value, "0");
	}
}

static bool
continues(struct ws_str rest)
{
	return rest.s && rest.n > 0 && (rest.s[0] == ' ' || rest.s[0] == '\t');
}

static void
read_deb822_form(struct search *s, struct ws_str text)
{
	struct entry e = {0};
	while (text.s) {
		struct ws_str line = ws_str_cut(&text, '\n');
		while (continues(text)) {
			struct ws_str more = ws_str_cut(&text, '\n');
			line.n = (size_t)(more.s + more.n - line.s);
		}
		if (ws_str_trim(line).n == 0) {
			read_entry(s, &e);
			e = (struct entry){0};
		} else if (line.s[0] != '#') {
			struct ws_str name = ws_str_cut(&line, ':');
			read_field(&e, ws_str_trim(name), ws_str_trim(line));
		}
	}
	read_entry(s, &e);
}

static void
read_list(struct search *s, const char *file)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	s->file = file;
	if (!ws_fs_read_at_most(ws_arena_printf(s->a, "%s%s", s->root, file), 1 << 20, &text, NULL)) {
		return;
	}
	if (ws_ends_with(file, ".sources")) {
		read_deb822_form(s, ws_buf_str(&text));
	} else if (ws_ends_with(file, ".list")) {
		read_one_line_form(s, ws_buf_str(&text));
	}
}

static int
is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

bool
ws_debian_mirror_find(const char *root, struct ws_arena *a, struct ws_debian_mirror *mirror)
{
	struct search s = {.root = root, .a = a};
	read_list(&s, "/etc/apt/sources.list");
	struct dirent **names = NULL;
	const char *dir = ws_arena_printf(a, "%s/etc/apt/sources.list.d", root);
	int count = scandir(dir, &names, is_visible, alphasort);
	for (int i = 0; i < count; i++) {
		read_list(&s, ws_arena_printf(a, "/etc/apt/sources.list.d/%s", names[i]->d_name));
		free(names[i]);
	}
	free(names);
	*mirror = s.best;
	return s.weight > 0;
}
