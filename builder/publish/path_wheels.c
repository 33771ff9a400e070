#include "publish/catalog.h"

/* A path that is being filled. */
struct path {
	const char *name;
	struct ws_wheel_label wants; /* without archs: of all */
};

/* A wheel that fits a path. */
struct candidate {
	const struct ws_index_entry *entry;
	const struct ws_wheel_label *place; /* by which it does; NULL: it is Python only */
	unsigned rank;                      /* higher for more dependencies */
	int fit;                            /* to the architectures of the path; higher is better */
	bool own_cuda;                      /* that of the path */
};

typedef WS_VEC(struct candidate) candidates;
typedef WS_VEC(const struct ws_index_entry *) entries;
typedef WS_VEC(struct path) paths;

struct making {
	const struct ws_index_catalog *catalog;
	struct ws_arena *a;
	struct ws_map names; /* of paths that are there */
	paths paths;
};

/* ---- which paths there are ---- */

static void
add_path(struct making *m, struct ws_wheel_label wants, struct ws_arch_set archs)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	ws_buf_puts(&b, "cu");
	for (const char *c = wants.cuda; *c; c++) {
		ws_buf_add(&b, c, *c != '.');
	}
	if (wants.torch) {
		ws_buf_printf(&b, "-torch%s", wants.torch);
	}
	if (wants.cxx11abi >= 0) {
		ws_buf_printf(&b, "-abi%d", wants.cxx11abi);
	}
	for (const char *c = wants.torch_cuda ? wants.torch_cuda : ""; *c; c++) {
		ws_buf_puts(&b, c == wants.torch_cuda ? "-tcu" : "");
		ws_buf_add(&b, c, *c != '.');
	}
	if (archs.count > 0) {
		ws_buf_printf(&b, "-sm%s", ws_arch_set_label(&archs, m->a) + strlen("sm."));
	}
	const char *name = ws_buf_copy(&b, m->a);
	wants.archs = archs;
	if (ws_map_add(&m->names, name, m->a)) {
		*ws_vec_push(&m->paths, m->a) = (struct path){name, wants};
	}
}

/* ---- what fits ---- */

static unsigned long
major_of(const char *cuda)
{
	return strtoul(cuda, NULL, 10);
}

/* "2.10" and "2.9": <0, 0, >0. */
static int
cmp_minors(const char *x, const char *y, struct ws_arena *a)
{
	struct ws_arena_mark mark = ws_arena_mark(a);
	struct ws_version left, right;
	bool read = ws_version_parse(x, a, &left) && ws_version_parse(y, a, &right);
	int order = read ? ws_version_cmp(&left, &right) : strcmp(x, y);
	ws_arena_rewind(a, mark);
	return order;
}

/* 0: does not load there. */
static unsigned
rank_of(enum ws_index_kind kind, const struct ws_wheel_label *place,
	const struct ws_wheel_label *wants, struct ws_arena *a)
{
	bool same_major = place && place->cuda && major_of(place->cuda) == major_of(wants->cuda);
	switch (kind) {
	case WS_INDEX_UNPLACED:
		return 0;
	case WS_INDEX_NONE:
		return 1;
	case WS_INDEX_C_ABI:
		return same_major                                                                ? 3
			: place && place->cuda && major_of(place->cuda) + 1 == major_of(wants->cuda) ? 2
																						 : 0;
	case WS_INDEX_STABLE:
		return same_major && place->torch && wants->torch
				&& cmp_minors(place->torch, wants->torch, a) <= 0
			? 4
			: 0;
	case WS_INDEX_BOUND:
		return place && ws_same(place->cuda, wants->cuda) && ws_same(place->torch, wants->torch)
				&& place->cxx11abi == wants->cxx11abi
				&& ws_same(place->torch_cuda, wants->torch_cuda)
			? 5
			: 0;
	}
	return 0;
}

/* 3: for exactly these architectures; 2: code or PTX for each; 1: runs on each; 0: it does not. */
static int
fit_of(const struct ws_arch_set *has, const struct ws_arch_set *wants)
{
	size_t own = 0, able = 0;
	for (size_t i = 0; i < wants->count; i++) {
		bool is_own = false, runs = false;
		for (size_t j = 0; j < has->count; j++) {
			is_own = is_own || has->at[j].number == wants->at[i].number;
			runs = runs || ws_arch_may_run(&has->at[j], &wants->at[i]);
		}
		own += is_own;
		able += runs;
	}
	if (able < wants->count && !ws_arch_set_eq(has, wants)) {
		return 0;
	}
	return own < wants->count ? 1 : has->count == wants->count ? 3 : 2;
}

/* Adds the wheel by the best of its places, if it has more dependencies than those in @a found or
 * as many; fewer are no longer candidates then. */
static void
add_candidate(const struct making *m, const struct path *path, const struct ws_index_entry *entry,
	candidates *found)
{
	struct candidate best = {.entry = entry};
	for (size_t i = 0; i < entry->place_count || i == 0; i++) {
		const struct ws_wheel_label *place = entry->place_count ? &entry->places[i] : NULL;
		unsigned rank = rank_of(entry->kind, place, &path->wants, m->a);
		bool by_archs = path->wants.archs.count > 0 && place && place->archs.count > 0;
		int fit = by_archs ? fit_of(&place->archs, &path->wants.archs) : 1;
		if (fit > 0 && (rank > best.rank || (rank == best.rank && fit > best.fit))) {
			best = (struct candidate){
				entry, place, rank, fit, place && ws_same(place->cuda, path->wants.cuda)};
		}
	}
	unsigned most = found->len > 0 ? found->at[0].rank : 1;
	found->len = best.rank > most ? 0 : found->len;
	if (best.rank >= most) {
		*ws_vec_push(found, m->a) = best;
	}
}

/* Returns the end of the release at index @a from: one after its last entry. */
static size_t
end_of_release(const struct ws_index_catalog *catalog, size_t from)
{
	const struct ws_wheel_name *first = &catalog->entries.at[from].name;
	size_t to = from + 1;
	while (to < catalog->entries.len
		&& ws_same(catalog->entries.at[to].name.distribution, first->distribution)
		&& ws_version_cmp_public(&catalog->entries.at[to].name.version, &first->version) == 0) {
		to++;
	}
	return to;
}

/* ---- which of them answers ---- */

/* They differ in architectures and support a common Python. */
static bool
differ_in_archs(const struct candidate *x, const struct candidate *y)
{
	return (x->entry->pythons & y->entry->pythons) && x->place && y->place
		&& x->place->archs.count > 0 && y->place->archs.count > 0
		&& !ws_arch_set_eq(&x->place->archs, &y->place->archs);
}

/* Preferred candidates first. */
static int
cmp_candidates(const void *x, const void *y, void *arena)
{
	const struct candidate *left = x;
	const struct candidate *right = y;
	bool torch = left->place && right->place && left->place->torch && right->place->torch;
	int order = right->fit - left->fit;
	order = order || !torch ? order : cmp_minors(right->place->torch, left->place->torch, arena);
	order = order ? order : right->own_cuda - left->own_cuda;
	order = order ? order : strcmp(left->entry->uploaded, right->entry->uploaded);
	const char *label = left->entry->name.version.local;
	const char *other = right->entry->name.version.local;
	size_t len = label ? strlen(label) : 0, other_len = other ? strlen(other) : 0;
	order = order ? order : (len > other_len) - (len < other_len);
	return order ? order : strcmp(left->entry->file, right->entry->file);
}

static void
choose(const struct making *m, bool by_archs, candidates *found, entries *chosen)
{
	uint64_t answered = 0;
	if (found->len > 0) {
		qsort_r(found->at, found->len, sizeof(*found->at), cmp_candidates, m->a);
	}
	for (size_t i = 0; i < found->len; i++) {
		const struct candidate *c = &found->at[i];
		bool open = !(c->entry->pythons & answered);
		/* Another one was published before it, or together with it. */
		for (size_t j = 0; j < found->len && open && !by_archs; j++) {
			open = !differ_in_archs(c, &found->at[j])
				|| strcmp(found->at[j].entry->uploaded, c->entry->uploaded) > 0;
		}
		if (open) {
			answered |= c->entry->pythons;
			*ws_vec_push(chosen, m->a) = c->entry;
		}
	}
}

static int
cmp_places(const void *x, const void *y)
{
	const struct ws_index_entry *left = *(const struct ws_index_entry *const *)x;
	const struct ws_index_entry *right = *(const struct ws_index_entry *const *)y;
	return left < right ? -1 : left > right;
}

static struct ws_index_path
answers_of(const char *path, entries *chosen)
{
	if (chosen->len > 0) {
		qsort(chosen->at, chosen->len, sizeof(*chosen->at), cmp_places);
	}
	return (struct ws_index_path){path, chosen->at, chosen->len};
}

/* Adds a path for each architecture, and one for each set that this path cannot distinguish. */
static void
add_arch_paths(struct making *m, const struct path *path, const candidates *found)
{
	for (size_t i = 0; i < found->len; i++) {
		const struct ws_arch_set *archs = found->at[i].place ? &found->at[i].place->archs : NULL;
		bool differs = false;
		for (size_t j = 0; archs && j < archs->count; j++) {
			struct ws_arch *one = WS_NEW(m->a, struct ws_arch);
			*one = (struct ws_arch){.number = archs->at[j].number};
			add_path(m, path->wants, (struct ws_arch_set){one, 1});
		}
		for (size_t j = 0; j < found->len && !differs; j++) {
			differs = differ_in_archs(&found->at[i], &found->at[j]);
		}
		if (differs) {
			add_path(m, path->wants, *archs);
		}
	}
}

static int
cmp_answers(const void *x, const void *y)
{
	return strcmp(((const struct ws_index_path *)x)->path, ((const struct ws_index_path *)y)->path);
}

const struct ws_index_path *
ws_index_paths(const struct ws_index_catalog *catalog, struct ws_arena *a, size_t *count)
{
	struct making m = {.catalog = catalog, .a = a};
	WS_VEC(struct ws_index_path) all = {0};
	for (size_t i = 0; i < catalog->entries.len; i++) {
		const struct ws_index_entry *entry = &catalog->entries.at[i];
		for (size_t j = 0; j < entry->place_count; j++) {
			if (entry->places[j].cuda && entry->kind != WS_INDEX_UNPLACED) {
				add_path(&m, entry->places[j], (struct ws_arch_set){0});
			}
		}
	}
	for (size_t i = 0; i < m.paths.len; i++) { /* grows while it is filled */
		const struct path path = m.paths.at[i];
		bool by_archs = path.wants.archs.count > 0;
		entries chosen = {0};
		for (size_t from = 0, to; from < catalog->entries.len; from = to) {
			candidates found = {0};
			to = end_of_release(catalog, from);
			for (size_t j = from; j < to; j++) {
				add_candidate(&m, &path, &catalog->entries.at[j], &found);
			}
			if (!by_archs) {
				add_arch_paths(&m, &path, &found);
			}
			choose(&m, by_archs, &found, &chosen);
		}
		*ws_vec_push(&all, a) = answers_of(path.name, &chosen);
	}
	if (all.len > 0) {
		qsort(all.at, all.len, sizeof(*all.at), cmp_answers);
	}
	*count = all.len;
	return all.at;
}

/* ---- wheel variants ---- */

/* Among entries [from, to), one release, the wheels with this label; NULL: without one. */
static void
choose_labelled(const struct making *m, size_t from, size_t to, const char *label, entries *chosen)
{
	candidates found = {0};
	for (size_t i = from; i < to; i++) {
		const struct ws_index_entry *entry = &m->catalog->entries.at[i];
		bool is_labelled = label ? entry->variant && ws_same(entry->variant->label, label)
								 : !entry->variant && entry->kind == WS_INDEX_NONE;
		if (is_labelled) {
			const struct ws_wheel_label *place = label ? entry->places : NULL;
			*ws_vec_push(&found, m->a) = (struct candidate){.entry = entry, .place = place};
		}
	}
	choose(m, true, &found, chosen); /* a label implies the architectures */
}

struct ws_index_path
ws_index_variant_answers(const struct ws_index_catalog *catalog, struct ws_arena *a)
{
	struct making m = {.catalog = catalog, .a = a};
	entries chosen = {0};
	for (size_t from = 0, to; from < catalog->entries.len; from = to) {
		struct ws_map labels = {0};
		to = end_of_release(catalog, from);
		for (size_t i = from; i < to; i++) {
			const struct ws_index_variant *v = catalog->entries.at[i].variant;
			if (v && ws_map_add(&labels, v->label, a)) {
				choose_labelled(&m, from, to, v->label, &chosen);
			}
		}
		choose_labelled(&m, from, to, NULL, &chosen);
	}
	return answers_of(WS_INDEX_VARIANTS, &chosen);
}
