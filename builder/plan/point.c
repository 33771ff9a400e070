/* point.c - a point's name, and how conditions see it. What its values are is axis.c's. */
#include "base/text.h"
#include "plan/axis.h"

struct ws_point_view
ws_point_see(const struct ws_point *point)
{
	return (struct ws_point_view){
		.torch = point->torch && point->torch->version.text ? &point->torch->version : NULL,
		.cuda = point->cuda ? &point->cuda->version : NULL,
		.python = &point->python->version,
		.machine = point->machine,
		.free_threaded = point->python->tag.free_threaded,
		.archs = point->archs,
		.cxx11abi = point->cxx11abi,
	};
}

bool
ws_pins_origin(const struct ws_pin_cuda *pin, enum ws_kit_origin origin)
{
	static const char *const words[] = {
		[WS_KIT_HOST] = "host", [WS_KIT_ARCHIVE] = "archive", [WS_KIT_REDIST] = "redist"};
	return ws_same(pin->how, words[origin]);
}

const char *
ws_point_name(const struct ws_point *point, const struct ws_recipe *recipe, const char *python,
	struct ws_arena *a)
{
	char abi[] = "/abi0";
	bool own = !point->torch || point->cxx11abi == point->torch->own_abi;
	abi[4] = point->cxx11abi == 1 ? '1' : '0';
	return ws_arena_printf(a, "%s-%s%s%s/%s%s/%s/%s%s%s", recipe->name, recipe->version.text,
		point->torch ? "/torch" : "", point->torch ? point->torch->name : "",
		point->cuda ? "cu" : "cpu", point->cuda ? point->cuda->name : "",
		python ? python : point->python->name, point->arch->name, own ? "" : abi,
		point->machine->mark);
}

void
ws_archs_identify(const struct ws_arch_set *set, struct ws_buf *out)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct ws_arch *arch = &set->at[i];
		ws_buf_printf(out, "%u%c%d", arch->number, arch->suffix ? arch->suffix : '-', arch->ptx);
	}
}
