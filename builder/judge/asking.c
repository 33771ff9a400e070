/* asking.c - the modules of a check, their objects, and the files that the units read. */
#include "judge/asking.h"

#include "base/fs.h"
#include "elf/demangle.h"
#include "elf/elf.h"
#include "engine/reads_manifest.h"
#include "store/cas.h"

#define INDENT "        "        /* of what belongs to a finding, in the log of a check */
#define MORE "   \xe2\x80\xa6 +" /* behind the last name that is shown */
#define MOST_BYTES (16u << 20)   /* of a header */

struct name {
	const char *text;
	WS_VEC(const struct ws_node *) units;
	WS_VEC(const char *) files;
};

struct finding {
	const struct ws_store *store;
	struct ws_arena *a;
	WS_VEC(struct name) names;
};

struct ws_str
ws_asking_name(struct ws_str line)
{
	size_t indent = strlen(INDENT);
	if (line.n <= indent || memcmp(line.s, INDENT, indent) != 0) {
		return (struct ws_str){0};
	}
	const char *more = memmem(line.s, line.n, MORE, strlen(MORE));
	return (struct ws_str){
		line.s + indent, more ? (size_t)(more - line.s) - indent : line.n - indent};
}

static struct name *
name_of(struct finding *f, struct ws_str text)
{
	for (size_t i = 0; i < f->names.len; i++) {
		if (ws_str_is(text, f->names.at[i].text)) {
			return &f->names.at[i];
		}
	}
	return NULL;
}

static void
gather_names(struct finding *f, struct ws_str log)
{
	while (log.s) {
		struct ws_str text = ws_asking_name(ws_str_cut(&log, '\n'));
		if (text.n > 0 && !name_of(f, text)) {
			*ws_vec_push(&f->names, f->a) = (struct name){.text = ws_str_copy(text, f->a)};
		}
	}
}

/* ---- which unit ---- */

static void
look_into(struct finding *f, const struct ws_node *unit, struct ws_str object)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *const *wants;
	size_t count = ws_elf_object_wants(object, a, &wants);
	for (size_t i = 0; i < count; i++) {
		struct name *name = name_of(f, ws_str_of(ws_demangle_short(wants[i], a)));
		if (name && (name->units.len == 0 || name->units.at[name->units.len - 1] != unit)) {
			*ws_vec_push(&name->units, f->a) = unit;
		}
	}
}

static void
gather_units(struct finding *f, const struct ws_action *link)
{
	for (size_t i = 0; i < link->input_count; i++) {
		const struct ws_input *input = &link->inputs[i];
		WS_AUTO_BUF struct ws_buf object = {0};
		const char *digest = input->from && input->from->state == WS_NODE_DONE
			? input->from->result.outputs[input->output].hex
			: NULL;
		const char *path = digest ? ws_cas_open(f->store, digest, f->a, NULL) : NULL;
		if (path && ws_fs_read(path, &object, NULL)) {
			look_into(f, input->from, ws_buf_str(&object));
		}
	}
}

/* ---- which of its files ---- */

static bool
is_of_word(char c)
{
	return ws_is_letter(c) || ws_is_digit(c) || c == '_';
}

/* The spelling in sources: "from_chars" of "std::from_chars(char const*, ...)"; else empty. */
static struct ws_str
word_of(const char *text)
{
	size_t end = 0, depth = 0;
	for (; text[end] && !(text[end] == '(' && depth == 0); end++) {
		depth += text[end] == '<';
		depth -= text[end] == '>' && depth > 0;
	}
	if (end > 0 && text[end - 1] == '>') {
		for (depth = 0; end > 0 && !(text[end - 1] == '<' && depth == 1); end--) {
			depth += text[end - 1] == '>';
			depth -= text[end - 1] == '<';
		}
		end -= end > 0;
	}
	size_t start = end;
	while (start > 0 && is_of_word(text[start - 1])) {
		start--;
	}
	return strstr(text, "operator") ? (struct ws_str){0}
									: (struct ws_str){text + start, end - start};
}

static bool
has_word(struct ws_str text, struct ws_str word)
{
	const char *end = text.s + text.n, *at = text.s;
	while (at && (at = memmem(at, (size_t)(end - at), word.s, word.n))) {
		bool whole = (at == text.s || !is_of_word(at[-1]))
			&& (at + word.n == end || !is_of_word(at[word.n]));
		if (whole) {
			return true;
		}
		at++;
	}
	return false;
}

/* 0 the package's own, 1 of a kit, 2 the system's. */
static unsigned
rank_of(const char *file)
{
	return ws_starts_with(file, "src/") ? 0 : *file == '/' ? 2 : 1;
}

/* Looks in one file that @unit read for the names of which @unit is the first unit. */
static void
look_for_words(struct finding *f, const struct ws_node *unit, const char *file, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_fs_read_at_most(ws_names_path(unit->action, file, a), MOST_BYTES, &text, NULL)) {
		return;
	}
	for (size_t i = 0; i < f->names.len; i++) {
		struct name *name = &f->names.at[i];
		struct ws_str word = word_of(name->text);
		if (name->units.len > 0 && name->units.at[0] == unit && word.n > 0
			&& has_word(ws_buf_str(&text), word)) {
			*ws_vec_push(&name->files, f->a) = ws_arena_strdup(f->a, file);
		}
	}
}

static void
gather_files(struct finding *f, const struct ws_node *unit)
{
	WS_AUTO_BUF struct ws_buf manifest = {0};
	const char *digest = unit->result.manifest.hex;
	if (!*digest || !ws_manifest_get(f->store, digest, &manifest, NULL)) {
		return;
	}
	for (unsigned rank = 0; rank <= 2; rank++) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		struct ws_str lines = ws_buf_str(&manifest);
		while (lines.s) {
			struct ws_str line = ws_str_cut(&lines, '\n'), kind = ws_str_cut(&line, ' ');
			const char *file = NULL;
			if (ws_str_is(kind, "f")) {
				(void)ws_str_cut(&line, ' '); /* its digest */
				file = ws_str_copy(line, a);
			}
			if (file && rank_of(file) == rank) {
				look_for_words(f, unit, file, a);
			}
		}
	}
}

/* Each unit that is the first to ask for a name, once. */
static void
gather_all_files(struct finding *f)
{
	for (size_t i = 0; i < f->names.len; i++) {
		const struct ws_node *unit = f->names.at[i].units.len ? f->names.at[i].units.at[0] : NULL;
		bool before = false;
		for (size_t k = 0; k < i; k++) {
			const struct name *other = &f->names.at[k];
			before = before || (other->units.len > 0 && other->units.at[0] == unit);
		}
		if (unit && !before) {
			gather_files(f, unit);
		}
	}
}

const struct ws_asking *
ws_asking_find(const struct ws_node *check, struct ws_str log, const struct ws_store *store,
	struct ws_arena *a, size_t *count)
{
	struct finding f = {.store = store, .a = a};
	WS_VEC(struct ws_asking) found = {0};
	gather_names(&f, log);
	for (size_t i = 0; i < check->action->input_count; i++) {
		const struct ws_node *link = check->action->inputs[i].from;
		if (link) {
			gather_units(&f, link->action);
		}
	}
	gather_all_files(&f);
	for (size_t i = 0; i < f.names.len; i++) {
		const struct name *name = &f.names.at[i];
		const char **units = WS_NEW_N(a, const char *, name->units.len);
		for (size_t k = 0; k < name->units.len; k++) {
			units[k] = name->units.at[k]->action->subject;
		}
		if (name->units.len > 0) {
			*ws_vec_push(&found, a) = (struct ws_asking){.text = name->text,
				.units = units,
				.unit_count = name->units.len,
				.files = name->files.at,
				.file_count = name->files.len};
		}
	}
	*count = found.len;
	return found.at;
}
