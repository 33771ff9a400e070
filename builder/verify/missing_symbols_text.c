/* missing_symbols_text.c - the findings on symbols in words, one for each reason. */
#include "verify/missing_symbols.h"

#define MOST_SHOWN 3 /* names of one reason; the rest is counted */

static const char *
plural(size_t count, const char *word, struct ws_arena *a)
{
	return ws_arena_printf(a, "%zu %s%s", count, word, count == 1 ? "" : "s");
}

static const char *
torch_name(const struct ws_symbols *s, struct ws_arena *a)
{
	return s->release ? ws_arena_printf(a, "torch %s", s->release) : "torch";
}

/* The cause of each reason, for programs. */
static const char *const causes[WS_MISSING_REASONS] = {
	[WS_MISSING_ABI] = "cxx11abi",
	[WS_MISSING_TORCH] = "torch",
	[WS_MISSING_NOT_NEEDED] = "library",
	[WS_MISSING_DRIVER] = "driver",
	[WS_MISSING_CUDA] = "cuda",
	[WS_MISSING_PYTHON] = "python",
	[WS_MISSING_TLS] = "symbol",
	[WS_MISSING_VERSION] = "library",
	[WS_MISSING_FLOOR] = "glibc",
	[WS_MISSING_SIBLING] = "sibling",
	[WS_MISSING_UNREAD] = "library",
	[WS_MISSING_OTHER] = "symbol",
};

/* The headline of @count missing symbols, the first of which is @first. */
static const char *
headline(
	const struct ws_symbols *s, const struct ws_missing *first, size_t count, struct ws_arena *a)
{
	const char *symbols = plural(count, "symbol", a);
	const char *module =
		first->by ? ws_arena_printf(a, "%s, by way of %s,", s->module, first->by) : s->module;
	switch (first->reason) {
	case WS_MISSING_ABI:
	case WS_MISSING_TORCH:
		return ws_arena_printf(
			a, "%s needs %s that %s does not export", module, symbols, torch_name(s, a));
	case WS_MISSING_NOT_NEEDED:
		return ws_arena_printf(a, "%s needs %s of '%s' but does not name that library (DT_NEEDED)",
			module, symbols, first->library);
	case WS_MISSING_DRIVER:
		return ws_arena_printf(
			a, "%s needs %s of the CUDA driver but does not name libcuda", module, symbols);
	case WS_MISSING_CUDA:
		return ws_arena_printf(a,
			strstr(first->library, ".so") ? "%s needs %s that '%s' does not export"
										  : "%s needs %s of '%s', which nothing brings",
			module, symbols, first->library);
	case WS_MISSING_PYTHON:
		return s->python
			? ws_arena_printf(a, "%s needs %s of Python that its stable ABI of %s does not have",
				module, symbols, s->python)
			: ws_arena_printf(
				a, "%s needs %s of Python that this interpreter does not have", module, symbols);
	case WS_MISSING_TLS:
		return ws_arena_printf(a, "%s and '%s' do not agree whether %s thread-local", module,
			first->library, count == 1 ? "a symbol is" : ws_arena_printf(a, "%s are", symbols));
	case WS_MISSING_VERSION:
		return ws_arena_printf(a, "%s needs %s that '%s' here does not have", module,
			plural(count, "symbol version", a), first->library);
	case WS_MISSING_FLOOR:
		return ws_arena_printf(
			a, "%s needs %s that systems have from glibc %s on", module, symbols, first->library);
	case WS_MISSING_UNREAD:
		return ws_arena_printf(a, "%s needs %s that '%s' may have, which was not read", module,
			symbols, first->library);
	case WS_MISSING_SIBLING:
		return ws_arena_printf(a, "%s finds %s only if '%s' of its own wheel is loaded first",
			module, symbols, first->library);
	case WS_MISSING_OTHER:
	case WS_MISSING_REASONS:
		break;
	}
	return ws_arena_printf(a, "%s needs %s that nothing exports", module, symbols);
}

static const char *
built_for(const struct ws_symbols *s, struct ws_arena *a)
{
	if (s->module_abi == WS_CXX11ABI_MIXED) {
		return "its parts were compiled for both values of cxx11abi";
	}
	if (s->module_abi == WS_CXX11ABI_SILENT || s->torch_abi == WS_CXX11ABI_SILENT) {
		return "built for the other cxx11abi";
	}
	return ws_arena_printf(a, "built for cxx11abi %d; this torch is cxx11abi %d",
		s->module_abi == WS_CXX11ABI_1, s->torch_abi == WS_CXX11ABI_1);
}

/* The probable reason, as the last line of evidence; NULL: none. */
static const char *
advice(const struct ws_symbols *s, const struct ws_missing *first, struct ws_arena *a)
{
	static const char *const lines[WS_MISSING_REASONS] = {
		[WS_MISSING_TORCH] = "built for another torch",
		[WS_MISSING_DRIVER] = "it must be linked with -lcuda",
		[WS_MISSING_OTHER] = "a source file that defines it may be missing from the recipe, or a "
							 "library from its link flags",
	};
	if (first->reason == WS_MISSING_ABI) {
		return built_for(s, a);
	}
	if (first->reason == WS_MISSING_PYTHON) {
		return s->python ? "its tag promises more Pythons than have these names"
						 : "built for another Python";
	}
	if (first->reason == WS_MISSING_FLOOR) {
		return ws_arena_printf(a, "build it for such systems: \"glibc\": \"%s\"", first->library);
	}
	bool linked = ws_starts_with(first->name, "__cudaRegisterLinkedBinary");
	return lines[first->reason] || !linked
		? lines[first->reason]
		: "compiled with -rdc=true, but the device link is missing";
}

static struct ws_finding
missing_finding(
	const struct ws_symbols *s, const struct ws_missing *first, size_t count, struct ws_arena *a)
{
	WS_VEC(const char *) lines = {0};
	enum ws_finding_verdict verdict = WS_VERDICT_OK;
	for (size_t i = 0; i < count; i++) {
		verdict = first[i].verdict > verdict ? first[i].verdict : verdict;
		if (i < MOST_SHOWN) {
			bool last = i == MOST_SHOWN - 1 && count > MOST_SHOWN;
			*ws_vec_push(&lines, a) = last
				? ws_arena_printf(a, "%s   ... +%zu", first[i].text, count - MOST_SHOWN)
				: first[i].text;
		}
	}
	const char *line = advice(s, first, a);
	if (line) {
		*ws_vec_push(&lines, a) = line;
	}
	return (struct ws_finding){
		.verdict = verdict,
		.cause = causes[first->reason],
		.text = headline(s, first, count, a),
		.evidence = lines.at,
		.evidence_count = lines.len,
	};
}

static struct ws_finding
absent_finding(
	const struct ws_symbols *s, const struct ws_absent_library *absent, struct ws_arena *a)
{
	const char *module = s->module, *name = absent->name, *torch = torch_name(s, a);
	struct ws_finding f = {.verdict = absent->verdict, .cause = "library"};
	if (absent->aside) {
		f.text = ws_arena_printf(a,
			"%s needs the library '%s', which %s brings and does not load: no run path leads to it",
			module, name, torch);
	} else if (absent->sibling) {
		bool fails = absent->sibling->verdict == WS_VERDICT_FAILS;
		f.verdict = fails ? WS_VERDICT_FAILS : WS_VERDICT_UNKNOWN;
		f.cause = "sibling";
		f.text = ws_arena_printf(a,
			fails
				? "%s needs '%s' of its own wheel, which does not load"
				: "%s loads only if '%s' of its own wheel is loaded first: no run path leads to it",
			module, name);
	} else if (absent->brought) {
		f.verdict = WS_VERDICT_FAILS;
		f.cause = "cuda";
		f.text = ws_arena_printf(
			a, "%s needs '%s'; %s brings '%s'", module, name, torch, absent->brought);
	} else {
		f.text = ws_arena_printf(a,
			absent->verdict == WS_VERDICT_FAILS
				? "%s needs the library '%s', which neither %s nor this host brings"
				: "%s needs the library '%s', which %s does not bring",
			module, name, torch);
	}
	return f;
}

/* "m finds all of its 9 symbols, 2 of them taken on trust: 'libcublas.so.12' was not read" */
static const char *
all_found(const struct ws_symbols *s, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_buf_printf(&text, "%s finds all of its %s", s->module, plural(s->wanted_count, "symbol", a));
	if (s->assumed_count > 0) {
		ws_buf_printf(&text, ", %zu of them taken on trust: ", s->assumed_count);
		for (size_t i = 0; i < s->unread_count && i < MOST_SHOWN; i++) {
			ws_buf_printf(&text, "%s'%s'", i ? ", " : "", s->unread[i]);
		}
		if (s->unread_count > MOST_SHOWN) {
			ws_buf_printf(&text, " and %zu more", s->unread_count - MOST_SHOWN);
		}
		ws_buf_puts(&text, s->unread_count == 1 ? " was not read" : " were not read");
	}
	return ws_buf_copy(&text, a);
}

const struct ws_finding *
ws_symbols_findings(const struct ws_symbols *symbols, struct ws_arena *a, size_t *count)
{
	WS_VEC(struct ws_finding) findings = {0};
	for (size_t i = 0; i < symbols->absent_count; i++) {
		*ws_vec_push(&findings, a) = absent_finding(symbols, &symbols->absent[i], a);
	}
	for (size_t i = 0, next; i < symbols->missing_count; i = next) {
		const struct ws_missing *first = &symbols->missing[i];
		/* Names of one reason and one library are in one finding. */
		for (next = i + 1; next < symbols->missing_count; next++) {
			const struct ws_missing *other = &symbols->missing[next];
			if (first->reason != other->reason || !ws_same(first->library, other->library)
				|| !ws_same(first->by, other->by)) {
				break;
			}
		}
		*ws_vec_push(&findings, a) = missing_finding(symbols, first, next - i, a);
	}
	if (findings.len == 0) {
		bool trusted = symbols->assumed_count > 0;
		*ws_vec_push(&findings, a) = (struct ws_finding){
			.verdict = trusted && symbols->strict ? WS_VERDICT_UNKNOWN : WS_VERDICT_OK,
			.cause = trusted ? "trust" : NULL,
			.text = all_found(symbols, a),
		};
	}
	*count = findings.len;
	return findings.at;
}
