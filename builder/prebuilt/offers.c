/* offers.c - names of wheels from folders and from index pages, and the memory of those. Which of
 * them might serve is plan/candidate_order.h's. */
#include "prebuilt/offers.h"

#include "base/arena.h"
#include "base/fs.h"
#include "base/json.h"
#include "model/recipe.h"
#include "net/url.h"
#include "store/results.h"

#include <dirent.h>
#include <string.h>

#define SCHEMA "wheelsmith.offers/2"

typedef WS_VEC(struct ws_offered_wheel) wheel_list;

struct ws_offer_places
ws_offer_places_of(const struct ws_index_config *indexes, const struct ws_recipe *recipe)
{
	const struct ws_index_choice *choice =
		indexes ? ws_index_config_choice(indexes, "prebuilt") : NULL;
	bool nowhere = !choice && recipe->prebuilt_only && recipe->prebuilt_count == 0;
	if (nowhere && indexes) {
		choice = ws_index_config_choice(indexes, "default");
	}
	return choice ? (struct ws_offer_places){choice->urls, choice->count}
				  : (struct ws_offer_places){0};
}

static bool
is_ours(const char *file, const struct ws_recipe *recipe, struct ws_arena *a)
{
	struct ws_wheel_name name;
	const char *why;
	return ws_ends_with(file, ".whl") && ws_wheel_name_parse(file, a, &name, &why)
		&& ws_same(name.distribution, recipe->name)
		&& ws_version_cmp_public(&name.version, &recipe->version) == 0;
}

/* ---- folders ---- */

static int
cmp_files(const void *x, const void *y)
{
	return strcmp(
		((const struct ws_offered_wheel *)x)->file, ((const struct ws_offered_wheel *)y)->file);
}

static void
read_folder(
	const char *folder, const struct ws_recipe *recipe, struct ws_arena *a, wheel_list *list)
{
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t first = list->len;
	while (dir && (entry = readdir(dir))) {
		if (is_ours(entry->d_name, recipe, a)) {
			*ws_vec_push(list, a) = (struct ws_offered_wheel){
				.file = ws_arena_strdup(a, entry->d_name),
				.from = folder,
				.url = ws_path_join(a, folder, entry->d_name, NULL),
				.place = WS_PLACE_FOLDER,
			};
		}
	}
	if (list->len > first + 1) {
		qsort(list->at + first, list->len - first, sizeof(*list->at), cmp_files);
	}
}

/* ---- what an index had ---- */

static struct ws_digest
key_of(const char *place, const struct ws_recipe *recipe)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, SCHEMA);
	ws_hasher_add_field(h, place);
	ws_hasher_add_field(h, recipe->name);
	ws_hasher_add_field(h, recipe->version.text);
	return ws_hasher_finish(h);
}

static const char *
host_of(const char *url, struct ws_arena *a)
{
	struct ws_url parsed;
	return ws_url_parse(url, a, &parsed, NULL) ? parsed.host : url;
}

static const char *
origin_of(const char *url, struct ws_arena *a)
{
	struct ws_url parsed;
	return ws_url_parse(url, a, &parsed, NULL) ? parsed.origin : url;
}

static void
remember(const struct ws_store *store, const char *place, const struct ws_recipe *recipe,
	const struct ws_offered_wheel *at, size_t count)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_list(w, NULL);
	for (size_t i = 0; i < count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "file", at[i].file);
		ws_json_add_text(w, "url", at[i].url);
		ws_json_add_text(w, "sha256", at[i].sha256);
		ws_json_add_u64(w, "size", at[i].size_bytes);
		ws_json_close(w);
	}
	ws_json_finish(w, WS_JSON_COMPACT, &text);
	/* A memory that cannot be written costs asking again. */
	ws_results_put(store, key_of(place, recipe).hex, &text, NULL);
}

static bool
recall(const struct ws_store *store, const char *place, const struct ws_recipe *recipe,
	struct ws_arena *a, wheel_list *list)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_doc doc;
	const char *from = host_of(place, a);
	if (!ws_results_get(store, key_of(place, recipe).hex, &text)
		|| !ws_json_parse(
			"offers", ws_buf_copy(&text, a), text.len, WS_JSON_STRICT, a, &doc, NULL)) {
		return false;
	}
	for (const struct ws_json *item = doc.root->first; item; item = item->next) {
		struct ws_offered_wheel wheel = {
			.file = ws_json_text(item, "file"),
			.from = from,
			.url = ws_json_text(item, "url"),
			.sha256 = ws_json_text(item, "sha256"),
			.place = WS_PLACE_INDEX,
		};
		if (wheel.file && wheel.url && ws_json_u64(item, "size", &wheel.size_bytes)) {
			*ws_vec_push(list, a) = wheel;
		}
	}
	return true;
}

/* ---- asking ---- */

static void
read_page(const struct ws_store *store, const char *place, const struct ws_recipe *recipe,
	const struct ws_index_page *page, struct ws_arena *a, wheel_list *list)
{
	size_t first = list->len;
	for (size_t i = 0; page && i < page->count; i++) {
		const struct ws_index_file *file = &page->files[i];
		if (!file->is_yanked && is_ours(file->name, recipe, a)) {
			*ws_vec_push(list, a) = (struct ws_offered_wheel){
				.file = file->name,
				.from = host_of(place, a),
				.url = file->url,
				.sha256 = file->sha256[0] ? file->sha256 : NULL,
				.size_bytes = file->size_bytes,
				.place = WS_PLACE_INDEX,
			};
		}
	}
	remember(store, place, recipe, list->at + first, list->len - first);
}

struct ws_offered
ws_offers_recall(const struct ws_store *store, const struct ws_offer_places *places,
	const struct ws_recipe *recipe, struct ws_arena *a)
{
	wheel_list list = {0};
	bool complete = true;
	for (size_t i = 0; i < places->count; i++) {
		if (ws_index_place_is_folder(places->at[i])) {
			read_folder(places->at[i], recipe, a, &list);
		} else {
			complete = recall(store, places->at[i], recipe, a, &list) && complete;
		}
	}
	return (struct ws_offered){list.at, list.len, complete};
}

bool
ws_offers_ask(const struct ws_fetch *fetch, const struct ws_offer_places *places,
	const struct ws_recipe *recipe, struct ws_map *warned, struct ws_arena *a,
	struct ws_offered *offered, struct ws_err *err)
{
	wheel_list list = {0};
	*offered = (struct ws_offered){.complete = true};
	for (size_t i = 0; i < places->count; i++) {
		const char *place = places->at[i];
		const struct ws_index_page *page;
		struct ws_err why = {0};
		if (ws_index_place_is_folder(place)) {
			read_folder(place, recipe, a, &list);
			continue;
		}
		if (ws_index_page(fetch->index, place, recipe->name, &page, &why)) {
			read_page(fetch->store, place, recipe, page, a, &list);
			continue;
		}
		if (ws_err_is_stop(&why)) {
			*err = why;
			return false;
		}
		bool known = recall(fetch->store, place, recipe, a, &list);
		offered->complete = offered->complete && known;
		if (ws_map_add(warned, origin_of(place, a), a)) {
			ws_events_warn(fetch->events, "prebuilt wheels: %s", why.text);
		}
	}
	offered->at = list.at;
	offered->count = list.len;
	return true;
}

/* ---- which bytes a URL gave ---- */

static struct ws_digest
key_of_url(const char *url)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, SCHEMA " gave");
	ws_hasher_add_field(h, url);
	return ws_hasher_finish(h);
}

const char *
ws_offers_digest(const struct ws_store *store, const char *url, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_digest digest;
	return ws_results_get(store, key_of_url(url).hex, &text)
			&& ws_digest_parse(ws_buf_text(&text), &digest)
		? ws_arena_strdup(a, digest.hex)
		: NULL;
}

void
ws_offers_learn(const struct ws_store *store, const char *url, const char *sha256)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *known = ws_offers_digest(store, url, a);
	if (!known || !ws_same(known, sha256)) {
		ws_buf_puts(&text, sha256);
		ws_results_put(store, key_of_url(url).hex, &text, NULL);
	}
}
