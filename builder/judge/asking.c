/* asking.c - the modules of a check, their objects, and the files that the units read. */
#include "judge/asking.h"

#include "base/fs.h"
#include "elf/demangle.h"
#include "elf/elf.h"
#include "engine/reads_manifest.h"
#include "store/cas.h"

#define INDENT "        "      /* of what belongs to a finding, in the log of a check */
#define MORE "   ... +"        /* behind the last name that is shown */
#define MOST_BYTES (16u << 20) /* of a header */

struct finding {
	const struct ws_store *store;
	struct ws_arena *a;
	WS_VEC(struct ws_asking) names;
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

static struct ws_asking *
name_of(struct finding *f, struct ws_str text)
{
	for (size_t i = 0; i < f->names.len; i++) {
		if (ws_str_is(text, f->names.at[i].text)) {
			return &f->names.at[i];
		}
	}
	return NULL;
}

/* ---- which unit ---- */

/* The units whose objects, inputs of the link, need the names. */
static void
gather_units(struct finding *f, const struct ws_action *link)
{
	for (size_t i = 0; i < link->input_count; i++) {
		const struct ws_input *input = &link->inputs[i];
		const struct ws_node *unit = input->from;
		WS_AUTO_BUF struct ws_buf object = {0};
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		const char *const *wants;
		const char *path = unit && unit->state == WS_NODE_DONE
			? ws_cas_open(f->store, unit->result.outputs[input->output].hex, f->a, NULL)
			: NULL;
		size_t count = path && ws_fs_read(path, &object, NULL)
			? ws_elf_object_wants(ws_buf_str(&object), a, &wants)
			: 0;
		for (size_t k = 0; k < count; k++) {
			struct ws_asking *name = name_of(f, ws_str_of(ws_demangle_short(wants[k], a)));
			const char *subject = unit->action->subject;
			if (name && (!name->unit || name->units.at[name->units.len - 1] != subject)) {
				name->unit = name->unit ? name->unit : unit;
				*ws_vec_push(&name->units, f->a) = subject;
			}
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

/* Looks in one file that @unit read for the names of which @unit is the first unit. */
static void
look_for_words(struct finding *f, const struct ws_node *unit, const char *file, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_fs_read_at_most(ws_names_path(unit->action, file, a), MOST_BYTES, &text, NULL)) {
		return;
	}
	for (size_t i = 0; i < f->names.len; i++) {
		struct ws_asking *name = &f->names.at[i];
		struct ws_str word = word_of(name->text);
		if (name->unit == unit && word.n > 0 && has_word(ws_buf_str(&text), word)) {
			*ws_vec_push(&name->files, f->a) = ws_arena_strdup(f->a, file);
		}
	}
}

/* The files of one unit: 0 the package's own, 1 of a kit, 2 the system's. */
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
			if (!ws_str_is(kind, "f")) {
				continue;
			}
			(void)ws_str_cut(&line, ' '); /* its digest */
			const char *file = ws_str_copy(line, a);
			if (rank == (ws_starts_with(file, "src/") ? 0 : *file == '/' ? 2 : 1)) {
				look_for_words(f, unit, file, a);
			}
		}
	}
}

const struct ws_asking *
ws_asking_find(const struct ws_node *check, struct ws_str log, const struct ws_store *store,
	struct ws_arena *a, size_t *count)
{
	struct finding f = {.store = store, .a = a};
	while (log.s) {
		struct ws_str text = ws_asking_name(ws_str_cut(&log, '\n'));
		if (text.n > 0 && !name_of(&f, text)) {
			*ws_vec_push(&f.names, a) = (struct ws_asking){.text = ws_str_copy(text, a)};
		}
	}
	for (size_t i = 0; i < check->action->input_count; i++) {
		if (check->action->inputs[i].from) {
			gather_units(&f, check->action->inputs[i].from->action);
		}
	}
	*count = 0;
	for (size_t i = 0; i < f.names.len; i++) {
		if (f.names.at[i].unit) {
			f.names.at[(*count)++] = f.names.at[i];
		}
	}
	f.names.len = *count;
	for (size_t i = 0; i < *count; i++) {
		bool before = false; /* each unit once */
		for (size_t k = 0; k < i; k++) {
			before = before || f.names.at[k].unit == f.names.at[i].unit;
		}
		if (!before) {
			gather_files(&f, f.names.at[i].unit);
		}
	}
	return f.names.at;
}
