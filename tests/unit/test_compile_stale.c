/* test_compile_stale.c - build, edit, build again: what comes must be what a fresh store gives.
 *
 * Cases: tests/cases/stale. Sections:
 *
 *   @flags  words for g++; "{out}" is a folder outside of every tree
 *   @before, @after   files: "== PATH" and its text, "== PATH -> TARGET" a link; in @after also
 *           "-- PATH" for one that goes. Paths begin in the source tree, "/x" in the folder
 *           outside; <SP> is a blank, <CR> a carriage return. The source tree is "src" to the
 *           compiler, so "src/a.cpp" of it is compiled as src/src/a.cpp, with -Isrc/one -Isrc/two.
 *   @expect "hit", or "ran: why"; before it the warnings of the first build
 *
 * The random part makes layouts by a fixed seed: WS_STALE_COUNT of them from WS_STALE_FIRST on, 40
 * without it. */
#include "base/fs.h"
#include "case.h"
#include "stale_world.h"

/* ---- cases ---- */

static struct stale_world *cases_world;

static char *
unescape(struct ws_str text, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	bool ends = text.n == 0 || text.s[text.n - 1] == '\n';
	while (text.n > 0) {
		bool blank = text.n >= 4 && memcmp(text.s, "<SP>", 4) == 0;
		bool cr = text.n >= 4 && memcmp(text.s, "<CR>", 4) == 0;
		ws_buf_putc(&out, blank ? ' ' : cr ? '\r' : text.s[0]);
		size_t taken = blank || cr ? 4 : 1;
		text = (struct ws_str){text.s + taken, text.n - taken};
	}
	ws_buf_puts(&out, ends ? "" : "\n");
	return ws_buf_copy(&out, a);
}

static void
add_file(struct stale_layout *layout, struct ws_str head, struct ws_str body, struct ws_arena *a)
{
	const char *path = ws_str_copy(head, a);
	char *arrow = strstr(path, " -> ");
	if (arrow) {
		*arrow = '\0';
		stale_put(layout, (struct stale_file){path, NULL, arrow + strlen(" -> ")});
	} else {
		stale_put(layout, (struct stale_file){path, unescape(body, a), NULL});
	}
}

static void
read_layout(struct stale_layout *layout, const char *text, struct ws_arena *a)
{
	struct ws_str rest = ws_str_of(text), head = {0};
	const char *body = NULL;
	while (rest.s && rest.n > 0) {
		const char *begin = rest.s;
		struct ws_str line = ws_str_cut(&rest, '\n');
		bool file = line.n > 3 && memcmp(line.s, "== ", 3) == 0;
		bool gone = line.n > 3 && memcmp(line.s, "-- ", 3) == 0;
		if ((file || gone) && head.s) {
			add_file(layout, head, (struct ws_str){body, (size_t)(begin - body)}, a);
			head.s = NULL;
		}
		if (gone) {
			stale_remove(layout, ws_str_copy((struct ws_str){line.s + 3, line.n - 3}, a));
		} else if (file) {
			head = (struct ws_str){line.s + 3, line.n - 3};
			body = rest.s;
		}
	}
	if (head.s) {
		const char *end = text + strlen(text);
		body = body ? body : end;
		add_file(layout, head, (struct ws_str){body, (size_t)(end - body)}, a);
	}
}

static void
read_flags(struct stale_layout *layout, const char *text, struct ws_arena *a)
{
	for (struct ws_str rest = ws_str_trim(ws_str_of(text)); rest.s && rest.n > 0;) {
		layout->flags[layout->flag_count++] = ws_str_copy(ws_str_cut(&rest, ' '), a);
	}
}

static void
assert_same(const struct stale_build *again, const struct stale_build *fresh, const char *what)
{
	if (strcmp(again->digest, fresh->digest) != 0) {
		fail_msg("%s: built again it is not what a fresh store gives (%s, %s)", what, again->how,
			again->why ? again->why : "");
	}
}

/* The folder outside is another one every time. */
static void
tell(struct ws_buf *got, const char *what, const char *text)
{
	const char *outside = stale_outside(cases_world);
	const char *mark = text ? strstr(text, outside) : NULL;
	if (mark) {
		ws_buf_printf(got, "%s%.*s{out}%s", what, (int)(mark - text), text, mark + strlen(outside));
	} else if (text) {
		ws_buf_printf(got, "%s%s", what, text);
	}
}

static void
run_case(const struct ws_case *c, struct ws_arena *a, struct ws_buf *got)
{
	struct stale_layout layout = {0};
	const char *flags = ws_case_text(c, "flags"), *after = ws_case_text(c, "after");
	read_flags(&layout, flags ? flags : "-E -P", a);
	read_layout(&layout, ws_case_text(c, "before"), a);
	struct stale_build first = stale_build(cases_world, &layout, false, a);
	if (!first.digest[0]) {
		ws_buf_printf(got, "first: %s\n", first.why);
	}
	tell(got, "warned: ", first.warned);
	ws_buf_puts(got, first.warned ? "\n" : "");
	read_layout(&layout, after ? after : "", a);
	struct stale_build again = stale_build(cases_world, &layout, false, a);
	struct stale_build fresh = stale_build(cases_world, &layout, true, a);
	assert_same(&again, &fresh, c->title ? c->title : c->file);
	ws_buf_puts(got, again.how);
	tell(got, ": ", again.why);
	ws_buf_puts(got, "\n");
}

WS_TEST(cases_by_class)
{
	cases_world = stale_world_open(a);
	ws_cases_check(WS_TESTS_DIR "/cases/stale", run_case);
	stale_world_close(cases_world);
}

/* ---- the random part ---- */

struct random {
	uint64_t state;
	struct ws_arena *a;
};

/* splitmix64 */
static unsigned
draw(struct random *r, unsigned below)
{
	uint64_t z = (r->state += 0x9E3779B97F4A7C15ull);
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
	return (unsigned)((z ^ (z >> 31)) % below);
}

static const char *
pick(struct random *r, const char *const *list, size_t count)
{
	return list[draw(r, (unsigned)count)];
}

#define PICK(r, list) pick(r, list, WS_LEN(list))

static const char *const folders[] = {
	"src", "src", "src/d", "one", "one/d", "two", "two/d", "quote", "", "/", "/d"};
static const char *const names[] = {"a.h", "b.h", "c.h", "d/a.h", "d/b.h", "../a.h", "../b.h",
	"d/../c.h", "l/a.h", "l/../b.h", "../two/a.h", "../src/c.h", "./a.h", "m.h"};
static const char *const last_names[] = {"a.h", "b.h", "c.h", "m.h"};
static const char *const link_places[] = {"src/l", "one/l", "two/l", "/l", "src/a.h", "two/b.h"};
static const char *const link_targets[] = {"d", "../src/d", "../one/d", "../two", "c.h"};

static const char *
file_path(struct random *r)
{
	const char *in = PICK(r, folders), *name = PICK(r, last_names);
	return ws_arena_printf(r->a, "%s%s%s", in, in[0] && strcmp(in, "/") != 0 ? "/" : "", name);
}

/* A header name with its ends. */
static const char *
header(struct random *r)
{
	const char *form = draw(r, 2) ? "<%s>" : "\"%s\"";
	const char *name = PICK(r, names);
	return form[0] == '<' ? ws_arena_printf(r->a, "<%s>", name)
						  : ws_arena_printf(r->a, "\"%s\"", name);
}

static const char *const spellings[] = {"#include ", "#include ", "%:include ", "#include\\\n",
	"#inc\\  \nlude ", "/* x */ # /* y */ include ", "/* over\nlines */ #include ",
	"# /* over\nlines */ include ", "\t#\tinclude\t", "#import "};

/* Lines that may read a header or ask for one; "%H" is a header name, "%N" the part between its
 * ends, "%I" an include in some spelling, "%U" a number of its own. */
static const char *const lines[] = {
	"#if __has_include(%H)\n%I%H\n#endif\n",
	"#if __has_include(%H)\n%I%H\n#endif\n",
	"#if __has_include(%H)\nyes\n#else\nno\n#endif\n",
	"%I%H\n",
	"#define HAVE%U __has_include(%H)\n#if HAVE%U\nhave %U\n#endif\n",
	"#define HAS(x) __has_include(x)\n#if HAS(%H)\nhas\n#endif\n",
	"#define HAS(x) __has_include(x)\n#define NAME%U %H\n#if HAS(NAME%U)\nnamed\n#endif\n",
	"#define AS(x) __has_include(x)\n#define TWICE(x) AS(x)\n#if TWICE(%H)\ntwice\n#endif\n",
	"#define NAME%U %H\n#if __has_include(NAME%U)\n#include NAME%U\n#endif\n",
	"#define A%U %H\n#define NAME%U A%U\n#if __has_include(NAME%U)\n#include NAME%U\n#endif\n",
	"#define STR(x) #x\n#if __has_include(%H)\n#include STR(%N)\n#endif\n",
	"#define ANGLE(x) <x>\n#if __has_include(<%N>)\n#include ANGLE(%N)\n#endif\n",
	"#define CAT(x, y) x##y\n#if CAT(__has_, include)(%H)\ncat\n#endif\n",
	"#define EXISTS __has_include\n#if EXISTS(%H)\nexists\n#endif\n",
	"#if __has_include_next(%H)\nnext\n#endif\n",
	"#if __has_include_next(%H)\n#include_next %H\n#endif\n",
	"#ifdef OPT\n#if __has_include(OPT)\n#include OPT\n#endif\n#endif\n",
	"#if 0\n%I%H\n#endif\n",
	"const char *raw%U = R\"x(\n#include %H\n)x\";\n",
	"/*\n#include %H\n*/\n",
	"int n%U = 1'000; // it's\n",
	"#pragma once\n",
};

static const char *
fill_line(struct random *r, const char *form)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	const char *name = header(r);
	unsigned number = draw(r, 1000000);
	for (; *form; form++) {
		if (form[0] != '%' || !strchr("HNIU", form[1])) {
			ws_buf_putc(&out, *form);
			continue;
		}
		form++;
		if (*form == 'H') {
			ws_buf_puts(&out, name);
		} else if (*form == 'N') {
			ws_buf_add(&out, name + 1, strlen(name) - 2);
		} else if (*form == 'I') {
			ws_buf_puts(&out, PICK(r, spellings));
		} else {
			ws_buf_printf(&out, "%u", number);
		}
	}
	return ws_buf_copy(&out, r->a);
}

/* Says where it is, and reads on once at most: a guard by number ends every circle. Few bytes and
 * few numbers, so that files with the same contents come about. */
static const char *
text_of(struct random *r, bool unit)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	unsigned number = draw(r, 40), count = draw(r, 3) + (unit ? 1 : 0);
	ws_buf_printf(&out, "text %u\n", number);
	if (!unit) {
		ws_buf_printf(&out, "#ifndef G%u\n#define G%u\n", number, number);
	}
	for (unsigned i = 0; i < count; i++) {
		ws_buf_puts(&out, fill_line(r, PICK(r, lines)));
	}
	ws_buf_puts(&out, unit ? "" : "#endif\n");
	return ws_buf_copy(&out, r->a);
}

static void
put_random(struct random *r, struct stale_layout *layout)
{
	if (draw(r, 8) == 0) {
		const char *target = PICK(r, link_targets), *place = PICK(r, link_places);
		bool outside = place[0] == '/';
		stale_put(layout, (struct stale_file){place, NULL, outside ? "d" : target});
		return;
	}
	stale_put(layout, (struct stale_file){file_path(r), text_of(r, false), NULL});
}

static bool
is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

/* Edits that a person may make between two builds. */
static void
edit(struct random *r, struct stale_layout *layout)
{
	size_t at = draw(r, (unsigned)layout->count);
	switch (draw(r, 4)) {
	case 0:
		if (strcmp(layout->files[at].path, "src/a.cpp") != 0) {
			stale_remove(layout, layout->files[at].path);
		}
		break;
	case 1:
		if (layout->files[at].text) {
			stale_put(layout,
				(struct stale_file){layout->files[at].path,
					text_of(r, strcmp(layout->files[at].path, "src/a.cpp") == 0), NULL});
		}
		break;
	default:
		put_random(r, layout);
	}
}

/* A link in place of a folder, or a folder in place of a link, is impossible: the later entry is
 * dropped. */
static void
settle(struct stale_layout *layout)
{
	for (size_t i = 0; i < layout->count; i++) {
		for (size_t j = layout->count; j-- > 0;) {
			if (i != j && is_below(layout->files[j].path, layout->files[i].path)) {
				stale_remove(layout, layout->files[j].path);
				i = 0;
				break;
			}
		}
	}
}

static void
make_flags(struct random *r, struct stale_layout *layout)
{
	static const char *const forms[] = {"-iquotesrc/quote", "-I{out}", "-isystem{out}",
		"-idirafter{out}", "-iquote{out}", "-Isrc/two/d", "-isystemsrc/one", "-Isrc/src/l",
		"-Isrc/one/../two", "-I{out}/l", "-DOPT=<a.h>", "-DOPT=\"b.h\"", "-DOPT=<d/a.h>"};
	layout->flags[layout->flag_count++] = "-E";
	layout->flags[layout->flag_count++] = "-P";
	for (unsigned i = draw(r, 3); i > 0; i--) {
		layout->flags[layout->flag_count++] = PICK(r, forms);
	}
	if (draw(r, 10) == 0) {
		layout->flags[layout->flag_count++] = "-include";
		layout->flags[layout->flag_count++] = PICK(r, last_names);
	}
}

/* A failure's description: all there is to it. */
static void
describe(const struct stale_layout *layout, struct ws_buf *out)
{
	for (size_t i = 0; i < layout->flag_count; i++) {
		ws_buf_printf(out, "%s ", layout->flags[i]);
	}
	for (size_t i = 0; i < layout->count; i++) {
		const struct stale_file *file = &layout->files[i];
		ws_buf_printf(out, file->target ? "\n== %s -> %s" : "\n== %s\n%s", file->path,
			file->target ? file->target : file->text);
	}
}

WS_TEST(random_layouts_are_never_stale)
{
	const char *count_text = getenv("WS_STALE_COUNT"), *first = getenv("WS_STALE_FIRST");
	unsigned count = count_text ? (unsigned)atoi(count_text) : 40;
	unsigned from = first ? (unsigned)atoi(first) : 1;
	unsigned hits = 0, built = 0, kept = 0;
	struct stale_world *w = stale_world_open(a);
	for (unsigned seed = from; seed < from + count; seed++) {
		WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
		struct random r = {.state = seed, .a = scratch};
		struct stale_layout layout = {0};
		stale_put(&layout, (struct stale_file){"src/a.cpp", text_of(&r, true), NULL});
		for (unsigned i = 4 + draw(&r, 8); i > 0; i--) {
			put_random(&r, &layout);
		}
		settle(&layout);
		make_flags(&r, &layout);
		struct stale_build before = stale_build(w, &layout, false, scratch);
		WS_AUTO_BUF struct ws_buf reported = {0};
		describe(&layout, &reported);
		edit(&r, &layout);
		settle(&layout);
		struct stale_build again = stale_build(w, &layout, false, scratch);
		struct stale_build fresh = stale_build(w, &layout, true, scratch);
		built += before.digest[0] != '\0';
		kept += before.digest[0] != '\0' && !before.warned;
		hits += strcmp(again.how, "hit") == 0;
		if (strcmp(again.digest, fresh.digest) != 0) {
			ws_buf_puts(&reported, "\n---- edited ----\n");
			describe(&layout, &reported);
			fprintf(stderr, "%s\n", ws_buf_text(&reported)); /* cmocka cuts long messages */
			fail_msg("seed %u: %s", seed, again.how);
		}
	}
	stale_world_close(w);
	print_message("%u built, %u kept, %u hits of %u\n", built, kept, hits, count);
	/* Layouts that fail, or never hit, would prove nothing. */
	assert_true(count < 40 || (built > count / 2 && hits > count / 4));
}
