#include "base/buf.h"
#include "plan/steps.h"

#include <string.h>

/* Values that a host decides stand as words: another host must come to the same text. */
static void
write_name(const struct ws_recipe *recipe, const struct ws_point *point, struct ws_buf *b)
{
	const struct ws_torch_choice *torch = point->torch;
	enum ws_binding binding = ws_recipe_binding(recipe);
	const char *cuda = !point->cuda_auto ? point->cuda->name
		: torch && torch->cuda           ? torch->cuda
										 : "auto";
	ws_buf_printf(b, "%s %s", recipe->name, recipe->version.text);
	if (binding == WS_BINDING_NONE) {
		return;
	}
	bool major = binding == WS_BINDING_C_ABI;
	ws_buf_printf(b, " %.*s %s", (int)(major ? strcspn(cuda, ".") : strlen(cuda)), cuda,
		point->arch->fixed ? point->arch->name : "host");
	if (binding < WS_BINDING_STABLE_ABI && torch->installed) {
		ws_buf_puts(b, " installed");
	} else if (binding < WS_BINDING_STABLE_ABI) {
		ws_buf_printf(
			b, " %s %s %d", torch->minor, torch->cuda ? torch->cuda : "cpu", point->cxx11abi);
	}
}

/* How much of a point's group a host decides. */
static int
looseness(const struct ws_point *point)
{
	return point->cuda_auto + !point->arch->fixed + (point->torch && point->torch->installed);
}

void
ws_groups_note(struct ws_groups *groups, struct ws_cell *cell, const struct ws_point *point,
	bool alive, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf name = {0};
	write_name(cell->recipe, point, &name);
	uintptr_t number = (uintptr_t)ws_map_get(&groups->numbers, ws_buf_text(&name));
	if (number == 0) {
		ws_vec_push(&groups->at, a);
		number = groups->at.len;
		ws_map_put(&groups->numbers, ws_buf_copy(&name, a), (void *)number, a);
	}
	struct ws_group *group = &groups->at.at[number - 1];
	group->alive = group->alive || alive;
	if (looseness(point) < cell->looseness) {
		cell->group = (unsigned)number - 1;
		cell->looseness = looseness(point);
	}
}

const unsigned *
ws_groups_deal(const struct ws_groups *groups, unsigned shards, struct ws_arena *a)
{
	unsigned *dealt = WS_NEW_N(a, unsigned, groups->at.len);
	unsigned next = 0;
	for (size_t i = 0; i < groups->at.len; i++) {
		dealt[i] = next + 1;
		next = groups->at.at[i].alive ? (next + 1) % shards : next;
	}
	return dealt;
}
