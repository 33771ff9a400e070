/* other_abi.c - texts without the marks of an ABI, compared with every name of torch's list. */
#include "verify/other_abi.h"

#include "elf/demangle.h"
#include "elf/exports.h"

const char *
ws_abi_neutral_text(const char *text, struct ws_arena *a)
{
	static const char *const marks[] = {"__cxx11::", "[abi:cxx11]"};
	WS_AUTO_BUF struct ws_buf out = {0};
	while (*text) {
		size_t skip = 0;
		for (size_t i = 0; i < WS_LEN(marks); i++) {
			skip = ws_starts_with(text, marks[i]) ? strlen(marks[i]) : skip;
		}
		if (skip == 0) {
			ws_buf_putc(&out, *text++);
		}
		text += skip;
	}
	return ws_buf_copy(&out, a);
}

size_t
ws_abi_agreed_bytes(const char *name)
{
	static const char *const ends[] = {"NSt7__cxx11", "B5cxx11", "Ss", "E"};
	size_t least = strlen(name);
	for (size_t i = 0; i < WS_LEN(ends); i++) {
		const char *found = strstr(name, ends[i]);
		if (found && (size_t)(found - name) < least) {
			least = (size_t)(found - name);
		}
	}
	return least;
}

/* A missing name that may be exported for the other ABI. */
struct wanted {
	struct ws_missing *missing;
	size_t agreed;
	const char *text;
};

typedef WS_VEC(struct wanted) wanted_list;

static void
compare_name(const struct ws_export *line, const wanted_list *wanted, struct ws_arena *scratch,
	struct ws_arena *a)
{
	const char *exported = line->text;
	const char *text = NULL;
	for (size_t i = 0; i < wanted->len; i++) {
		struct ws_missing *missing = wanted->at[i].missing;
		size_t agreed = wanted->at[i].agreed;
		/* Names begin alike: the last byte that must be equal tells most of them apart. */
		if (line->len < agreed || (agreed > 0 && exported[agreed - 1] != missing->name[agreed - 1])
			|| memcmp(exported, missing->name, agreed) != 0) {
			continue;
		}
		text = text ? text : ws_abi_neutral_text(ws_demangle_short(exported, scratch), scratch);
		if (strcmp(text, wanted->at[i].text) == 0) {
			missing->other_abi = ws_arena_strdup(a, exported);
			missing->reason = WS_MISSING_ABI;
		}
	}
}

static bool
compare_list(const char *path, const char *python, const wanted_list *wanted, struct ws_arena *a,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	WS_AUTO_ARENA struct ws_arena *texts = ws_arena_make();
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, python, scratch, err);
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
			compare_name(&line, wanted, texts, a);
			ws_arena_rewind(texts, mark);
		}
	}
	return false;
}

bool
ws_other_abi_find(const struct ws_load_place *place, struct ws_missing *const *missing,
	size_t count, struct ws_arena *a, struct ws_err *err)
{
	wanted_list wanted = {0};
	for (size_t i = 0; i < count; i++) {
		*ws_vec_push(&wanted, a) = (struct wanted){missing[i],
			ws_abi_agreed_bytes(missing[i]->name), ws_abi_neutral_text(missing[i]->text, a)};
	}
	for (size_t i = 0; count > 0 && i < place->list_count; i++) {
		if (!compare_list(place->lists[i], place->python, &wanted, a, err)) {
			return false;
		}
	}
	return true;
}
