/* symbols.c - the names that modules want are held; everybody's exports pass by once. Then each module
 * looks along its own libraries. Words for people are symbols_text.c's, whose name begins how
 * libraries.c's. */
#include "verify/symbols.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "elf/demangle.h"
#include "elf/exports.h"
#include "verify/floor.h"
#include "verify/libraries.h"
#include "verify/twin.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TWINS 64        /* enough to know the reason; each is compared with every export */
#define STABLE_ABI "python3" /* what the list of Python's stable ABI calls itself */

#define C_API "python" /* what the list of each Python's C API calls itself */

/* Something that can be loaded, or that others name; a process has two hundred at most. */
struct library {
	const char *name;         /* as DT_NEEDED says it */
	const struct ws_elf *elf; /* NULL: of a list, or only named by others */
	bool listed;              /* a list tells what it exports */
	bool sibling;             /* of the subject */
	bool placed;              /* a sibling that only RPATH leads to, not its name */
	bool versioned;           /* defines versions */
	WS_VEC(const char *) needed;
	WS_VEC(size_t) next;           /* the library that each of them is */
	WS_VEC(const char *) versions; /* those it defines */
};

/* A library that exports a wanted name. */
struct offer {
	size_t library;
	const char *version; /* NULL: none */
	bool tls, hidden;
	const struct offer *next;
};

/* A name that some module wants. */
struct name {
	const char *text;
	const struct offer *offers;
};

/* A name that one module leaves undefined. */
struct want {
	const char *name;
	const struct ws_elf_version *version; /* NULL: none asked for */
	bool tls;
};

/* Everything that all modules share. */
struct scene {
	struct ws_arena *a;
	const struct ws_surroundings *place;
	WS_VEC(struct library) libraries;
	WS_VEC(struct name) names;      /* sorted */
	uint64_t *filter;               /* a bit for each name's mark: most exports are nobody's want */
	const struct judging *judgings; /* of all modules */
	size_t count;
	bool python_listed; /* the C API of the place's Python is in a list */
	const char *release;
	enum ws_cxx11abi torch_abi;
};

/* One module that is judged. */
struct judging {
	struct scene *s;
	struct ws_arena *a;
	const struct ws_subject_module *module;
	const struct ws_subject_module *wanting; /* it, or one that it loads: whose names are judged */
	size_t number;                           /* of its library, where it is placed */
	struct ws_symbols *result;
	bool *visible; /* of each library: the module's symbols are looked for in it */
	WS_VEC(struct want) wants;
	WS_VEC(struct ws_missing) missing;
	WS_VEC(const char *) unread;
};

/* ---- libraries ---- */

/* The number of the library of that name, which is added when it is new. */
static size_t
number_of(struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->libraries.len; i++) {
		if (!s->libraries.at[i].placed && ws_same(s->libraries.at[i].name, name)) {
			return i;
		}
	}
	ws_vec_push(&s->libraries, s->a)->name = ws_arena_strdup(s->a, name);
	return s->libraries.len - 1;
}

static void
add_need(struct scene *s, size_t library, const char *needed)
{
	size_t next = number_of(s, needed);
	*ws_vec_push(&s->libraries.at[library].needed, s->a) = ws_arena_strdup(s->a, needed);
	*ws_vec_push(&s->libraries.at[library].next, s->a) = next;
}

static void
add_version(struct scene *s, size_t library, const char *version)
{
	struct library *known = &s->libraries.at[library];
	known->versioned = true;
	if (!ws_is_among(version, known->versions.at, known->versions.len)) {
		*ws_vec_push(&known->versions, s->a) = ws_arena_strdup(s->a, version);
	}
}

static bool
is_read(const struct library *library)
{
	return library->elf || library->listed;
}

/* The first library that a listed one needs for which @fits holds; NULL: none. */
static const char *
find_needed(
	const struct scene *s, bool (*fits)(const char *needed, const char *word), const char *word)
{
	for (size_t i = 0; i < s->libraries.len; i++) {
		const struct library *known = &s->libraries.at[i];
		for (size_t n = 0; known->listed && n < known->needed.len; n++) {
			if (fits(known->needed.at[n], word)) {
				return known->needed.at[n];
			}
		}
	}
	return NULL;
}

/* Where the interpreter could not be read, a libpython of its version may be there. */
static bool
may_be_python(const struct scene *s, const char *name)
{
	const char *tag = s->place->python;
	if (!tag || s->place->global_count > 0 || !ws_starts_with(tag, "cp3")) {
		return false;
	}
	return ws_same(name, ws_arena_printf(s->a, "libpython3.%s.so.1.0", tag + strlen("cp3")));
}

/* Will it be there? True of what was given or is listed, of what torch needs under the same name (its
 * wheel requires it), of what every system or driver has. */
static bool
is_brought(const struct scene *s, const struct library *library)
{
	return is_read(library) || ws_floor_is_system_library(library->name)
		|| ws_library_is_drivers(library->name) || may_be_python(s, library->name)
		|| find_needed(s, ws_same, library->name);
}

/* What torch needs of the same CUDA library: "libcudart.so.12" for "libcudart.so.13"; or NULL. */
static const char *
brought_instead(const struct scene *s, const char *name)
{
	const char *end = ws_library_is_cuda(name) ? strstr(name, ".so") : NULL;
	return end ? find_needed(s, ws_library_is_of, ws_arena_copy(s->a, name, (size_t)(end - name)))
			   : NULL;
}

/* ---- what is wanted ---- */

static int
by_text(const void *x, const void *y)
{
	return strcmp(((const struct name *)x)->text, ((const struct name *)y)->text);
}

static int
by_name(const void *x, const void *y)
{
	return strcmp(((const struct want *)x)->name, ((const struct want *)y)->name);
}

static void
gather_wants(struct judging *j)
{
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(j->module->elf, &at, &symbol);) {
		if (!symbol.defined && symbol.binding != WS_ELF_WEAK) {
			*ws_vec_push(&j->wants, j->a) = (struct want){
				.name = symbol.name,
				.version = symbol.version,
				.tls = symbol.type == WS_ELF_TLS,
			};
			ws_vec_push(&j->s->names, j->a)->text = symbol.name;
		}
	}
	if (j->wants.len > 0) {
		qsort(j->wants.at, j->wants.len, sizeof(j->wants.at[0]), by_name);
	}
	j->result->wanted_count = j->wants.len;
}

static void
sort_names(struct scene *s)
{
	if (s->names.len == 0) {
		return;
	}
	qsort(s->names.at, s->names.len, sizeof(s->names.at[0]), by_text);
	size_t kept = 1;
	for (size_t i = 1; i < s->names.len; i++) {
		if (by_text(&s->names.at[kept - 1], &s->names.at[i]) != 0) {
			s->names.at[kept++] = s->names.at[i];
		}
	}
	s->names.len = kept;
}

#define FILTER_BITS 65536

/* Where a name's bit is: by its length, its last bytes and those in the middle. */
static size_t
mark_of(const char *text, size_t len)
{
	uint64_t last = 0, middle = 0;
	if (len >= sizeof(last)) {
		memcpy(&last, text + len - sizeof(last), sizeof(last));
		memcpy(&middle, text + (len - sizeof(middle)) / 2, sizeof(middle));
	} else {
		memcpy(&last, text, len);
	}
	uint64_t mixed = (last ^ (middle * 31) ^ ((uint64_t)len << 40)) * 11400714819323198485u;
	return (size_t)(mixed >> 48);
}

static void
mark_names(struct scene *s)
{
	s->filter = WS_NEW_N(s->a, uint64_t, FILTER_BITS / 64);
	for (size_t i = 0; i < s->names.len; i++) {
		size_t mark = mark_of(s->names.at[i].text, strlen(s->names.at[i].text));
		s->filter[mark / 64] |= (uint64_t)1 << mark % 64;
	}
}

static bool
may_be_wanted(const struct scene *s, const char *text, size_t len)
{
	size_t mark = mark_of(text, len);
	return s->filter[mark / 64] >> mark % 64 & 1;
}

static struct name *
find_name(const struct scene *s, const char *text)
{
	struct name key = {.text = text};
	return s->names.len == 0 ? NULL
							 : bsearch(&key, s->names.at, s->names.len, sizeof(key), by_text);
}

/* ---- what is offered ---- */

static void
take_offer(struct scene *s, const char *text, struct offer offer)
{
	struct name *name = find_name(s, text);
	if (name) {
		struct offer *made = WS_NEW(s->a, struct offer);
		*made = offer;
		made->version = ws_arena_strdup(s->a, offer.version);
		made->next = name->offers;
		name->offers = made;
	}
}

/* What a library that is here defines. */
static void
read_exports(struct scene *s, size_t number, const struct ws_elf *elf)
{
	for (size_t i = 0; i < elf->version_count; i++) {
		if (!elf->versions[i].library) {
			add_version(s, number, elf->versions[i].name);
		}
	}
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		if (symbol.defined) {
			struct offer offer = {.library = number,
				.version = symbol.version ? symbol.version->name : NULL,
				.tls = symbol.type == WS_ELF_TLS,
				.hidden = symbol.hidden};
			take_offer(s, symbol.name, offer);
		}
	}
}

static void
read_library(struct scene *s, const struct ws_elf *elf, bool sibling)
{
	size_t number = number_of(s, ws_elf_library_name(elf));
	struct library *library = &s->libraries.at[number];
	if (is_read(library)) {
		return;
	}
	library->elf = elf;
	library->sibling = sibling;
	for (size_t i = 0; i < elf->needed_count; i++) {
		add_need(s, number, elf->needed[i]);
	}
	read_exports(s, number, elf);
}

/* Modules whose RPATH is known. What torch has loaded is taken by its name, wherever RPATH leads. */
static void
read_placed(struct scene *s, struct judging *judgings)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct ws_elf *elf = judgings[i].module->elf;
		judgings[i].number = s->libraries.len;
		*ws_vec_push(&s->libraries, s->a) = (struct library){
			.name = ws_elf_library_name(elf), .elf = elf, .sibling = true, .placed = true};
	}
	for (size_t i = 0; i < s->count; i++) {
		const struct ws_subject_module *m = judgings[i].module;
		for (size_t k = 0; k < m->elf->needed_count; k++) {
			add_need(s, judgings[i].number, m->elf->needed[k]);
			size_t *next = &s->libraries.at[judgings[i].number].next.at[k];
			if (!s->libraries.at[*next].listed && m->leads_to[k] != WS_SUBJECT_NONE) {
				*next = judgings[m->leads_to[k]].number;
			}
		}
		read_exports(s, judgings[i].number, m->elf);
	}
}

/* Has the stable ABI of the place's oldest Python a name of that version, "python3.10"? */
static bool
is_stable(const struct scene *s, const char *version)
{
	const char *oldest = s->place->stable_python;
	return oldest && version && ws_starts_with(version, "python")
		&& strverscmp(version + strlen("python"), oldest) <= 0;
}

/* A name of a list. */
static void
take_export(struct scene *s, size_t number, const struct ws_export *line)
{
	if (ws_same(line->library, STABLE_ABI)) {
		if (!is_stable(s, line->version)) {
			return;
		}
	} else if (line->version) {
		add_version(s, number, line->version);
	}
	if (s->torch_abi == WS_CXX11ABI_SILENT && ws_same(line->library, "libc10.so")) {
		s->torch_abi = ws_cxx11abi_of_export(line->text);
	}
	if (!may_be_wanted(s, line->text, line->len)) {
		return;
	}
	struct offer offer = {
		.library = number, .version = line->version, .tls = line->kind == WS_EXPORT_TLS};
	take_offer(s, line->text, offer);
}

static bool
read_list(struct scene *s, const char *path, struct ws_err *err)
{
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, s->place->python, s->a, err);
	struct ws_export line = {0};
	const char *current = NULL;
	size_t number = 0;
	if (list && list->python_count > 0 && !list->release) {
		/* Of the C API of each Python: one that is here, or that is promised, goes before. */
		const struct ws_surroundings *place = s->place;
		s->python_listed = place->global_count == 0 && !place->stable_python && place->python
			&& ws_is_among(place->python, list->pythons, list->python_count);
		if (!s->python_listed) {
			return true;
		}
	}
	s->release = list && list->release ? list->release : s->release;
	while (list && ws_exports_next(list, &line, err)) {
		if (line.kind == WS_EXPORT_END) {
			return true;
		}
		if (line.library != current) {
			current = line.library;
			number = number_of(s, current);
			s->libraries.at[number].listed = true;
		}
		if (line.kind == WS_EXPORT_NEEDED) {
			add_need(s, number, line.text);
		} else if (line.kind != WS_EXPORT_INTERNALS) {
			take_export(s, number, &line);
		}
	}
	return false;
}

static bool
read_place(struct scene *s, struct judging *judgings, struct ws_err *err)
{
	const struct ws_surroundings *place = s->place;
	bool placed = s->count > 0 && judgings[0].module->leads_to;
	for (size_t i = 0; i < place->list_count; i++) {
		if (!read_list(s, place->lists[i], err)) {
			return false;
		}
	}
	if (placed) {
		read_placed(s, judgings);
	}
	for (size_t i = 0; !placed && i < s->count; i++) {
		read_library(s, judgings[i].module->elf, true);
	}
	for (size_t i = 0; i < place->library_count; i++) {
		read_library(s, place->libraries[i], false);
	}
	for (size_t i = 0; i < place->global_count; i++) {
		read_library(s, place->globals[i], false);
	}
	return true;
}

/* ---- what one module sees ---- */

/* Makes the library visible, and all that it needs. The loader goes breadth first; only what is
 * reached matters here. */
static void
show(struct judging *j, size_t number)
{
	WS_VEC(size_t) queue = {0};
	*ws_vec_push(&queue, j->a) = number;
	for (size_t at = 0; at < queue.len; at++) {
		const struct library *library = &j->s->libraries.at[queue.at[at]];
		if (j->visible[queue.at[at]]) {
			continue;
		}
		j->visible[queue.at[at]] = true;
		for (size_t i = 0; i < library->next.len; i++) {
			*ws_vec_push(&queue, j->a) = library->next.at[i];
		}
	}
}

static void
see(struct judging *j)
{
	const struct ws_elf *elf = j->module->elf;
	for (size_t i = 0; i < elf->needed_count; i++) {
		number_of(j->s, elf->needed[i]); /* all have a number before there is room for each */
	}
	size_t stable = number_of(j->s, STABLE_ABI);
	j->visible = WS_NEW_N(j->a, bool, j->s->libraries.len);
	show(j, stable);
	if (j->module->leads_to) {
		show(j, j->number);
	}
	for (size_t i = 0; !j->module->leads_to && i < elf->needed_count; i++) {
		show(j, number_of(j->s, elf->needed[i]));
	}
	if (j->s->python_listed) {
		show(j, number_of(j->s, C_API));
	}
	for (size_t i = 0; i < j->s->place->global_count; i++) {
		show(j, number_of(j->s, ws_elf_library_name(j->s->place->globals[i])));
	}
}

/* The first library, visible and not read, for which @fits holds; NULL: there is none. */
static const char *
find_unread(
	const struct judging *j, bool (*fits)(const char *library, const char *word), const char *word)
{
	for (size_t i = 0; i < j->s->libraries.len; i++) {
		const struct library *library = &j->s->libraries.at[i];
		if (j->visible[i] && !is_read(library) && !ws_same(library->name, STABLE_ABI)
			&& fits(library->name, word)) {
			return library->name;
		}
	}
	return NULL;
}

/* The first library that the module itself names, a system's, which was not read; NULL: none. */
static const char *
unread_system(const struct judging *j)
{
	const struct ws_elf *elf = j->wanting->elf;
	for (size_t i = 0; i < elf->needed_count; i++) {
		const char *name = elf->needed[i];
		if (ws_floor_is_system_library(name)
			&& !is_read(&j->s->libraries.at[number_of(j->s, name)])) {
			return name;
		}
	}
	return NULL;
}

/* The visible library of that stem, one that was read first; NULL: there is none. */
static const struct library *
visible_of(const struct judging *j, const char *stem)
{
	const struct library *found = NULL;
	for (size_t i = 0; i < j->s->libraries.len; i++) {
		const struct library *library = &j->s->libraries.at[i];
		if (j->visible[i] && ws_library_is_of(library->name, stem) && !(found && is_read(found))) {
			found = library;
		}
	}
	return found;
}

/* ---- why a name is missing ---- */

static void
miss(struct judging *j, const struct want *want, enum ws_missing_reason reason, const char *library)
{
	bool unknown = reason == WS_MISSING_SIBLING || reason == WS_MISSING_UNREAD;
	const char *text = ws_demangle_short(want->name, j->a);
	bool version = reason == WS_MISSING_VERSION && want->version;
	*ws_vec_push(&j->missing, j->a) = (struct ws_missing){
		.name = want->name,
		.text = version ? ws_arena_printf(j->a, "%s@%s", text, want->version->name) : text,
		.library = library,
		.by = j->wanting == j->module ? NULL : j->wanting->name,
		.reason = reason,
		.verdict = unknown ? WS_VERDICT_UNKNOWN : WS_VERDICT_FAILS,
	};
}

/* Taken on trust: @library, which torch brings, was not read. */
static void
assume(struct judging *j, const char *library)
{
	j->result->assumed_count++;
	if (!ws_is_among(library, j->unread.at, j->unread.len)) {
		*ws_vec_push(&j->unread, j->a) = library;
	}
}

static void
explain_family(struct judging *j, const struct want *want, const struct ws_library_family *family)
{
	/* An unread library excuses names of its own families and no others. */
	for (const struct ws_library_family *f = family; f; f = ws_library_family_next(f)) {
		const struct library *library = visible_of(j, f->stem);
		if (library && !is_read(library)) {
			assume(j, library->name);
			return;
		}
	}
	const struct library *library = visible_of(j, family->stem);
	if (library) {
		miss(j, want, WS_MISSING_CUDA, library->name);
	} else {
		miss(j, want, ws_same(family->stem, "libcuda") ? WS_MISSING_DRIVER : WS_MISSING_CUDA,
			family->stem);
	}
}

static void
explain_python(struct judging *j, const struct want *want)
{
	const char *unread = find_unread(j, ws_starts_with, "libpython");
	bool known = j->s->place->global_count > 0 || j->s->python_listed;
	if (j->s->place->stable_python || (known && !unread)) {
		miss(j, want, WS_MISSING_PYTHON, NULL);
	} else {
		assume(j, unread ? unread : "Python");
	}
}

static bool
is_of_torch(const char *name)
{
	return ws_is_torch_name(name) || ws_starts_with(name, "THP")
		|| ws_starts_with(name, "aoti_torch_");
}

/* A library of torch's that nobody has read: where there is no list of them. */
static const char *
unread_torch(const struct judging *j)
{
	const char *name = find_unread(j, ws_starts_with, "libtorch");
	return name ? name : find_unread(j, ws_starts_with, "libc10");
}

/* Nobody offers it: whose is it by its name? */
static void
explain(struct judging *j, const struct want *want)
{
	if (ws_starts_with(want->name, "Py") || ws_starts_with(want->name, "_Py")) {
		explain_python(j, want);
		return;
	}
	const char *unread = j->s->release ? NULL : unread_torch(j);
	if (is_of_torch(want->name) && unread) {
		assume(j, unread);
		return;
	}
	if (is_of_torch(want->name) && j->s->release) {
		miss(j, want, WS_MISSING_TORCH, NULL);
		return;
	}
	const struct ws_library_family *family = ws_library_family_of(want->name);
	const char *system = unread_system(j);
	if (family) {
		explain_family(j, want, family);
	} else {
		miss(j, want, system ? WS_MISSING_UNREAD : WS_MISSING_OTHER, system);
	}
}

/* ---- judging ---- */

/* Does the offer serve a want, as the loader sees it? */
static bool
fits(const struct judging *j, const struct offer *offer, const struct want *want)
{
	if (!want->version) {
		return !offer->hidden;
	}
	return !j->s->libraries.at[offer->library].versioned
		|| ws_same(offer->version, want->version->name);
}

static size_t
library_of_version(const struct judging *j, const struct want *want)
{
	size_t found = j->s->libraries.len;
	for (size_t i = 0; want->version && i < j->s->libraries.len; i++) {
		bool first = found == j->s->libraries.len || (j->visible[i] && !j->visible[found]);
		found = first && ws_same(j->s->libraries.at[i].name, want->version->library) ? i : found;
	}
	return found;
}

/* This host's libraries stand for those of a system with another glibc; which versions those have is
 * floor.h's question. */
static bool
is_of_another_system(const struct judging *j, const char *library)
{
	return j->s->place->glibc && ws_floor_is_system_library(library);
}

/* Judges a want of a version by the library that it names; false when that decides nothing. */
static bool
judge_version_of(struct judging *j, const struct want *want, bool offered)
{
	size_t number = library_of_version(j, want);
	if (!want->version || !want->version->library) {
		return false;
	}
	const char *name = want->version->library;
	const struct library *library =
		number < j->s->libraries.len ? &j->s->libraries.at[number] : NULL;
	if (!library || !j->visible[number]) {
		miss(j, want, WS_MISSING_NOT_NEEDED, name);
	} else if (is_read(library)) {
		if (library->versioned && !want->version->weak
			&& !ws_is_among(want->version->name, library->versions.at, library->versions.len)) {
			if (is_of_another_system(j, name)) {
				assume(j, name);
			}
			return true; /* said once, of the version */
		}
		if (!offered) {
			return false;
		}
		miss(j, want, WS_MISSING_VERSION, name);
	} else if (find_needed(j->s, ws_same, name)) {
		assume(j, name);
	} else if (!is_brought(j->s, library)) {
		return true; /* said once, of the library */
	} else {
		miss(j, want, WS_MISSING_UNREAD, name);
	}
	return true;
}

static void
judge_want(struct judging *j, const struct want *want)
{
	const struct offer *tls = NULL, *other = NULL, *out_of_sight = NULL;
	const struct name *name = find_name(j->s, want->name);
	for (const struct offer *o = name->offers; o; o = o->next) {
		bool visible = j->visible[o->library];
		if (visible && o->tls == want->tls && fits(j, o, want)) {
			return;
		}
		tls = visible && o->tls != want->tls ? o : tls;
		other = visible && o->tls == want->tls ? o : other;
		bool mine = j->s->libraries.at[o->library].elf == j->wanting->elf;
		bool better = !out_of_sight || j->s->libraries.at[out_of_sight->library].sibling;
		out_of_sight = visible || mine || !better ? out_of_sight : o;
	}
	if (judge_version_of(j, want, other != NULL)) {
		return;
	}
	if (tls || other) {
		const char *library = j->s->libraries.at[(tls ? tls : other)->library].name;
		miss(j, want, tls ? WS_MISSING_TLS : WS_MISSING_VERSION, library);
	} else if (out_of_sight) {
		const struct library *library = &j->s->libraries.at[out_of_sight->library];
		miss(j, want,
			library->sibling                             ? WS_MISSING_SIBLING
				: ws_same(library->name, "libcuda.so.1") ? WS_MISSING_DRIVER
														 : WS_MISSING_NOT_NEEDED,
			library->name);
	} else {
		explain(j, want);
	}
}

/* A library that was read must define each version that is asked of it. */
static void
judge_versions(struct judging *j)
{
	const struct ws_elf *elf = j->wanting->elf;
	for (size_t i = 0; i < elf->version_count; i++) {
		const struct ws_elf_version *asked = &elf->versions[i];
		struct want want = {.name = asked->name, .version = asked};
		size_t number =
			asked->library && !asked->weak ? library_of_version(j, &want) : j->s->libraries.len;
		const struct library *library =
			number < j->s->libraries.len ? &j->s->libraries.at[number] : NULL;
		/* Of a library without any the loader only warns. */
		if (library && library->versioned && !is_of_another_system(j, asked->library)
			&& !ws_is_among(asked->name, library->versions.at, library->versions.len)) {
			want.version = NULL;
			miss(j, &want, WS_MISSING_VERSION, asked->library);
		}
	}
}

static void
judge_libraries(struct judging *j)
{
	WS_VEC(struct ws_absent_library) absent = {0};
	for (size_t i = 0; i < j->s->libraries.len; i++) {
		const struct library *library = &j->s->libraries.at[i];
		if (j->visible[i] && !ws_same(library->name, STABLE_ABI) && !is_brought(j->s, library)) {
			*ws_vec_push(&absent, j->a) = (struct ws_absent_library){
				.name = library->name,
				.brought = brought_instead(j->s, library->name),
				.verdict = WS_VERDICT_UNKNOWN,
			};
			struct ws_absent_library *last = &absent.at[absent.len - 1];
			last->verdict =
				last->brought || j->s->place->complete ? WS_VERDICT_FAILS : WS_VERDICT_UNKNOWN;
		}
	}
	j->result->absent = absent.at;
	j->result->absent_count = absent.len;
}

static int
by_reason(const void *x, const void *y)
{
	const struct ws_missing *p = x, *q = y;
	if (p->reason != q->reason) {
		return p->reason < q->reason ? -1 : 1;
	}
	int order = strcmp(p->by ? p->by : "", q->by ? q->by : "");
	order = order ? order : strcmp(p->library ? p->library : "", q->library ? q->library : "");
	order = order ? order : strcmp(p->name, q->name);
	return order ? order : strcmp(p->text, q->text);
}

static void
conclude(struct judging *j)
{
	struct ws_symbols *result = j->result;
	if (j->missing.len > 0) {
		qsort(j->missing.at, j->missing.len, sizeof(j->missing.at[0]), by_reason);
	}
	result->missing = j->missing.at;
	result->missing_count = j->missing.len;
	result->unread = j->unread.at;
	result->unread_count = j->unread.len;
	for (size_t i = 0; i < j->missing.len; i++) {
		enum ws_finding_verdict verdict = j->missing.at[i].verdict;
		result->verdict = verdict > result->verdict ? verdict : result->verdict;
	}
	for (size_t i = 0; i < result->absent_count; i++) {
		enum ws_finding_verdict verdict = result->absent[i].verdict;
		result->verdict = verdict > result->verdict ? verdict : result->verdict;
	}
}

/* ---- twins: the same function of the other ABI ---- */

/* A missing name that may have a twin. */
struct twin {
	struct ws_missing *missing;
	size_t agreed;
	const char *text;
};

typedef WS_VEC(struct twin) twin_list;

static void
compare_twins(const struct ws_export *line, const twin_list *twins, struct ws_arena *scratch,
	struct ws_arena *a)
{
	const char *exported = line->text;
	const char *text = NULL;
	for (size_t i = 0; i < twins->len; i++) {
		struct ws_missing *missing = twins->at[i].missing;
		size_t agreed = twins->at[i].agreed;
		/* Names begin alike: the last byte that must be equal tells most of them apart. */
		if (line->len < agreed || (agreed > 0 && exported[agreed - 1] != missing->name[agreed - 1])
			|| memcmp(exported, missing->name, agreed) != 0) {
			continue;
		}
		text = text ? text : ws_twin_text(ws_demangle_short(exported, scratch), scratch);
		if (strcmp(text, twins->at[i].text) == 0) {
			missing->twin = ws_arena_strdup(a, exported);
			missing->reason = WS_MISSING_ABI;
		}
	}
}

static bool
compare_list(const struct scene *s, const char *path, const twin_list *twins, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	WS_AUTO_ARENA struct ws_arena *texts = ws_arena_make();
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, s->place->python, scratch, err);
	struct ws_export line = {0};
	if (list && !list->release) {
		return true; /* torch's names are in no other */
	}
	while (list && ws_exports_next(list, &line, err)) {
		if (line.kind == WS_EXPORT_END) {
			return true;
		}
		if (line.kind == WS_EXPORT_NAME) {
			struct ws_arena_mark mark = ws_arena_mark(texts);
			compare_twins(&line, twins, texts, s->a);
			ws_arena_rewind(texts, mark);
		}
	}
	return false;
}

/* Looks in torch's list, which is read once more for modules that lack names of torch's, for names that
 * differ from missing ones only by the ABI of strings. */
static bool
find_twins(const struct scene *s, struct judging *judgings, size_t count, struct ws_err *err)
{
	twin_list twins = {0};
	for (size_t m = 0; m < count; m++) {
		size_t of_this = 0;
		for (size_t i = 0; i < judgings[m].missing.len && of_this < MOST_TWINS; i++) {
			struct ws_missing *missing = &judgings[m].missing.at[i];
			if (missing->reason == WS_MISSING_TORCH) {
				of_this++;
				*ws_vec_push(&twins, s->a) = (struct twin){
					missing, ws_twin_agreed(missing->name), ws_twin_text(missing->text, s->a)};
			}
		}
	}
	for (size_t i = 0; twins.len > 0 && i < s->place->list_count; i++) {
		if (!compare_list(s, s->place->lists[i], &twins, err)) {
			return false;
		}
	}
	return true;
}

/* The names of a module: its own, or those of one that it loads. */
static void
judge_wants(struct judging *j, const struct judging *of)
{
	j->wanting = of->module;
	for (size_t i = 0; i < of->wants.len; i++) {
		judge_want(j, &of->wants.at[i]);
	}
	judge_versions(j);
}

static void
judge_module(struct judging *j)
{
	j->result->release = j->s->release;
	j->result->torch_abi = j->s->torch_abi;
	see(j);
	judge_wants(j, j);
	/* What it loads of its own wheel must find its names as well, or nothing is loaded. */
	for (size_t i = 0; j->module->leads_to && i < j->s->count; i++) {
		const struct judging *other = &j->s->judgings[i];
		if (other != j && j->visible[other->number]) {
			judge_wants(j, other);
		}
	}
	judge_libraries(j);
}

bool
ws_symbols_judge(const struct ws_subject *subject, const struct ws_surroundings *place,
	struct ws_arena *a, struct ws_symbols *symbols, struct ws_err *err)
{
	struct judging *judgings = WS_NEW_N(a, struct judging, subject->count);
	struct scene s = {.a = a, .place = place, .judgings = judgings, .count = subject->count};
	for (size_t i = 0; i < subject->count; i++) {
		const struct ws_subject_module *module = &subject->modules[i];
		symbols[i] = (struct ws_symbols){
			.module = module->name,
			.python = place->stable_python,
			.strict = place->strict,
			.module_abi = ws_cxx11abi_of_module(module->elf),
		};
		judgings[i] = (struct judging){.s = &s, .a = a, .module = module, .result = &symbols[i]};
		gather_wants(&judgings[i]);
	}
	sort_names(&s);
	mark_names(&s);
	if (!read_place(&s, judgings, err)) {
		return false;
	}
	for (size_t i = 0; i < subject->count; i++) {
		judge_module(&judgings[i]);
	}
	if (!find_twins(&s, judgings, subject->count, err)) {
		return false;
	}
	for (size_t i = 0; i < subject->count; i++) {
		conclude(&judgings[i]);
	}
	return true;
}
