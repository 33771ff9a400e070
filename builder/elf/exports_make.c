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
	const char *python;    /* NULL: the same for all */
	const char *internals; /* NULL: none */
	const char *const *needed;
	size_t needed_count;
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

struct names {
	WS_VEC(struct name) list;
};

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
sort_names(struct names *names)
{
	if (names->list.len == 0) {
		return;
	}
	qsort(names->list.at, names->list.len, sizeof(struct name), by_name);
	size_t kept = 1;
	for (size_t i = 1; i < names->list.len; i++) {
		if (by_name(&names->list.at[kept - 1], &names->list.at[i]) != 0) {
			names->list.at[kept++] = names->list.at[i];
		}
	}
	names->list.len = kept;
}

/* The lines of one kind; @names are sorted and of that kind only. */
static void
put_kind(struct ws_buf *out, const char *kind, const struct name *names, size_t count)
{
	if (count == 0) {
		return;
	}
	ws_buf_printf(out, "%s %zu\n", kind, count);
	const char *before = "";
	for (size_t i = 0; i < count; i++) {
		size_t shared = 0;
		while (before[shared] && before[shared] == names[i].text[shared]) {
			shared++;
		}
		ws_buf_printf(out, "%zu\t%s\n", shared, names[i].text + shared);
		before = names[i].text;
	}
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
		put_kind(out, names->tls ? "tls" : "names", names, alike);
		names += alike;
		count -= alike;
	}
}

/* Other files cannot name a symbol in an anonymous namespace, and nvcc's names for it differ from
 * wheel to wheel. Without them the lists of libtorch_cuda are equal for all Pythons (measured on
 * 2.5.1, 2.8.0 and 2.11.0). */
static bool
is_listed(const struct ws_exports_maker *maker, const struct ws_elf_symbol *symbol)
{
	return symbol->defined && !strstr(symbol->name, "_GLOBAL__N_") && !strpbrk(symbol->name, "\n\t")
		&& !(maker->only_c && ws_starts_with(symbol->name, "_Z"));
}

static void
gather(const struct ws_exports_maker *maker, const struct ws_elf *elf, struct names *names,
	struct ws_arena *a)
{
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		if (is_listed(maker, &symbol)) {
			*ws_vec_push(&names->list, a) = (struct name){.text = symbol.name,
				.version = symbol.version ? symbol.version->name : NULL,
				.tls = symbol.type == WS_ELF_TLS};
		}
	}
	sort_names(names);
}

static const char *const *
copy_texts(const char *const *texts, size_t count, struct ws_arena *a)
{
	const char **copies = WS_NEW_N(a, const char *, count);
	for (size_t i = 0; i < count; i++) {
		copies[i] = ws_arena_strdup(a, texts[i]);
	}
	return copies;
}

static void
keep_names(struct library *library, const struct names *names, struct ws_arena *a)
{
	struct name *kept = WS_NEW_N(a, struct name, names->list.len);
	for (size_t i = 0; i < names->list.len; i++) {
		kept[i] = names->list.at[i];
		kept[i].text = ws_arena_strdup(a, names->list.at[i].text);
		kept[i].version = ws_arena_strdup(a, names->list.at[i].version);
	}
	library->names = kept;
	library->name_count = names->list.len;
}

static bool
is_known(const struct ws_exports_maker *maker, const char *soname, const char *python)
{
	for (size_t i = 0; i < maker->libraries.len; i++) {
		const struct library *other = &maker->libraries.at[i];
		if (ws_same(other->soname, soname)
			&& (!python || !other->python || ws_same(other->python, python))) {
			return true;
		}
	}
	return false;
}

bool
ws_exports_add(struct ws_exports_maker *maker, const struct ws_elf *elf, const char *python,
	struct ws_err *err)
{
	if (!elf->soname) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' has no name of its own (SONAME)", elf->path);
	}
	if (is_known(maker, elf->soname, python)) {
		return ws_err_set(err, WS_ERR_INTERNAL, "'%s' was added before", elf->path);
	}
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	struct names names = {0};
	gather(maker, elf, &names, scratch);
	struct ws_arena *a = maker->a;
	struct library *library = ws_vec_push(&maker->libraries, a);
	*library = (struct library){
		.soname = ws_arena_strdup(a, elf->soname),
		.python = ws_arena_strdup(a, python),
		.internals = python ? ws_pybind11_internals(elf, a) : NULL,
		.needed = copy_texts(elf->needed, elf->needed_count, a),
		.needed_count = elf->needed_count,
	};
	if (python) {
		keep_names(library, &names, a);
		return true;
	}
	WS_AUTO_BUF struct ws_buf text = {0};
	put_names(&text, names.list.at, names.list.len);
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
			.needed = copy_texts(&soname, 1, maker->a),
			.needed_count = 1,
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

static bool
same_needed(const struct library *x, const struct library *y)
{
	if (x->needed_count != y->needed_count) {
		return false;
	}
	for (size_t i = 0; i < x->needed_count; i++) {
		if (strcmp(x->needed[i], y->needed[i]) != 0) {
			return false;
		}
	}
	return true;
}

static void
put_needed(struct ws_buf *out, const struct library *library)
{
	for (size_t i = 0; i < library->needed_count; i++) {
		ws_buf_printf(out, "needed %s\n", library->needed[i]);
	}
}

/* Splits @all, sorted, into the names that each of @count owners has and those of @owner only. */
static void
split_names(const struct names *all, size_t count, size_t owner, struct names *common,
	struct names *own, struct ws_arena *a)
{
	for (size_t i = 0, next; i < all->list.len; i = next) {
		const struct name *first = &all->list.at[i];
		bool mine = false;
		for (next = i; next < all->list.len && all->list.at[next].tls == first->tls
			 && ws_same(all->list.at[next].version, first->version)
			 && strcmp(all->list.at[next].text, first->text) == 0;
			 next++) {
			mine |= all->list.at[next].owner == owner;
		}
		if (next - i == count) {
			*ws_vec_push(&common->list, a) = *first;
		} else if (mine) {
			*ws_vec_push(&own->list, a) = *first;
		}
	}
}

/* A library that each Python has separately: first the shared part, then the rest of each. */
static void
put_family(struct ws_buf *out, const struct library *const *family, size_t count)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct names all = {0};
	bool needs_differ = false;
	for (size_t i = 0; i < count; i++) {
		needs_differ |= !same_needed(family[0], family[i]);
		for (size_t j = 0; j < family[i]->name_count; j++) {
			struct name *name = ws_vec_push(&all.list, a);
			*name = family[i]->names[j];
			name->owner = i;
		}
	}
	sort_names(&all);
	for (size_t i = 0; i < count; i++) {
		struct names common = {0}, own = {0};
		split_names(&all, count, i, &common, &own, a);
		if (i == 0) {
			ws_buf_printf(out, "library %s\n", family[0]->soname);
			if (!needs_differ) {
				put_needed(out, family[0]);
			}
			put_names(out, common.list.at, common.list.len);
		}
		ws_buf_printf(out, "library %s %s\n", family[i]->soname, family[i]->python);
		if (family[i]->internals) {
			ws_buf_printf(out, "internals %s\n", family[i]->internals);
		}
		if (needs_differ) {
			put_needed(out, family[i]);
		}
		put_names(out, own.list.at, own.list.len);
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

static void
put_head(struct ws_buf *out, const struct ws_exports_maker *maker, struct ws_arena *a)
{
	ws_buf_puts(out, WS_EXPORTS_SCHEMA "\n");
	if (maker->release) {
		ws_buf_printf(out, "torch %s\n", maker->release);
	}
	WS_VEC(const char *) wheels = {0}, pythons = {0};
	for (size_t i = 0; i < maker->wheels.len; i++) {
		*ws_vec_push(&wheels, a) = maker->wheels.at[i];
	}
	for (size_t i = 0; i < maker->libraries.len; i++) {
		if (maker->libraries.at[i].python) {
			*ws_vec_push(&pythons, a) = maker->libraries.at[i].python;
		}
	}
	put_sorted(out, "wheel", wheels.at, wheels.len);
	put_sorted(out, "python", pythons.at, pythons.len);
}

void
ws_exports_text(const struct ws_exports_maker *maker, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	size_t count = maker->libraries.len;
	const struct library **sorted = WS_NEW_N(a, const struct library *, count);
	for (size_t i = 0; i < count; i++) {
		sorted[i] = &maker->libraries.at[i];
	}
	if (count > 0) {
		qsort(sorted, count, sizeof(sorted[0]), by_soname);
	}
	put_head(out, maker, a);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && ws_same(sorted[i]->soname, sorted[next]->soname);) {
			next++;
		}
		if (sorted[i]->python) {
			put_family(out, sorted + i, next - i);
			continue;
		}
		ws_buf_printf(out, "library %s\n", sorted[i]->soname);
		put_needed(out, sorted[i]);
		ws_buf_puts(out, sorted[i]->text);
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
