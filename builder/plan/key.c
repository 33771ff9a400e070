/* key.c - see key.h. Where pins come from is model/lock.h's. */
#include "plan/key.h"

/* Changes when wheels of the same inputs become other wheels. */
#define RECORD "wheelsmith.cell/2"

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

/* What stands for torch's files; NULL: nothing does. */
static const char *
torch_files(const struct ws_torch_choice *torch)
{
	return torch->installed ? torch->record : torch->pin ? torch->pin->tree : NULL;
}

static const char *
find_missing(
	const struct ws_product *product, const struct ws_pin_source *source, struct ws_arena *a)
{
	const struct ws_point *point = &product->point;
	if (!source) {
		return ws_arena_printf(
			a, "the source of %s %s", product->recipe->name, product->recipe->version.text);
	}
	if (needs_cuda(product) && !point->cuda->pin) {
		return ws_arena_printf(a, "the CUDA %s kit", point->cuda->name);
	}
	if (needs_torch(product) && !torch_files(point->torch)) {
		const char *how = point->torch->installed ? " (installed, without RECORD)" : "";
		return ws_arena_printf(a, "torch %s%s", point->torch->name, how);
	}
	return NULL;
}

static void
add_kits(struct ws_hasher *h, const struct ws_product *product)
{
	const struct ws_point *point = &product->point;
	if (needs_cuda(product)) {
		ws_hasher_add_field(h, "cuda");
		ws_hasher_add_field(h, point->cuda->name);
		ws_hasher_add_field(h, point->cuda->pin->digest);
	}
	if (needs_torch(product)) {
		ws_hasher_add_field(h, "torch");
		ws_hasher_add_field(h, point->torch->version.text);
		ws_hasher_add_field(h, torch_files(point->torch));
		ws_hasher_add_field(h, point->cxx11abi == 1 ? "cxx11abi 1" : "cxx11abi 0");
	}
}

void
ws_key_fill(struct ws_product *product, const struct ws_lock *lock, struct ws_arena *a)
{
	const struct ws_pin_source *source = find_source(product, lock);
	product->key = "";
	product->missing_pin = find_missing(product, source, a);
	if (product->missing_pin) {
		return;
	}
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, RECORD);
	ws_hasher_add_field(h, product->recipe->digest.hex);
	ws_hasher_add_field(h, source->tree);
	add_kits(h, product);
	ws_hasher_add_field(h, "archs");
	ws_hasher_add_field(h, needs_cuda(product) ? ws_arch_set_text(&product->point.archs, a) : "");
	ws_hasher_add_field(h, "wheel");
	ws_hasher_add_field(h, product->version);
	ws_hasher_add_field(h, product->python_tag);
	ws_hasher_add_field(h, product->abi_tag);
	ws_hasher_add_field(h, product->torch ? product->torch : "");
	struct ws_digest key = ws_hasher_finish(h);
	product->key = ws_arena_strdup(a, key.hex);
}
