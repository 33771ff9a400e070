/**
 * label.h - what a product's wheel is called
 *
 * The local version label, the tags and the torch that METADATA asks for follow from the kind of
 * binding and the point it is built for. The platform is measured later. Labels are dotted and lower
 * case, so that versions sort (PEP 440); what differs between two products differs in the label.
 */
#ifndef WS_PLAN_LABEL_H
#define WS_PLAN_LABEL_H

#include "plan/plan.h"

/** Fills label, version, tags, pure and torch of @a product. @a extra: segments of the matrix; NULL. */
void ws_label_fill(struct ws_product *product, const char *extra, struct ws_arena *a);

#endif
