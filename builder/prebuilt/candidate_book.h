/**
 * candidate_book.h - what is known of prebuilt wheels in one run; also behind plan's look-ups
 *
 * Which wheels places have, which of them are candidates of a product and in which order, what came of each when
 * it was tried. Asks no server and judges nothing: that is candidates.h's, which fills the book.
 */
#ifndef WS_PREBUILT_CANDIDATE_BOOK_H
#define WS_PREBUILT_CANDIDATE_BOOK_H

#include "base/map.h"
#include "engine/action.h"
#include "make/context.h"
#include "make/pins.h"
#include "plan/candidates.h"
#include "prebuilt/offers.h"

struct ws_matrix;

/** A package and the wheels that places have of it. */
struct ws_candidate_shelf {
	struct ws_offer_places places;
	struct ws_offered offered;
	struct ws_offers offers; /**< the same, read */
	bool asked;              /**< in this run */
};

struct ws_candidate_book {
	const struct ws_context *ctx;
	struct ws_pins *pins;
	struct ws_arena *a;
	const struct ws_matrix *matrix;
	struct ws_map shelves;  /**< by name and version */
	struct ws_map notes;    /**< of this run, by key */
	struct ws_map seen;     /**< of this run, by key of a URL: sha256 */
	struct ws_map warned;   /**< servers that were reported as silent */
	ws_name_list libraries; /**< of this host */
};

/** Each torch and each Python that a product's cells have, once. */
typedef WS_VEC(const struct ws_point *) ws_candidate_points_list;

/** All are borrowed; ctx->indexes says which places there are. */
struct ws_candidate_book *ws_candidate_book_open(
	const struct ws_context *ctx, struct ws_pins *pins, const struct ws_matrix *matrix);

/**
 * The wheels of a package that folders and indexes have, as far as is known; asks no server.
 */
size_t ws_candidates_offered(struct ws_candidate_book *book, const struct ws_recipe *recipe,
	const struct ws_offered_wheel **wheels, enum ws_indexes_asked *asked);

/**
 * Fills what is known of a candidate of @a product: state, why, digest. One that could not be had stays
 * unopened, with the reason, where the product cannot be built or the lock says that this wheel serves it.
 */
void ws_candidate_see(struct ws_candidate_book *book, const struct ws_product *product,
	struct ws_candidate *candidate);

/** The one that is known to load, of all that are known, in @a list; NULL: none is. */
const struct ws_candidate *ws_candidate_chosen(
	struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidates *list);

/** The first of @a list that is known to load; NULL: none is. */
const struct ws_candidate *ws_candidate_that_loads(const struct ws_candidates *list);

/** The shelf of a recipe's package, filled with what is known. */
struct ws_candidate_shelf *ws_candidate_shelf_of(
	struct ws_candidate_book *book, const struct ws_recipe *recipe);

/** Puts what places were found to have on it, and what the lock pins. */
void ws_candidate_shelf_fill(struct ws_candidate_book *book, struct ws_candidate_shelf *shelf,
	const struct ws_recipe *recipe, const struct ws_offered *found);

/** Is what places had when they were last asked enough for @a product, because a build serves as well? */
bool ws_candidate_shelf_is_enough(struct ws_candidate_book *book, const struct ws_product *product);

/** The places that @a product is to load in: those of its cells, each once. */
ws_candidate_points_list ws_candidate_points(const struct ws_product *product, struct ws_arena *a);

/** Its candidates in the order in which they are tried, with what is known; @a keys: of each, for remembering. */
struct ws_candidates ws_candidate_list(
	struct ws_candidate_book *book, const struct ws_product *product, const char ***keys);

/** Keeps what came of @a candidate: for this run, and where it lasts in the store. */
void ws_candidate_remember(
	struct ws_candidate_book *book, const char *key, const struct ws_candidate *candidate);

/** The lock's pin of it; NULL: none. */
const struct ws_pin_prebuilt *ws_candidate_pin(const struct ws_candidate_book *book,
	const struct ws_product *product, const struct ws_candidate *candidate);

/** The digest of what @a url gave when it was last asked; NULL: it never was, or is to be asked anew. */
const char *ws_candidate_seen_at(
	struct ws_candidate_book *book, const struct ws_recipe *recipe, const char *url);

/** Keeps it. */
void ws_candidate_note_seen(struct ws_candidate_book *book, const char *url, const char *sha256);

#endif
