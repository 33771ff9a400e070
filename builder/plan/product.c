/* product.c - the table of what each binding kind depends on, and merging by it. */
#include "base/arena.h"
#include "base/text.h"
#include "model/machine.h"
#include "plan/key.h"
#include "plan/steps.h"
#include "recipe/recipe_files.h"

/* What a wheel of a binding kind depends on. */
enum dependence {
	ON_ARCHS = 1,
	ON_CUDA_MAJOR = 2,
	ON_CUDA = 4,
	ON_TORCH = 8, /* minor, the toolkit it was built with, ABI */
	ON_PYTHON = 16,
};

static unsigned
dependences(enum ws_binding binding)
{
	static const unsigned kinds[] = {
		[WS_BINDING_PYBIND] = ON_ARCHS | ON_CUDA | ON_TORCH | ON_PYTHON,
		[WS_BINDING_TORCH_LIBRARY] = ON_ARCHS | ON_CUDA | ON_TORCH,
		[WS_BINDING_STABLE_ABI] = ON_ARCHS | ON_CUDA,
		[WS_BINDING_C_ABI] = ON_ARCHS | ON_CUDA_MAJOR,
		[WS_BINDING_NONE] = 0,
	};
	return kinds[binding];
}

/* Equal texts: one product. */
static void
write_identity(const struct ws_cell *cell, struct ws_buf *b)
{
	const struct ws_point *point = &cell->point;
	unsigned on = dependences(ws_recipe_binding(cell->recipe));
	ws_buf_clear(b);
	ws_buf_printf(b, "%s %s%s", cell->recipe->name, cell->recipe->version.text,
		cell->build_rule == WS_RULE_NONE ? "" : " not built");
	if (on & ON_ARCHS) {
		ws_buf_putc(b, ' ');
		ws_archs_identify(&point->archs, b);
	}
	if (on & ON_CUDA_MAJOR) {
		ws_buf_printf(b, " cu%u", point->cuda->version.major);
	} else if (on & ON_CUDA) {
		ws_buf_printf(b, " cu%s", point->cuda->name);
	}
	if (on & ON_TORCH) {
		ws_buf_printf(b, " torch%s for %s abi%d", point->torch->minor,
			point->torch->cuda ? point->torch->cuda : "", point->cxx11abi);
	}
	if (on & ON_PYTHON) {
		ws_buf_printf(b, " %s", point->python->name);
	}
	ws_buf_puts(b, on ? point->machine->mark : "");
}

/* A wheel is built for the oldest it must serve: the lowest torch, and the lowest CUDA of its
 * major. */
static void
lower_point(struct ws_product *product, const struct ws_point *other)
{
	struct ws_point *point = &product->point;
	const struct ws_cuda_choice *cuda = point->cuda;
	if (cuda && other->cuda && ws_version_cmp(&other->cuda->version, &cuda->version) < 0) {
		cuda = other->cuda;
	}
	if (point->torch && other->torch
		&& ws_version_cmp_public(&other->torch->version, &point->torch->version) < 0) {
		*point = *other;
	}
	point->cuda = cuda;
}

static struct ws_point_view
see(const struct ws_product *product)
{
	struct ws_point_view view = ws_point_see(&product->point);
	unsigned on = dependences(product->binding);
	if (!(on & ON_PYTHON)) {
		view.python = NULL;
		view.free_threaded = false;
	}
	if (!(on & ON_TORCH)) {
		view.cxx11abi = -1;
	}
	/* A module of the stable ABI is compiled with torch's headers, of the lowest torch it
	 * serves. */
	if (product->binding >= WS_BINDING_C_ABI) {
		view.torch = NULL;
	}
	if (!(on & (ON_CUDA | ON_CUDA_MAJOR))) {
		view.cuda = NULL;
	}
	if (!(on & ON_ARCHS)) {
		view.archs = (struct ws_arch_set){0};
	}
	return view;
}

/* Drivers that the matrix vouches for. */
static bool
reads_size(const struct ws_matrix *matrix, const struct ws_cuda_toolkit *toolkit)
{
	return matrix->driver.text && toolkit->size_driver.text
		&& ws_version_cmp(&matrix->driver, &toolkit->size_driver) >= 0;
}

static struct ws_size_options
choose_size(const struct ws_plan_input *in, const struct ws_product *product)
{
	const struct ws_matrix *matrix = in->matrix;
	const struct ws_cuda_choice *cuda = product->point.cuda;
	const struct ws_cuda_toolkit *toolkit =
		cuda ? ws_facts_cuda_nearest(in->facts, &cuda->version) : NULL;
	if (product->binding == WS_BINDING_NONE || !toolkit) {
		return (struct ws_size_options){0};
	}
	struct ws_size_options size = {
		.debug_info = matrix->debug_info,
		.usual = toolkit->compress_size ? WS_COMPRESS_SIZE : WS_COMPRESS_ALL,
		.random_seed = toolkit->random_seed,
	};
	size.compress = matrix->compress_none ? WS_COMPRESS_NONE
		: reads_size(matrix, toolkit)     ? WS_COMPRESS_SIZE
										  : size.usual;
	return size;
}

/* As old as the torch of its cells, whose point is the lowest; where they have none, as the
 * oldest. */
static const char *
choose_glibc(const struct ws_plan_input *in, const struct ws_product *product)
{
	const struct ws_torch_choice *torch = product->point.torch;
	if (product->binding == WS_BINDING_NONE || ws_same(in->matrix->glibc, WS_GLIBC_HOST)) {
		return NULL;
	}
	if (in->matrix->glibc) {
		return in->matrix->glibc;
	}
	return torch ? torch->release->glibc : in->facts->torch[0].glibc;
}

void
ws_products_make(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_arena *a, ws_product_list *products)
{
	WS_AUTO_BUF struct ws_buf identity = {0};
	struct ws_map known = {0};
	for (size_t i = 0; i < count; i++) {
		struct ws_cell *cell = cells[i];
		if (cell->rule != WS_RULE_NONE) {
			continue;
		}
		write_identity(cell, &identity);
		cell->product = ws_map_get(&known, ws_buf_text(&identity));
		if (cell->product) {
			lower_point(cell->product, &cell->point);
			continue;
		}
		cell->product = WS_NEW(a, struct ws_product);
		*cell->product = (struct ws_product){.recipe = cell->recipe,
			.binding = ws_recipe_binding(cell->recipe),
			.point = cell->point};
		ws_map_put(&known, ws_buf_copy(&identity, a), cell->product, a);
		*ws_vec_push(products, a) = cell->product;
	}
	for (size_t i = 0; i < products->len; i++) {
		struct ws_product *product = products->at[i];
		product->view = see(product);
		product->patches =
			ws_recipe_patches(product->recipe, &product->view, a, &product->patch_count);
		product->size = choose_size(in, product);
		product->glibc = choose_glibc(in, product);
		ws_label_fill(product, in->matrix->label, a);
		ws_key_fill(product, in->lock, in->known, a);
	}
}
