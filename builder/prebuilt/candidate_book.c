/* candidate_book.c - see candidate_book.h. What came of a candidate lies in the store under the wheel
 * and the place it was judged for; judging is candidates.c's. */
#include "prebuilt/candidate_book.h"

#include "base/fs.h"
#include "net/index_config.h"
#include "net/url.h"
#include "store/results.h"

#include <string.h>

#define SCHEMA "wheelsmith.candidate/2"

/* What is known of a candidate for a product. */
struct note {
	enum ws_candidate_state state;
	const char *sha256; /* of the wheel; NULL: it was not fetched */
	const char *why;
};

struct ws_candidate_book *
ws_candidate_book_open(
	const struct ws_context *ctx, struct ws_pins *pins, const struct ws_matrix *matrix)
{
	struct ws_candidate_book *book = WS_NEW(ctx->a, struct ws_candidate_book);
	book->ctx = ctx;
	book->pins = pins;
	book->a = ctx->a;
	book->matrix = matrix;
	return book;
}

/* ---- what places have ---- */

/* A template of the recipe names it: it is a candidate by that. */
static bool
is_published(const struct ws_recipe *recipe, const struct ws_pin_prebuilt *pin)
{
	for (size_t i = 0; i < recipe->prebuilt_count; i++) {
		const char *url = recipe->prebuilt[i].url;
		if (strncmp(pin->from, url, strcspn(url, "{")) == 0) {
			return true;
		}
	}
	return false;
}

static bool
is_offered(const struct ws_offered *offered, const char *file)
{
	for (size_t i = 0; i < offered->count; i++) {
		if (ws_same(offered->at[i].file, file)) {
			return true;
		}
	}
	return false;
}

/* What the lock pins is known without asking the index that had it. */
static struct ws_offered
add_pinned(struct ws_candidate_book *book, const struct ws_recipe *recipe,
	const struct ws_offered *offered)
{
	const struct ws_lock *lock = &book->pins->lock;
	WS_VEC(struct ws_offered_wheel) all = {0};
	for (size_t i = 0; i < offered->count; i++) {
		*ws_vec_push(&all, book->a) = offered->at[i];
	}
	for (size_t i = 0; i < lock->prebuilt.len; i++) {
		const struct ws_pin_prebuilt *pin = &lock->prebuilt.at[i];
		bool folder = ws_index_place_is_folder(pin->from);
		struct ws_url url;
		if (ws_same(pin->package, recipe->name) && ws_same(pin->version, recipe->version.text)
			&& !is_offered(offered, pin->wheel) && !is_published(recipe, pin)) {
			*ws_vec_push(&all, book->a) = (struct ws_offered_wheel){
				.file = pin->wheel,
				.from = !folder && ws_url_parse(pin->from, book->a, &url, NULL)
					? url.host
					: ws_path_dir(book->a, pin->from),
				.url = pin->from,
				.sha256 = pin->sha256,
				.place = folder ? WS_PLACE_FOLDER : WS_PLACE_INDEX,
			};
		}
	}
	return (struct ws_offered){all.at, all.len, offered->complete};
}

void
ws_candidate_shelf_fill(struct ws_candidate_book *book, struct ws_candidate_shelf *shelf,
	const struct ws_recipe *recipe, const struct ws_offered *found)
{
	struct ws_offered with_pins = add_pinned(book, recipe, found);
	const struct ws_offered *offered = &with_pins;
	shelf->offered = *offered;
	shelf->offers = ws_offers_read(recipe, offered->at, offered->count, book->a);
}

struct ws_candidate_shelf *
ws_candidate_shelf_of(struct ws_candidate_book *book, const struct ws_recipe *recipe)
{
	const char *key = ws_arena_printf(book->a, "%s %s", recipe->name, recipe->version.text);
	struct ws_candidate_shelf *shelf = ws_map_get(&book->shelves, key);
	if (!shelf) {
		shelf = WS_NEW(book->a, struct ws_candidate_shelf);
		shelf->places = ws_offer_places_of(book->ctx->indexes, recipe);
		struct ws_offered known =
			ws_offers_recall(book->ctx->store, &shelf->places, recipe, book->a);
		ws_candidate_shelf_fill(book, shelf, recipe, &known);
		ws_map_put(&book->shelves, key, shelf, book->a);
	}
	return shelf;
}

size_t
ws_candidates_offered(struct ws_candidate_book *book, const struct ws_recipe *recipe,
	const struct ws_offered_wheel **wheels, enum ws_indexes_asked *asked)
{
	const struct ws_candidate_shelf *shelf = ws_candidate_shelf_of(book, recipe);
	bool any = false;
	for (size_t i = 0; i < shelf->places.count; i++) {
		any = any || !ws_index_place_is_folder(shelf->places.at[i]);
	}
	*asked = book->pins->locked || !any ? WS_INDEXES_NOW
		: !shelf->offered.complete      ? WS_INDEXES_NEVER
		: shelf->asked                  ? WS_INDEXES_NOW
										: WS_INDEXES_BEFORE;
	*wheels = shelf->offered.at;
	return shelf->offered.count;
}

/* ---- what is remembered ---- */

/* Does @a point bring another place to load in than @a other? */
static bool
is_elsewhere(const struct ws_point *point, const struct ws_point *other)
{
	return point->torch != other->torch || point->python != other->python;
}

ws_candidate_points_list
ws_candidate_points(const struct ws_product *product, struct ws_arena *a)
{
	ws_candidate_points_list points = {0};
	for (size_t i = 0; i < product->cell_count; i++) {
		const struct ws_point *point = &product->cells[i]->point;
		bool known = false;
		for (size_t j = 0; j < points.len && !known; j++) {
			known = !is_elsewhere(point, points.at[j]);
		}
		if (!known) {
			*ws_vec_push(&points, a) = point;
		}
	}
	return points;
}

/* Everything that a verdict depends on, but for this host's libraries: the action's own key has those. */
static const char *
key_of(struct ws_candidate_book *book, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	ws_candidate_points_list points = ws_candidate_points(product, book->a);
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, SCHEMA " " WS_VERSION);
	ws_hasher_add_field(h, candidate->url);
	ws_hasher_add_field(h, candidate->sha256 ? candidate->sha256 : "");
	ws_hasher_add_field(h, ws_arch_set_text(&product->point.archs, book->a));
	ws_hasher_add_field(h, book->matrix->driver.text ? book->matrix->driver.text : "");
	for (size_t i = 0; i < product->recipe->check.import_count; i++) {
		ws_hasher_add_field(h, product->recipe->check.imports[i]);
	}
	for (size_t i = 0; i < points.len; i++) {
		const struct ws_torch_choice *torch = points.at[i]->torch;
		ws_hasher_add_field(h, torch ? torch->version.text : "");
		ws_hasher_add_field(h, torch && torch->record ? torch->record : "");
		ws_hasher_add_field(h, points.at[i]->python->name);
	}
	return ws_arena_strdup(book->a, ws_hasher_finish(h).hex);
}

/* What the store says already is not written again: that waits for the disk, once for each wheel. One that cannot
 * be written costs judging or asking again. */
static void
keep(struct ws_candidate_book *book, const char *key, const struct ws_buf *text)
{
	WS_AUTO_BUF struct ws_buf old = {0};
	if (book->pins->bundled) {
		return;
	}
	if (!ws_results_get(book->ctx->store, key, &old) || old.len != text->len
		|| memcmp(old.data, text->data, text->len) != 0) {
		ws_results_put(book->ctx->store, key, text, NULL);
	}
}

/* "loads <sha256 or -> <why>" */
void
ws_candidate_remember(
	struct ws_candidate_book *book, const char *key, const struct ws_candidate *candidate)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct note *note = WS_NEW(book->a, struct note);
	*note = (struct note){candidate->state, candidate->sha256, candidate->why};
	ws_map_put(&book->notes, key, note, book->a);
	bool lasts = note->state == WS_CANDIDATE_LOADS || note->state == WS_CANDIDATE_FAILS
		|| note->state == WS_CANDIDATE_UNKNOWN;
	ws_buf_printf(&text, "%s %s %s\n", ws_candidate_state_name(note->state),
		note->sha256 ? note->sha256 : "-", note->why ? note->why : "");
	if (lasts) {
		keep(book, key, &text);
	}
}

static const struct note *
read_note(struct ws_candidate_book *book, const char *key)
{
	static const enum ws_candidate_state states[] = {
		WS_CANDIDATE_LOADS, WS_CANDIDATE_FAILS, WS_CANDIDATE_UNKNOWN};
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_results_get(book->ctx->store, key, &text)) {
		return NULL;
	}
	struct ws_str rest = ws_str_trim(ws_buf_str(&text));
	struct ws_str word = ws_str_cut(&rest, ' '), digest = ws_str_cut(&rest, ' ');
	struct note *note = WS_NEW(book->a, struct note);
	for (size_t i = 0; i < WS_LEN(states); i++) {
		if (ws_str_is(word, ws_candidate_state_name(states[i]))) {
			note->state = states[i];
		}
	}
	note->sha256 = ws_str_is(digest, "-") ? NULL : ws_str_copy(digest, book->a);
	note->why = rest.n ? ws_str_copy(rest, book->a) : NULL;
	return note->state == WS_CANDIDATE_UNOPENED ? NULL : note;
}

static const struct note *
recall(struct ws_candidate_book *book, const struct ws_product *product, const char *key)
{
	const struct note *note = ws_map_get(&book->notes, key);
	if (!note && !ws_pins_are_renewed(book->pins, product->recipe->name)
		&& (note = read_note(book, key))) {
		ws_map_put(&book->notes, key, note, book->a);
	}
	return note;
}

/* ---- what is known of one ---- */

const struct ws_pin_prebuilt *
ws_candidate_pin(const struct ws_candidate_book *book, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	return ws_lock_prebuilt(&book->pins->lock, product->recipe->name, candidate->file);
}

static bool
can_be_built(const struct ws_candidate_book *book, const struct ws_product *product)
{
	return book->matrix->policy != WS_POLICY_PREBUILT_ONLY
		&& product->cells[0]->build_rule == WS_RULE_NONE;
}

bool
ws_candidate_shelf_is_enough(struct ws_candidate_book *book, const struct ws_product *product)
{
	return ws_candidate_shelf_of(book, product->recipe)->offered.complete
		&& can_be_built(book, product) && !ws_pins_are_renewed(book->pins, product->recipe->name);
}

/* A build must not stand in for it without a word. */
static bool
is_needed(const struct ws_candidate_book *book, const struct ws_product *product,
	const struct ws_candidate *candidate)
{
	return !can_be_built(book, product) || ws_candidate_pin(book, product, candidate);
}

/* As it was offered, with the digest that a folder's file has now: the key that its notes are kept by. */
static const char *
identify(struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidate *c)
{
	struct ws_digest digest;
	struct ws_ledger *ledger = book->ctx->ledger;
	if (c->place == WS_PLACE_FOLDER && ledger && ws_ledger_file_digest(ledger, c->url, &digest)) {
		c->sha256 = ws_arena_strdup(book->a, digest.hex);
	}
	return key_of(book, product, c);
}

/* Returns the key. */
static const char *
see(struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidate *c)
{
	const char *key = identify(book, product, c);
	const struct note *note = recall(book, product, key);
	if (note) {
		c->state = note->state;
		c->why = note->why;
		c->sha256 = note->sha256 ? note->sha256 : c->sha256;
	}
	if (c->state == WS_CANDIDATE_UNREACHABLE && is_needed(book, product, c)) {
		c->state = WS_CANDIDATE_UNOPENED;
	}
	if (book->pins->locked && !ws_candidate_pin(book, product, c)
		&& c->state != WS_CANDIDATE_FAILS) {
		c->state = WS_CANDIDATE_REFUSED;
		c->why = "the lock does not pin it";
	}
	return key;
}

/* The wheel of the product that the lock pins and that is known to load; NULL: none. */
static const struct ws_candidate *
find_pinned(struct ws_candidate_book *book, const struct ws_product *product)
{
	const struct ws_candidates *list = &product->candidates;
	for (size_t i = 0; i < list->count; i++) {
		struct ws_candidate candidate = list->at[i];
		if (ws_candidate_pin(book, product, &candidate)) {
			see(book, product, &candidate);
			if (candidate.state == WS_CANDIDATE_LOADS) {
				return &list->at[i];
			}
		}
	}
	return NULL;
}

void
ws_candidate_see(struct ws_candidate_book *book, const struct ws_product *product,
	struct ws_candidate *candidate)
{
	see(book, product, candidate);
	const struct ws_candidate *pinned =
		ws_candidate_pin(book, product, candidate) ? NULL : find_pinned(book, product);
	if (pinned && candidate->state != WS_CANDIDATE_FAILS) {
		candidate->state = WS_CANDIDATE_REFUSED;
		candidate->why = "the lock pins another wheel";
	}
}

/* ---- the list ---- */

/* Those that the lock pins stand first, in their order. */
static void
put_pinned_first(
	struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidates *list)
{
	struct ws_candidate *sorted = WS_NEW_N(book->a, struct ws_candidate, list->count + 1);
	size_t count = 0;
	for (int pinned = 1; pinned >= 0; pinned--) {
		for (size_t i = 0; i < list->count; i++) {
			if ((ws_candidate_pin(book, product, &list->at[i]) != NULL) == (pinned == 1)) {
				sorted[count++] = list->at[i];
			}
		}
	}
	list->at = sorted;
}

/* In the order in which they are tried; @a keys gets the key of each. */
struct ws_candidates
ws_candidate_list(
	struct ws_candidate_book *book, const struct ws_product *product, const char ***keys)
{
	const struct ws_candidate_shelf *shelf = ws_candidate_shelf_of(book, product->recipe);
	struct ws_candidates list =
		ws_candidates_of(product, book->matrix->torch_window, &shelf->offers, book->a);
	const char **all = *keys = WS_NEW_N(book->a, const char *, list.count + 1);
	put_pinned_first(book, product, &list);
	for (size_t i = 0; i < list.count; i++) {
		all[i] = see(book, product, &list.at[i]);
	}
	return list;
}

const struct ws_candidate *
ws_candidate_that_loads(const struct ws_candidates *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->at[i].state == WS_CANDIDATE_LOADS) {
			return &list->at[i];
		}
	}
	return NULL;
}

const struct ws_candidate *
ws_candidate_chosen(
	struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidates *list)
{
	const char **keys;
	*list = ws_candidate_list(book, product, &keys);
	return ws_candidate_that_loads(list);
}

/* ---- which bytes a URL gave ---- */

/* Servers that publish no digests would have to be asked for the same wheel by every product. */
static const char *
key_of_url(struct ws_candidate_book *book, const char *url)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, SCHEMA " seen");
	ws_hasher_add_field(h, url);
	return ws_arena_strdup(book->a, ws_hasher_finish(h).hex);
}

const char *
ws_candidate_seen_at(
	struct ws_candidate_book *book, const struct ws_recipe *recipe, const char *url)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *key = key_of_url(book, url);
	const char *seen = ws_map_get(&book->seen, key);
	struct ws_digest digest;
	if (seen || ws_pins_are_renewed(book->pins, recipe->name)
		|| !ws_results_get(book->ctx->store, key, &text)
		|| !ws_digest_parse(ws_str_copy(ws_str_trim(ws_buf_str(&text)), book->a), &digest)) {
		return seen;
	}
	return ws_arena_strdup(book->a, digest.hex);
}

void
ws_candidate_note_seen(struct ws_candidate_book *book, const char *url, const char *sha256)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *key = key_of_url(book, url);
	ws_map_put(&book->seen, key, sha256, book->a);
	ws_buf_printf(&text, "%s\n", sha256);
	keep(book, key, &text);
}
