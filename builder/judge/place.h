/**
 * place.h - a place of an order, opened by the child that judges
 *
 * Opens the libraries and the interpreter that the order names, and fills the load place of
 * verify/. Export lists are read by verify/.
 */
#ifndef WS_JUDGE_PLACE_H
#define WS_JUDGE_PLACE_H

#include "judge/order.h"
#include "verify/subject.h"

struct ws_opened_place {
	struct ws_load_place load;
	WS_VEC(const struct ws_elf *) libraries, globals; /**< open files */
	const char *const *folders;                       /**< searched for more libraries */
	size_t folder_count;
};

/** Opens the files of @a place. Close @a opened in both cases. */
bool ws_place_open(const struct ws_judge_place *place, struct ws_arena *a,
	struct ws_opened_place *opened, struct ws_err *err);

/** Opens the libraries that @a modules need, and those that these need, from the folders. */
void ws_place_complete(
	struct ws_opened_place *opened, const struct ws_subject *modules, struct ws_arena *a);

void ws_place_close(struct ws_opened_place *opened);

#endif
