/**
 * expand.h - a matrix multiplied out into cells
 *
 * The axes in the order packages, torch, cuda, python, arch, cxx11abi, the last running fastest; then
 * the extra points. Every cell is asked the rules; cells of one name are one.
 */
#ifndef WS_PLAN_EXPAND_H
#define WS_PLAN_EXPAND_H

#include "plan/axis.h"
#include "plan/group.h"

typedef WS_VEC(struct ws_cell *) ws_cell_list;

/** Fills @a cells and @a groups. On failure @a err has the place of the value at fault. */
bool ws_expand(
	struct ws_axes *axes, ws_cell_list *cells, struct ws_groups *groups, struct ws_err *err);

#endif
