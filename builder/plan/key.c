#include "plan/key.h"

/* Changes when wheels of the same inputs become other wheels. */
#define RECORD "wheelsmith.cell/3"

static const struct ws_pin_source *
find_source(const struct ws_product *product, const struct ws_lock *lock)
{
	const struct ws_recipe *recipe = product->recipe;
	return lock ? ws_lock_source(lock, recipe->name, recipe->version.text) : NULL;
}

static bool
needs_cuda(const struct ws_product *product)
{
	return product->binding != WS_BINDING_NONE;
}

/* The headers of torch; c-abi modules are compiled without. */
static bool
needs_torch(const struct ws_product *product)
{
	return product->binding < WS_BINDING_C_ABI;
}

/* What a product is made of, by digest; NULL: not pinned, or not needed. */
struct parts {
	const char *source, *cuda, *torch;
};

static struct parts
find_parts(
	const struct ws_product *product, const struct ws_lock *lock, const struct ws_lock *known)
{
	const struct ws_torch_choice *torch = product->point.torch;
	const struct ws_cuda_choice *cuda = product->point.cuda;
	const struct ws_pin_source *source = find_source(product, lock);
	struct parts parts = {.source = source ? source->tree : NULL};
	if (needs_cuda(product)) {
		const struct ws_pin_cuda *pin =
			cuda->pin || !known ? cuda->pin : ws_lock_cuda(known, cuda->name);
		parts.cuda = pin && ws_pins_origin(pin, cuda->origin) ? pin->digest : NULL;
	}
	if (needs_torch(product) && torch->installed) {
		parts.torch = torch->record;
	} else if (needs_torch(product)) {
		const char *name = product->point.torch_pin;
		const struct ws_pin_torch *pin = lock ? ws_lock_torch(lock, name) : NULL;
		pin = pin || !known ? pin : ws_lock_torch(known, name);
		parts.torch = pin ? pin->tree : NULL;
	}
	return parts;
}

static const char *
find_missing(const struct ws_product *product, const struct parts *parts, struct ws_arena *a)
{
	const struct ws_point *point = &product->point;
	if (!parts->source) {
		return ws_arena_printf(
			a, "the source of %s %s", product->recipe->name, product->recipe->version.text);
	}
	if (needs_cuda(product) && !parts->cuda) {
		return ws_arena_printf(a, "the CUDA %s kit", point->cuda->name);
	}
	if (needs_torch(product) && !parts->torch) {
		const char *how = point->torch->installed ? " (installed, without RECORD)" : "";
		return ws_arena_printf(a, "torch %s%s%s", point->torch->name, point->machine->mark, how);
	}
	return NULL;
}

static void
add_kits(struct ws_hasher *h, const struct ws_product *product, const struct parts *parts)
{
	const struct ws_point *point = &product->point;
	if (needs_cuda(product)) {
		ws_hasher_add_field(h, "cuda");
		ws_hasher_add_field(h, point->cuda->name);
		ws_hasher_add_field(h, parts->cuda);
	}
	if (needs_torch(product)) {
		ws_hasher_add_field(h, "torch");
		ws_hasher_add_field(h, point->torch->version.text);
		ws_hasher_add_field(h, parts->torch);
		ws_hasher_add_field(h, point->cxx11abi == 1 ? "cxx11abi 1" : "cxx11abi 0");
	}
}

void
ws_key_fill(struct ws_product *product, const struct ws_lock *lock, const struct ws_lock *known,
	struct ws_arena *a)
{
	struct parts parts = find_parts(product, lock, known);
	product->key = "";
	product->missing_pin = find_missing(product, &parts, a);
	if (product->missing_pin) {
		return;
	}
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, RECORD);
	ws_hasher_add_field(h, product->recipe->digest.hex);
	ws_hasher_add_field(h, parts.source);
	add_kits(h, product, &parts);
	ws_hasher_add_field(h, "archs");
	ws_hasher_add_field(h, needs_cuda(product) ? ws_arch_set_text(&product->point.archs, a) : "");
	ws_hasher_add_field(h, "wheel");
	ws_hasher_add_field(h, product->version);
	ws_hasher_add_field(h, product->python_tag);
	ws_hasher_add_field(h, product->abi_tag);
	ws_hasher_add_field(h, product->torch ? product->torch : "");
	ws_hasher_add_field(h, product->glibc ? product->glibc : "");
	if (product->point.machine->mark[0]) {
		ws_hasher_add_field(h, product->point.machine->name);
	}
	struct ws_digest key = ws_hasher_finish(h);
	product->key = ws_arena_strdup(a, key.hex);
}
