/**
 * products.h - one product as actions of the graph
 *
 * Units, a link for each extension, a check in each torch release the wheel is for, a pack.
 * Products share results through the engine's keys only.
 */
#ifndef WS_MAKE_PRODUCTS_H
#define WS_MAKE_PRODUCTS_H

#include "make/resolve.h"
#include "make/result.h"

/** A product in the graph. */
struct ws_made {
	const struct ws_product *product;
	struct ws_supply *supply; /**< settled by the pack; NULL: no supply waits for it */
	struct ws_materials materials;
	ws_node_list nodes; /**< all of its actions, in the order of adding */
	struct ws_node *pack;
	struct ws_node *import; /**< NULL: this host cannot try it */
};

bool ws_products_add(const struct ws_context *ctx, struct ws_resolver *resolver,
	const struct ws_product *product, struct ws_graph *graph, struct ws_made *made,
	struct ws_err *err);

#endif
