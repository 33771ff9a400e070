/**
 * condition.h - "when" of recipes, "exclude" of matrices: model/condition.h from JSON
 *
 * Keys: torch, cuda, python (version ranges), arch ("8.6;9.0" or a list), cxx11abi (0 or 1),
 * free_threaded (a boolean), platform ("aarch64").
 */
#ifndef WS_CONFIG_CONDITION_H
#define WS_CONFIG_CONDITION_H

#include "base/table.h"
#include "model/condition.h"

/** Fills a struct ws_condition. */
extern const struct ws_type ws_type_condition;

/** For tables that hold a condition's keys among their own: its types. */
extern const struct ws_type ws_type_archs;    /**< struct ws_arch_set; a list or one text */
extern const struct ws_type ws_type_abi;      /**< int: 0 or 1 */
extern const struct ws_type ws_type_platform; /**< const struct ws_machine * */
extern const struct ws_type ws_type_either;   /**< int: a boolean as 0 or 1 */

/** The seven keys of the condition that is @a path (`when.`, or nothing) in @a owner. */
#define WS_CONDITION_FIELDS(owner, path) \
	{WS_ONE(owner, path torch, "torch", ws_type_range)}, \
		{WS_ONE(owner, path cuda, "cuda", ws_type_range)}, \
		{WS_ONE(owner, path python, "python", ws_type_range)}, \
		{WS_ONE(owner, path archs, "arch", ws_type_archs)}, \
		{WS_ONE(owner, path machine, "platform", ws_type_platform)}, \
		{WS_ONE(owner, path cxx11abi, "cxx11abi", ws_type_abi)}, \
	{ \
		WS_ONE(owner, path free_threaded, "free_threaded", ws_type_either) \
	}

/** A condition that always holds: what a table's struct starts from. */
#define WS_CONDITION_ANY ((struct ws_condition){.cxx11abi = -1, .free_threaded = -1})

#endif
