/**
 * rules.h - a kit's facts: what was measured, and the rules of its release
 *
 * What a release asks of compilers and puts on their command lines stands in the facts. A release
 * that they do not list gets the rules of the nearest one: of its own minor, else the one before.
 */
#ifndef WS_KIT_TORCH_RULES_H
#define WS_KIT_TORCH_RULES_H

#include "kit/torch/measured.h"
#include "kit/torch/torch.h"

/**
 * Fills name, version, cuda, cxx11abi, the pybind ids, release and known. Of an unknown release,
 * release.version says whose rules it got; the build is as measured, and no export list ships: one
 * is made when it is needed.
 * @a m is borrowed.
 */
bool ws_torch_rules_apply(const struct ws_facts *facts, const struct ws_torch_measured *m,
	struct ws_arena *a, struct ws_torch_kit *kit, struct ws_err *err);

#endif
