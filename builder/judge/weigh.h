/**
 * weigh.h - which modules that do not load are the wheel's, and which its package may never load
 *
 * Nobody runs the package, so who loads a library that Python does not import is not known. One
 * that another module brings along is judged with that; of several that are called alike but for
 * numbers (libx_cuda118.so, libx_cuda128.so; pg_2_11_0 for torch 2.11.0) the package chooses one;
 * one that lacks a library of others may be for who has those; and a wheel that METADATA requires
 * may have the library. Such a module alone makes no wheel fail.
 */
#ifndef WS_JUDGE_WEIGH_H
#define WS_JUDGE_WEIGH_H

#include "verify/judge.h"
#include "wheelfile/dist_info.h"

/**
 * Not for modules that a recipe says must import. Takes `required` from the modules of @a verdict
 * that do not decide: @a modules, in the same order, of an installed subject. What is not known
 * instead is @a unknown; no text: nothing is. @a metadata NULL: there is none.
 */
void ws_weigh(const struct ws_verdict *verdict, struct ws_subject_module *modules,
	const struct ws_metadata_info *metadata, struct ws_arena *a, struct ws_finding *unknown);

#endif
