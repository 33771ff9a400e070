/* torch_wheel.c - from the pages of an index to the wheels of one build, and what to say when there
 * are none. */
#include "kit/torch/torch_wheel.h"

#include "net/index_config.h"

#include <limits.h>

#define PACKAGE "torch"

/* False: the wheel is for a different system or interpreter. */
static bool
take_wheel(const struct ws_index_wheel *from, const struct ws_machine *machine,
	struct ws_torch_wheel *wheel)
{
	const struct ws_wheel_name *name = &from->name;
	*wheel = (struct ws_torch_wheel){.file = from->file, .version = name->version};
	bool here = false;
	for (size_t i = 0; i < name->platform_count && !here; i++) {
		const char *platform = name->platforms[i];
		here = (ws_starts_with(platform, "linux_") || ws_starts_with(platform, "manylinux"))
			&& ws_ends_with(platform, machine->name);
	}
	/* torch names one CPython and its own ABI: "cp313-cp313t". */
	return here && name->python_count == 1 && name->abi_count == 1
		&& ws_starts_with(name->pythons[0], "cp")
		&& ws_python_tag_parse(name->abis[0], &wheel->python);
}

/* ---- which build ---- */

/* How much a build is wanted by somebody who named none: "cpu", "rocm6.2" and the like never. */
static unsigned long
worth_of(const char *label, const char *standard)
{
	if (!label) {
		return ULONG_MAX;
	}
	unsigned long cuda = ws_starts_with(label, "cu") ? strtoul(label + 2, NULL, 10) : 0;
	return strcmp(label, standard) == 0 ? ULONG_MAX - 1 : cuda;
}

static int
cmp_python(const struct ws_python_tag *x, const struct ws_python_tag *y)
{
	if (x->minor != y->minor) {
		return x->minor < y->minor ? -1 : 1;
	}
	return x->free_threaded - y->free_threaded;
}

static void
insert(ws_torch_wheel_list *list, const struct ws_torch_wheel *wheel, struct ws_arena *a)
{
	size_t at = 0;
	while (at < list->len && cmp_python(&list->at[at].python, &wheel->python) < 0) {
		at++;
	}
	if (at < list->len && cmp_python(&list->at[at].python, &wheel->python) == 0) {
		/* A file that was not yanked before one that was, then by name: indexes may have both. */
		const struct ws_index_file *x = wheel->file, *y = list->at[at].file;
		if (x->is_yanked != y->is_yanked ? y->is_yanked : strcmp(x->name, y->name) < 0) {
			list->at[at] = *wheel;
		}
		return;
	}
	ws_vec_push(list, a);
	memmove(&list->at[at + 1], &list->at[at], (list->len - 1 - at) * sizeof(*list->at));
	list->at[at] = *wheel;
}

/* ---- what there is instead ---- */

typedef WS_VEC(struct ws_version) version_list;

static int
cmp_versions(const void *x, const void *y)
{
	return ws_version_cmp(x, y);
}

/* Every release that has a wheel for @a machine, ascending, each once; @a any counts files of
 * whatever kind that are of @a wanted. */
static version_list
list_releases(const struct ws_index_page *const *pages, size_t count,
	const struct ws_version *wanted, const struct ws_machine *machine, size_t *any,
	struct ws_arena *a)
{
	version_list all = {0};
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < pages[i]->count; k++) {
			const char *file = pages[i]->files[k].name, *why;
			struct ws_index_wheel found = {0};
			struct ws_torch_wheel wheel;
			if (!ws_ends_with(file, ".whl") || !ws_wheel_name_parse(file, a, &found.name, &why)) {
				continue;
			}
			struct ws_version version = found.name.version;
			*any += ws_version_cmp_public(&version, wanted) == 0;
			if (take_wheel(&found, machine, &wheel)
				&& (wanted->local || ws_version_parse(version.public_text, a, &version))) {
				*ws_vec_push(&all, a) = version;
			}
		}
	}
	if (all.len > 1) {
		qsort(all.at, all.len, sizeof(*all.at), cmp_versions);
	}
	size_t once = 0;
	for (size_t i = 0; i < all.len; i++) {
		if (i == 0 || ws_version_cmp(&all.at[i], &all.at[once - 1]) != 0) {
			all.at[once++] = all.at[i];
		}
	}
	all.len = once;
	return all;
}

/* Two below and two above. */
static void
cure_nearest(const version_list *releases, const struct ws_version *wanted, struct ws_arena *a,
	struct ws_err *err)
{
	const char **names = WS_NEW_N(a, const char *, releases->len);
	size_t above = 0;
	for (size_t i = 0; i < releases->len; i++) {
		names[i] = releases->at[i].text;
		above += ws_version_cmp(&releases->at[i], wanted) < 0;
	}
	const char *meant = ws_suggest(wanted->text, names, releases->len);
	if (meant) {
		ws_err_cure(err, "did you mean \"%s\"?", meant);
	}
	WS_AUTO_BUF struct ws_buf near = {0};
	for (size_t i = above > 2 ? above - 2 : 0; i < releases->len && i < above + 2; i++) {
		ws_buf_printf(&near, "%s%s", near.len > 0 ? ", " : "", names[i]);
	}
	if (near.len > 0) {
		ws_err_cure(err, "available: %s", ws_buf_text(&near));
	}
}

static bool
fail_none(const struct ws_fetch *fetch, const struct ws_index_list *list,
	const struct ws_version *wanted, const struct ws_machine *machine, struct ws_arena *a,
	struct ws_err *err)
{
	const struct ws_index_page **pages;
	size_t count, any = 0;
	if (!ws_index_pages(fetch->index, list, PACKAGE, &pages, &count, err)) {
		return false;
	}
	version_list releases = list_releases(pages, count, wanted, machine, &any, a);
	if (count == 0) {
		ws_err_set(err, WS_ERR_CONFIG, "no index has a package '" PACKAGE "'");
		ws_index_cure_asked(fetch->index, list, PACKAGE, err);
	} else if (any > 0 && !wanted->local) {
		ws_err_set(err, WS_ERR_CONFIG, "torch '%s' has no CUDA wheel for CPython on %s Linux",
			wanted->text, machine->name);
	} else {
		ws_err_set(err, WS_ERR_CONFIG, "no index has torch '%s'", wanted->text);
	}
	cure_nearest(&releases, wanted, a, err);
	if (wanted->local || count == 0) {
		ws_err_cure_code(err, WS_CURE_INDEX, PACKAGE);
	}
	return false;
}

static bool
list_wheels(const struct ws_fetch *fetch, const struct ws_index_list *list,
	const struct ws_version *version, const struct ws_machine *machine, struct ws_arena *a,
	ws_torch_wheel_list *all, struct ws_err *err)
{
	const struct ws_index_wheel *found;
	size_t count;
	if (!ws_index_wheels(fetch->index, list, PACKAGE, version, &found, &count, err)) {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		struct ws_torch_wheel wheel;
		if (take_wheel(&found[i], machine, &wheel)) {
			*ws_vec_push(all, a) = wheel;
		}
	}
	return true;
}

bool
ws_torch_wheels_find(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const struct ws_version *version, const struct ws_machine *machine, struct ws_arena *a,
	ws_torch_wheel_list *wheels, struct ws_err *err)
{
	struct ws_index_list list = ws_index_config_list(fetch->indexes, PACKAGE, a);
	const struct ws_torch_release *release = ws_facts_torch(facts, version);
	const char *standard = release ? ws_cuda_label(release->standard.cuda, a) : "";
	const char *build = version->local;
	ws_torch_wheel_list all = {0};
	if (list.count == 0) {
		ws_err_set(err, WS_ERR_CONFIG, "no package index is configured");
		return ws_err_cure_code(err, WS_CURE_INDEX, NULL);
	}
	if (!list_wheels(fetch, &list, version, machine, a, &all, err)) {
		return false;
	}
	if (all.len == 0 && ws_same(version->local, standard)) {
		/* "2.5.1+cu124" is, by the facts, what the wheels without a label are. */
		struct ws_version plain;
		if (!ws_version_parse(version->public_text, a, &plain)
			|| !list_wheels(fetch, &list, &plain, machine, a, &all, err)) {
			return false;
		}
		build = NULL;
	} else if (!version->local) {
		unsigned long worth = 0;
		build = "";
		for (size_t i = 0; i < all.len; i++) {
			const char *label = all.at[i].version.local;
			if (worth_of(label, standard) > worth) {
				worth = worth_of(label, standard);
				build = label;
			}
		}
	}
	for (size_t i = 0; i < all.len; i++) {
		if (ws_same(all.at[i].version.local, build)) {
			insert(wheels, &all.at[i], a);
		}
	}
	return wheels->len > 0 || fail_none(fetch, &list, version, machine, a, err);
}

const struct ws_torch_wheel *
ws_torch_wheels_choose(const ws_torch_wheel_list *wheels, const struct ws_python_tag *python)
{
	static const struct ws_python_tag usual_python = {.major = 3, .minor = 11};
	const struct ws_torch_wheel *newest = &wheels->at[0], *usual = NULL;
	for (size_t i = 0; i < wheels->len; i++) {
		const struct ws_torch_wheel *wheel = &wheels->at[i];
		if (cmp_python(&wheel->python, python) == 0) {
			return wheel;
		}
		usual = cmp_python(&wheel->python, &usual_python) == 0 ? wheel : usual;
		newest = wheel->python.free_threaded && !newest->python.free_threaded ? newest : wheel;
	}
	return usual ? usual : newest;
}
