/**
 * candidates.h - prebuilt wheels, from their names to a verdict
 *
 * Plan lists the candidates of a product by their names (plan/candidates.h). Here they are asked for in that
 * order, brought into the store and judged by an action each (judge_wheel.h), until one loads in every torch and
 * every Python that the product's cells have. What came of each is remembered in the store under the wheel and the
 * place that it was judged for; where one is known to load, no server is asked again. What the lock pins comes
 * before what it does not, and the lock pins what is used.
 */
#ifndef WS_PRODUCE_CANDIDATES_H
#define WS_PRODUCE_CANDIDATES_H

#include "plan/candidates.h"
#include "produce/context.h"
#include "produce/resolve.h"

struct ws_matrix;

/** What is known of candidates in one run; also behind plan's look-ups. */
struct ws_candidate_book;

/** @a ctx and @a matrix are borrowed; ctx->indexes says which places there are. */
struct ws_candidate_book *ws_candidate_book_open(
	struct ws_context *ctx, const struct ws_matrix *matrix);

/**
 * The wheels of a package that folders and indexes have, as far as is known; asks no server. @a unasked: one
 * of the indexes never answered, so there may be more.
 */
size_t ws_candidates_offered(struct ws_candidate_book *book, const struct ws_recipe *recipe,
	const struct ws_offered_wheel **wheels, bool *unasked);

/**
 * Fills what is known of a candidate of @a product: state, why, digest. One that could not be had stays
 * unopened, with the reason, where the product cannot be built or the lock says that this wheel serves it.
 */
void ws_candidate_see(struct ws_candidate_book *book, const struct ws_product *product,
	struct ws_candidate *candidate);

/** The one that is known to load, of all that are known, in @a list; NULL: none is. */
const struct ws_candidate *ws_candidate_chosen(
	struct ws_candidate_book *book, const struct ws_product *product, struct ws_candidates *list);

/**
 * Tries the candidates of each product, one after the other, until one loads or all were tried: afterwards
 * ws_candidate_see tells what came of each. A server that gives no answer in 5 s is not asked again. False for
 * a wheel that is not the one that the lock pins, for what this host does to us, and when the run is to stop.
 */
bool ws_candidates_try(struct ws_candidate_book *book, struct ws_resolver *resolver,
	const struct ws_product *const *products, size_t count, struct ws_err *err);

#endif
