/* exports_make.c - sorts names, shares prefixes, separates the names that only some Pythons have.
 */
#include "base/fs.h"
#include "base/zst.h"
#include "elf/exports.h"
#include "elf/torch_abi.h"

struct name {
	const char *text;
	const char *version; /* NULL: none */
	bool tls;
	size_t owner; /* which of several libraries of one name */
};

/* One library as one Python has it, or as all have it. */
struct library {
	const char *soname;
	const char *python;       /* NULL: the same for all */
	const char *internals;    /* NULL: none */
	const char *needed;       /* as lines */
	const struct name *names; /* of a Python's own only; those of the others are in text */
	size_t name_count;
	const char *text; /* the names as lines; NULL for a Python's own */
};

struct ws_exports_maker {
	struct ws_arena *a;
	const char *release;
	bool only_c; /* names in C++ are left out */
	WS_VEC(const char *) wheels;
	WS_VEC(struct library) libraries;
};

typedef WS_VEC(struct name) name_list;

struct ws_exports_maker *
ws_exports_begin(const char *release, struct ws_arena *a)
{
	struct ws_exports_maker *maker = WS_NEW(a, struct ws_exports_maker);
	maker->a = a;
	maker->release = ws_arena_strdup(a, release);
	return maker;
}

void
ws_exports_add_wheel(struct ws_exports_maker *maker, const char *filename)
{
	*ws_vec_push(&maker->wheels, maker->a) = ws_arena_strdup(maker->a, filename);
}

void
ws_exports_only_c(struct ws_exports_maker *maker)
{
	maker->only_c = true;
}

/* By version, none first; then kind, bytes, owner. */
static int
by_name(const void *x, const void *y)
{
	const struct name *p = x, *q = y;
	int order = strcmp(p->version ? p->version : "", q->version ? q->version : "");
	if (order != 0) {
		return order;
	}
	if (p->tls != q->tls) {
		return p->tls ? 1 : -1;
	}
	order = strcmp(p->text, q->text);
	if (order != 0) {
		return order;
	}
	return p->owner < q->owner ? -1 : p->owner > q->owner;
}

/* Sorts and drops duplicates. */
static void
sort_names(name_list *names)
{
	if (names->len == 0) {
		return;
	}
	qsort(names->at, names->len, sizeof(struct name), by_name);
	size_t kept = 1;
	for (size_t i = 1; i < names->len; i++) {
		if (by_name(&names->at[kept - 1], &names->at[i]) != 0) {
			names->at[kept++] = names->at[i];
		}
	}
	names->len = kept;
}

static void
put_names(struct ws_buf *out, const struct name *names, size_t count)
{
	const char *version = NULL;
	while (count > 0) {
		if (names->version && !ws_same(names->version, version)) {
			version = names->version;
			ws_buf_printf(out, "version %s\n", version);
		}
		size_t alike = 0;
		while (alike < count && ws_same(names[alike].version, names->version)
			&& names[alike].tls == names->tls) {
			alike++;
		}
		ws_buf_printf(out, "%s %zu\n", names->tls ? "tls" : "names", alike);
		const char *before = "";
		for (size_t i = 0; i < alike; i++) {
			size_t shared = 0;
			while (before[shared] && before[shared] == names[i].text[shared]) {
				shared++;
			}
			ws_buf_printf(out, "%zu\t%s\n", shared, names[i].text + shared);
			before = names[i].text;
		}
		names += alike;
		count -= alike;
	}
}

/* Other files cannot name a symbol in an anonymous namespace, and nvcc's names for it differ from
 * wheel to wheel. Without them the lists of libtorch_cuda are equal for all Pythons (measured on
 * 2.5.1, 2.8.0 and 2.11.0). */
static name_list
gather(const struct ws_exports_maker *maker, const struct ws_elf *elf, struct ws_arena *a)
{
	name_list names = {0};
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		if (symbol.defined && !strstr(symbol.name, "_GLOBAL__N_") && !strpbrk(symbol.name, "\n\t")
			&& !(maker->only_c && ws_starts_with(symbol.name, "_Z"))) {
			*ws_vec_push(&names, a) = (struct name){.text = symbol.name,
				.version = symbol.version ? symbol.version->name : NULL,
				.tls = symbol.type == WS_ELF_TLS};
		}
	}
	sort_names(&names);
	return names;
}

bool
ws_exports_add(struct ws_exports_maker *maker, const struct ws_elf *elf, const char *python,
	struct ws_err *err)
{
	if (!elf->soname) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' has no name of its own (SONAME)", elf->path);
	}
	for (size_t i = 0; i < maker->libraries.len; i++) {
		const struct library *other = &maker->libraries.at[i];
		if (ws_same(other->soname, elf->soname)
			&& (!python || !other->python || ws_same(other->python, python))) {
			return ws_err_set(err, WS_ERR_INTERNAL, "'%s' was added before", elf->path);
		}
	}
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_arena *a = maker->a;
	name_list names = gather(maker, elf, python ? a : scratch);
	for (size_t i = 0; i < elf->needed_count; i++) {
		ws_buf_printf(&text, "needed %s\n", elf->needed[i]);
	}
	struct library *library = ws_vec_push(&maker->libraries, a);
	*library = (struct library){
		.soname = ws_arena_strdup(a, elf->soname),
		.python = ws_arena_strdup(a, python),
		.internals = python ? ws_pybind11_internals(elf, a) : NULL,
		.needed = ws_buf_copy(&text, a),
	};
	if (python) {
		for (size_t i = 0; i < names.len; i++) {
			names.at[i].text = ws_arena_strdup(a, names.at[i].text);
			names.at[i].version = ws_arena_strdup(a, names.at[i].version);
		}
		library->names = names.at;
		library->name_count = names.len;
		return true;
	}
	ws_buf_clear(&text);
	put_names(&text, names.at, names.len);
	library->text = ws_buf_copy(&text, a);
	return true;
}

void
ws_exports_add_name(struct ws_exports_maker *maker, const char *name)
{
	size_t count = maker->libraries.len;
	const char *soname = count > 0 ? maker->libraries.at[count - 1].soname : NULL;
	if (soname && !ws_same(soname, name)) {
		*ws_vec_push(&maker->libraries, maker->a) = (struct library){
			.soname = ws_arena_strdup(maker->a, name),
			.needed = ws_arena_printf(maker->a, "needed %s\n", soname),
			.text = "",
		};
	}
}

/* By name, then Python: cp39, cp310, cp313, cp313t, cp314. */
static int
by_soname(const void *x, const void *y)
{
	const struct library *p = *(const struct library *const *)x;
	const struct library *q = *(const struct library *const *)y;
	int order = strcmp(p->soname, q->soname);
	return order ? order : strverscmp(p->python ? p->python : "", q->python ? q->python : "");
}

/* Splits @all, sorted, into the names that each of @count owners has and those of @owner only. */
static void
split_names(const name_list *all, size_t count, size_t owner, name_list *common, name_list *own,
	struct ws_arena *a)
{
	for (size_t i = 0, next; i < all->len; i = next) {
		const struct name *first = &all->at[i];
		bool mine = false;
		for (next = i; next < all->len && all->at[next].tls == first->tls
			 && ws_same(all->at[next].version, first->version)
			 && strcmp(all->at[next].text, first->text) == 0;
			 next++) {
			mine |= all->at[next].owner == owner;
		}
		if (next - i == count) {
			*ws_vec_push(common, a) = *first;
		} else if (mine) {
			*ws_vec_push(own, a) = *first;
		}
	}
}

/* A library that each Python has separately: first the shared part, then the rest of each. */
static void
put_family(struct ws_buf *out, const struct library *const *family, size_t count)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	name_list all = {0};
	bool needs_differ = false;
	for (size_t i = 0; i < count; i++) {
		needs_differ |= !ws_same(family[0]->needed, family[i]->needed);
		for (size_t j = 0; j < family[i]->name_count; j++) {
			struct name *name = ws_vec_push(&all, a);
			*name = family[i]->names[j];
			name->owner = i;
		}
	}
	sort_names(&all);
	for (size_t i = 0; i < count; i++) {
		name_list common = {0}, own = {0};
		split_names(&all, count, i, &common, &own, a);
		if (i == 0) {
			ws_buf_printf(
				out, "library %s\n%s", family[0]->soname, needs_differ ? "" : family[0]->needed);
			put_names(out, common.at, common.len);
		}
		ws_buf_printf(out, "library %s %s\n", family[i]->soname, family[i]->python);
		if (family[i]->internals) {
			ws_buf_printf(out, "internals %s\n", family[i]->internals);
		}
		ws_buf_puts(out, needs_differ ? family[i]->needed : "");
		put_names(out, own.at, own.len);
	}
}

static int
by_version(const void *x, const void *y)
{
	return strverscmp(*(const char *const *)x, *(const char *const *)y);
}

/* One line for each text, as strverscmp orders them, none twice. */
static void
put_sorted(struct ws_buf *out, const char *word, const char **texts, size_t count)
{
	if (count > 0) {
		qsort(texts, count, sizeof(texts[0]), by_version);
	}
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || !ws_same(texts[i], texts[i - 1])) {
			ws_buf_printf(out, "%s %s\n", word, texts[i]);
		}
	}
}

void
ws_exports_text(const struct ws_exports_maker *maker, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	size_t count = maker->libraries.len, python_count = 0;
	const struct library **sorted = WS_NEW_N(a, const struct library *, count);
	const char **pythons = WS_NEW_N(a, const char *, count);
	for (size_t i = 0; i < count; i++) {
		sorted[i] = &maker->libraries.at[i];
		if (sorted[i]->python) {
			pythons[python_count++] = sorted[i]->python;
		}
	}
	qsort(sorted, count, sizeof(sorted[0]), by_soname);
	ws_buf_puts(out, WS_EXPORTS_SCHEMA "\n");
	if (maker->release) {
		ws_buf_printf(out, "torch %s\n", maker->release);
	}
	put_sorted(out, "wheel", maker->wheels.at, maker->wheels.len);
	put_sorted(out, "python", pythons, python_count);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && ws_same(sorted[i]->soname, sorted[next]->soname);) {
			next++;
		}
		if (sorted[i]->python) {
			put_family(out, sorted + i, next - i);
			continue;
		}
		ws_buf_printf(
			out, "library %s\n%s%s", sorted[i]->soname, sorted[i]->needed, sorted[i]->text);
	}
	ws_buf_puts(out, "end\n");
}

bool
ws_exports_write(const struct ws_exports_maker *maker, const char *path, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf packed = {0};
	ws_exports_text(maker, &text);
	return ws_zst_pack(ws_buf_str(&text), WS_ZST_SMALL, &packed, err)
		&& ws_fs_write_atomic(path, packed.data, packed.len, 0644, err);
}
