/* symbol.c - reads the export list of each known release once, for the name and for its form in
 * the other ABI. */
#include "base/fs.h"
#include "elf/demangle.h"
#include "elf/exports.h"
#include "explain/explain.h"
#include "verify/libraries.h"
#include "verify/other_abi.h"

/* Which form of the symbol a release exports. */
enum has {
	HAS_NOTHING,
	HAS_OTHER_ABI,
	HAS_NAME,
	HAS_NO_LIST, /* no export list */
};

struct asking {
	const struct ws_symbol_question *q;
	struct ws_arena *a;
	const char *text; /* as people read it */
	const char
		*neutral; /* the text without differences of the two ABIs; NULL: not a name of torch */
	size_t agreed;
	enum has *has; /* one for each release of the facts */
	WS_VEC(const char *) evidence;
};

/* ---- export lists ---- */

static enum has
compare(const struct asking *s, const char *exported, struct ws_arena *scratch)
{
	if (strcmp(exported, s->q->name) == 0) {
		return HAS_NAME;
	}
	if (!s->neutral || strncmp(exported, s->q->name, s->agreed) != 0) {
		return HAS_NOTHING;
	}
	struct ws_arena_mark mark = ws_arena_mark(scratch);
	const char *text = ws_abi_neutral_text(ws_demangle_short(exported, scratch), scratch);
	bool same = strcmp(text, s->neutral) == 0;
	ws_arena_rewind(scratch, mark);
	return same ? HAS_OTHER_ABI : HAS_NOTHING;
}

static bool
ask_list(const struct asking *s, const char *path, enum has *has, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, NULL, a, err);
	struct ws_export line = {0};
	while (list && *has != HAS_NAME && ws_exports_next(list, &line, err)) {
		if (line.kind == WS_EXPORT_END) {
			return true;
		}
		if (line.kind == WS_EXPORT_NAME || line.kind == WS_EXPORT_TLS) {
			enum has here = compare(s, line.text, scratch);
			*has = here > *has ? here : *has;
		}
	}
	return *has == HAS_NAME;
}

static size_t
count(const struct asking *s, enum has has)
{
	size_t sum = 0;
	for (size_t i = 0; i < s->q->facts->torch_count; i++) {
		sum += s->has[i] == has;
	}
	return sum;
}

/* "2.3.1 to 2.6.0, 2.8.0" */
static const char *
releases(const struct asking *s, enum has has)
{
	const struct ws_facts *facts = s->q->facts;
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < facts->torch_count;) {
		size_t end = i;
		while (end < facts->torch_count && s->has[end] == has) {
			end++;
		}
		if (end > i) {
			ws_buf_printf(&b, "%s%s", b.len ? ", " : "", facts->torch[i].version.text);
		}
		if (end > i + 1) {
			ws_buf_printf(&b, " to %s", facts->torch[end - 1].version.text);
		}
		i = end > i ? end : i + 1;
	}
	return ws_buf_copy(&b, s->a);
}

static void
add(struct asking *s, const char *line)
{
	*ws_vec_push(&s->evidence, s->a) = line;
}

/* ---- causes ---- */

/* The module's ABI by the name alone; -1: unknown. */
static int
abi_of(const struct asking *s)
{
	if (strstr(s->q->name, "7__cxx11") || strstr(s->q->name, "B5cxx11")) {
		return 1;
	}
	return strstr(s->text, "std::string") || count(s, HAS_OTHER_ABI) > 0 ? 0 : -1;
}

static const char *
cause_torch(struct asking *s)
{
	int abi = abi_of(s);
	const char *torch = s->q->torch;
	struct ws_version version;
	const struct ws_torch_release *release = torch && ws_version_parse(torch, s->a, &version)
		? ws_facts_torch(s->q->facts, &version)
		: NULL;
	switch (release ? s->has[release - s->q->facts->torch] : HAS_NO_LIST) {
	case HAS_OTHER_ABI:
		return ws_arena_printf(
			s->a, "it was built for cxx11abi %d; torch %s is cxx11abi %d", abi, torch, !abi);
	case HAS_NAME:
		return ws_arena_printf(s->a,
			"torch %s exports this name: another torch, or only a part of it, was loaded", torch);
	case HAS_NOTHING:
		return ws_arena_printf(
			s->a, "it was built for another torch release: %s does not export this name", torch);
	case HAS_NO_LIST:
		break;
	}
	/* The torch there is not known: what it must be, as it lacks the name. */
	size_t others = count(s, HAS_OTHER_ABI), names = count(s, HAS_NAME),
		   nothing = count(s, HAS_NOTHING);
	if (others > 0 && (nothing == 0 || names == 0)) {
		return ws_arena_printf(
			s->a, "it was built for cxx11abi %d; this torch is cxx11abi %d", abi, !abi);
	}
	if (others > 0) {
		return ws_arena_printf(s->a,
			"it was built for another torch release, or for cxx11abi %d where this torch is "
			"cxx11abi %d",
			abi, !abi);
	}
	if (names > 0) {
		return "it was built for another torch release than the one that is loaded";
	}
	const struct ws_facts *facts = s->q->facts;
	return ws_arena_printf(s->a,
		"it was built for a torch before %s, after %s, or that is not a release",
		facts->torch[0].version.text, facts->torch[facts->torch_count - 1].version.text);
}

/* The cause if the symbol is not a name of torch. */
static const char *
cause_other(struct asking *s)
{
	const char *name = s->q->name;
	const struct ws_library_family *family = ws_library_family_of(name);
	if (ws_starts_with(name, "__cudaRegisterLinkedBinary")) {
		return "it was compiled with -rdc=true, but its device code was not linked";
	}
	if (family && family->driver) {
		return ws_arena_printf(s->a,
			"the driver's library '%s' is too old, or it was not linked with it", family->stem);
	}
	if (family) {
		return ws_arena_printf(s->a, "it was built for another %s, or does not name that library",
			family->cuda ? ws_arena_printf(s->a, "'%s' of CUDA", family->stem) : family->stem);
	}
	if (ws_starts_with(name, "Py") || ws_starts_with(name, "_Py")) {
		return "it was built for another Python: this one does not have the name";
	}
	if (ws_starts_with(name, "_ZNSt") || ws_starts_with(name, "_ZNKSt")
		|| ws_starts_with(name, "_ZSt")) {
		return "it was built with a newer libstdc++ than the one that was loaded";
	}
	return "the loaded libraries do not have this name: one is missing or has another version";
}

bool
ws_symbol_answer(const struct ws_symbol_question *question, struct ws_arena *a,
	struct ws_symbol_answer *answer, struct ws_err *err)
{
	struct asking s = {.q = question, .a = a, .text = ws_demangle_short(question->name, a)};
	bool is_torchs = ws_is_torch_name(question->name);
	s.neutral = is_torchs ? ws_abi_neutral_text(s.text, a) : NULL;
	s.agreed = ws_abi_agreed_bytes(question->name);
	*answer = (struct ws_symbol_answer){0};
	if (strcmp(s.text, question->name) != 0) {
		add(&s, s.text);
	}
	const struct ws_facts *facts = question->facts;
	s.has = WS_NEW_N(s.a, enum has, facts->torch_count);
	for (size_t i = 0; i < facts->torch_count; i++) {
		const char *file = ws_arena_printf(s.a, "torch-%s.zst", facts->torch[i].version.text);
		const char *path = ws_path_join(s.a, s.q->exports, file, NULL);
		if (!ws_fs_exists(path)) {
			s.has[i] = HAS_NO_LIST;
		} else if (!ask_list(&s, path, &s.has[i], err)) {
			return false;
		}
	}
	if (is_torchs || count(&s, HAS_NAME) > 0) {
		answer->cause = cause_torch(&s);
		int abi = abi_of(&s);
		if (count(&s, HAS_NAME) > 0) {
			add(&s, ws_arena_printf(s.a, "torch %s has it", releases(&s, HAS_NAME)));
		}
		if (count(&s, HAS_OTHER_ABI) > 0) {
			add(&s,
				ws_arena_printf(
					s.a, "torch %s has it for cxx11abi %d", releases(&s, HAS_OTHER_ABI), !abi));
		}
		if (count(&s, HAS_NOTHING) > 0) {
			add(&s, ws_arena_printf(s.a, "torch %s does not have it", releases(&s, HAS_NOTHING)));
		}
	} else {
		answer->cause = cause_other(&s);
	}
	answer->evidence = s.evidence.at;
	answer->evidence_count = s.evidence.len;
	return true;
}
