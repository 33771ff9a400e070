#include "prebuilt/index_wheels.h"

#include "base/fs.h"
#include "base/table.h"
#include "net/url.h"
#include "store/results.h"

#define SCHEMA "wheelsmith.index-wheels/3"

typedef WS_VEC(struct ws_candidate) wheel_list;

struct ws_wheel_places
ws_wheel_places_of(const struct ws_index_config *indexes, const struct ws_recipe *recipe)
{
	const struct ws_index_choice *choice =
		indexes ? ws_index_config_choice(indexes, "prebuilt") : NULL;
	if (!choice && indexes && recipe->prebuilt_only && recipe->prebuilt_count == 0) {
		choice = ws_index_config_choice(indexes, "default");
	}
	return choice ? (struct ws_wheel_places){choice->urls, choice->count}
				  : (struct ws_wheel_places){0};
}

bool
ws_index_wheel_parse(const char *file, const struct ws_recipe *recipe, struct ws_arena *a,
	struct ws_candidate *wheel)
{
	struct ws_wheel_name name;
	const char *why;
	if (!ws_ends_with(file, ".whl") || !ws_wheel_name_parse(file, a, &name, &why)
		|| ws_version_cmp_public(&name.version, &recipe->version) != 0
		|| !ws_same(name.distribution, recipe->name)) {
		return false;
	}
	struct ws_wheel_name *kept = WS_NEW(a, struct ws_wheel_name);
	*kept = name;
	*wheel = (struct ws_candidate){
		.file = file,
		.name = kept,
		.label = ws_wheel_label_read(name.version.local, a),
	};
	return true;
}

/* ---- folders ---- */

static int
cmp_files(const void *x, const void *y)
{
	return strcmp(((const struct ws_candidate *)x)->file, ((const struct ws_candidate *)y)->file);
}

static void
list_folder(
	const char *folder, const struct ws_recipe *recipe, struct ws_arena *a, wheel_list *list)
{
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t first = list->len;
	struct ws_candidate wheel;
	while (dir && (entry = readdir(dir))) {
		if (ws_index_wheel_parse(entry->d_name, recipe, a, &wheel)) {
			wheel.file = ws_arena_strdup(a, entry->d_name);
			wheel.from = folder;
			wheel.url = wheel.origin = ws_path_join(a, folder, wheel.file, NULL);
			wheel.place = WS_PLACE_FOLDER;
			*ws_vec_push(list, a) = wheel;
		}
	}
	if (list->len > first + 1) {
		qsort(list->at + first, list->len - first, sizeof(*list->at), cmp_files);
	}
}

/* ---- indexes ---- */

/* The list of an index, as the store remembers it: a page with the package's wheels alone. */
#define FILE_OF struct ws_index_file
static const struct ws_field file_fields[] = {
	WS_VALUE("file", FILE_OF, name, WS_ALWAYS, "file name"),
	WS_VALUE("url", FILE_OF, url, WS_ALWAYS, "its address"),
	WS_VALUE("sha256", FILE_OF, sha256, WS_IF_ANY, "digest that the index promises"),
	WS_VALUE("size", FILE_OF, size_bytes, WS_IF_ANY, "size that the index promises"),
};
static const struct ws_table file_table = {"a wheel", file_fields, WS_LEN(file_fields)};
static const struct ws_field list_fields[] = {
	WS_LIST_OF(
		"wheels", struct ws_index_page, files, count, file_table, WS_ALWAYS, "wheels of a package"),
};
static const struct ws_table list_table = {"wheels of an index", list_fields, WS_LEN(list_fields)};

/* The name of a list in the store. */
static struct ws_digest
list_key(const char *place, const struct ws_recipe *recipe, struct ws_arena *a)
{
	const char *key =
		ws_arena_printf(a, SCHEMA "\n%s\n%s\n%s", place, recipe->name, recipe->version.text);
	return ws_digest_bytes(key, strlen(key));
}

static const char *
host_of(const char *url, struct ws_arena *a)
{
	struct ws_url parsed;
	return ws_url_parse(url, a, &parsed, NULL) ? parsed.host : url;
}

/* The package's wheels on one page, which the store keeps: a failed write costs one more request.
 * @page NULL: as the store remembers them; false: it does not. */
static bool
list_index(const struct ws_store *store, const char *place, const struct ws_recipe *recipe,
	const struct ws_index_page *page, struct ws_arena *a, wheel_list *list)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_digest key = list_key(place, recipe, a);
	struct ws_index_page known = page ? *page : (struct ws_index_page){0};
	if (!page
		&& (!ws_results_get(store, key.hex, &text)
			|| !ws_table_parse("index", ws_buf_str(&text), &list_table, a, &known, NULL))) {
		return false;
	}
	struct ws_index_file *kept = WS_NEW_N(a, struct ws_index_file, known.count + 1);
	size_t count = 0;
	for (size_t i = 0; i < known.count; i++) {
		struct ws_index_file file = known.files[i];
		struct ws_candidate wheel;
		if (file.is_yanked || !ws_index_wheel_parse(file.name, recipe, a, &wheel)) {
			continue;
		}
		file.sha256 = file.sha256 && file.sha256[0] ? file.sha256 : NULL;
		kept[count++] = file;
		wheel.from = host_of(place, a);
		wheel.url = file.url;
		wheel.origin = ws_url_bare(file.url, a);
		wheel.sha256 = file.sha256;
		wheel.size_bytes = file.size_bytes;
		wheel.place = WS_PLACE_INDEX;
		*ws_vec_push(list, a) = wheel;
	}
	if (page) {
		known.files = kept;
		known.count = count;
		ws_table_text(&list_table, &known, WS_JSON_COMPACT, &text);
		ws_results_put(store, key.hex, &text, NULL);
	}
	return true;
}

/* ---- all places of a package ---- */

/* Is the pinned wheel in the list, by its bytes or origin, or does a template name it? */
static bool
is_known(const wheel_list *list, const struct ws_recipe *recipe, const struct ws_pin_prebuilt *pin)
{
	for (size_t i = 0; i < list->len; i++) {
		const struct ws_candidate *wheel = &list->at[i];
		if (ws_same(wheel->file, pin->wheel)
			&& (ws_same(wheel->sha256, pin->sha256) || ws_same(wheel->origin, pin->from))) {
			return true;
		}
	}
	for (size_t i = 0; i < recipe->prebuilt_count; i++) {
		const char *url = recipe->prebuilt[i].url;
		if (strncmp(pin->from, url, strcspn(url, "{")) == 0) {
			return true;
		}
	}
	return false;
}

static void
add_pinned(const struct ws_lock *lock, const struct ws_recipe *recipe, struct ws_arena *a,
	wheel_list *list)
{
	for (size_t i = 0; i < lock->prebuilt.len; i++) {
		const struct ws_pin_prebuilt *pin = &lock->prebuilt.at[i];
		struct ws_candidate wheel;
		if (!ws_index_wheel_parse(pin->wheel, recipe, a, &wheel) || is_known(list, recipe, pin)) {
			continue;
		}
		bool folder = ws_index_place_is_folder(pin->from);
		wheel.from = folder ? ws_path_dir(a, pin->from) : host_of(pin->from, a);
		wheel.url = wheel.origin = pin->from;
		wheel.sha256 = pin->sha256;
		wheel.place = folder ? WS_PLACE_FOLDER : WS_PLACE_INDEX;
		*ws_vec_push(list, a) = wheel;
	}
}

bool
ws_index_pages_read(const struct ws_fetch *fetch, const struct ws_wheel_places *places,
	const char *package, struct ws_map *warned, struct ws_arena *a,
	const struct ws_index_page ***pages, struct ws_err *err)
{
	static const struct ws_index_page empty;
	*pages = WS_NEW_N(a, const struct ws_index_page *, places->count + 1);
	for (size_t i = 0; i < places->count; i++) {
		const char *place = places->at[i];
		const struct ws_index_page *page;
		struct ws_err why = {0};
		struct ws_url url;
		if (ws_index_place_is_folder(place)) {
			continue;
		}
		if (ws_index_page(fetch->index, place, package, &page, &why)) {
			(*pages)[i] = page ? page : &empty;
			continue;
		}
		if (ws_err_is_stop(&why)) {
			*err = why;
			return false;
		}
		if (ws_map_add(warned, ws_url_parse(place, a, &url, NULL) ? url.origin : place, a)) {
			ws_events_warn(fetch->events, "prebuilt wheels: %s", why.text);
		}
	}
	return true;
}

struct ws_index_wheels
ws_index_wheels_list(const struct ws_store *store, const struct ws_wheel_places *places,
	const struct ws_index_page *const *pages, const struct ws_lock *lock,
	const struct ws_recipe *recipe, struct ws_arena *a)
{
	wheel_list list = {0};
	bool complete = true;
	for (size_t i = 0; i < places->count; i++) {
		if (ws_index_place_is_folder(places->at[i])) {
			list_folder(places->at[i], recipe, a, &list);
		} else {
			const struct ws_index_page *page = pages ? pages[i] : NULL;
			complete = list_index(store, places->at[i], recipe, page, a, &list) && complete;
		}
	}
	add_pinned(lock, recipe, a, &list);
	return (struct ws_index_wheels){list.at, list.len, complete};
}

/* ---- digests of files that URLs returned ---- */

static struct ws_digest
url_key(const char *url, struct ws_arena *a)
{
	const char *key = ws_arena_printf(a, "wheelsmith.url-digest/1\n%s", url);
	return ws_digest_bytes(key, strlen(key));
}

const char *
ws_url_digest_recall(const struct ws_store *store, const char *url, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_digest digest, key = url_key(url, a);
	return ws_results_get(store, key.hex, &text) && ws_digest_parse(ws_buf_text(&text), &digest)
		? ws_arena_strdup(a, digest.hex)
		: NULL;
}

void
ws_url_digest_remember(const struct ws_store *store, const char *url, const char *sha256)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_same(ws_url_digest_recall(store, url, a), sha256)) {
		ws_buf_puts(&text, sha256);
		ws_results_put(store, url_key(url, a).hex, &text, NULL);
	}
}
