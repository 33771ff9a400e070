#include "plan/steps.h"

/* The axes on which a wheel depends, by binding. */
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

/* A wheel is built for the lowest torch and the lowest CUDA among its cells. */
static void
lower_point(struct ws_product *product, const struct ws_point *other)
{
	struct ws_point *point = &product->point;
	struct ws_point was = *point;
	bool lower_cuda =
		was.cuda && other->cuda && ws_version_cmp(&other->cuda->version, &was.cuda->version) < 0;
	if (was.torch && other->torch
		&& ws_version_cmp_public(&other->torch->version, &was.torch->version) < 0) {
		*point = *other;
	}
	point->cuda = lower_cuda ? other->cuda : was.cuda;
	/* Cells of several Pythons share one wheel: any Python of this host has headers for it. An
	 * installed torch is one Python's. */
	if (point->python->missing && !(point->torch && point->torch->installed)) {
		point->python = was.python->missing ? other->python : was.python;
	}
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
	/* A module of the stable ABI is compiled with the headers of the lowest torch. */
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

/* From gcc 11 on libstdc++ has <compare> and requires, which torch's headers of 2.14 use. */
#define GCC_FOR_CXX20 11

/* The gcc that compiles for the lowest torch in the recipe's C++ standard. */
static void
fill_gcc(const struct ws_facts *facts, struct ws_product *product, struct ws_arena *a)
{
	const struct ws_recipe *recipe = product->recipe;
	const struct ws_torch_choice *torch = product->point.torch;
	const struct ws_torch_release *release =
		torch && product->binding != WS_BINDING_C_ABI ? torch->release : NULL;
	bool cxx20 = recipe->cxx_std >= 20 || (release && release->cxx_std_default >= 20);
	unsigned oldest = facts->gcc_min;
	oldest = release && release->gcc_min > oldest ? release->gcc_min : oldest;
	product->gcc_min = cxx20 && oldest < GCC_FOR_CXX20 ? GCC_FOR_CXX20 : oldest;
	unsigned *bad = WS_NEW_N(a, unsigned, recipe->known_bad_count + 1);
	product->gcc_bad = bad;
	for (size_t i = 0; i < recipe->known_bad_count; i++) {
		const struct ws_known_bad *rule = &recipe->known_bad[i];
		if (rule->gcc && ws_condition_holds(&rule->when, &product->view)) {
			bad[product->gcc_bad_count++] = rule->gcc;
		}
	}
}

static struct ws_size_options
choose_size(const struct ws_plan_input *in, const struct ws_product *product)
{
	const struct ws_matrix *matrix = in->matrix;
	const struct ws_cuda_choice *cuda = product->point.cuda;
	const struct ws_cuda_toolkit *toolkit = NULL; /* the last one up to this CUDA */
	for (size_t i = 0; cuda && i < in->facts->cuda_count; i++) {
		const struct ws_cuda_toolkit *known = &in->facts->cuda[i];
		toolkit = ws_version_cmp(&known->version, &cuda->version) <= 0 ? known : toolkit;
	}
	if (product->binding == WS_BINDING_NONE || !toolkit) {
		return (struct ws_size_options){0};
	}
	struct ws_size_options size = {
		.debug_info = matrix->debug_info,
		.usual = toolkit->compress_size ? WS_COMPRESS_SIZE : WS_COMPRESS_ALL,
		.random_seed = toolkit->random_seed,
	};
	/* The matrix may require a driver that reads the compression. */
	bool reads_size = matrix->driver.text && toolkit->size_driver.text
		&& ws_version_cmp(&matrix->driver, &toolkit->size_driver) >= 0;
	size.compress = matrix->compress_none ? WS_COMPRESS_NONE
		: reads_size                      ? WS_COMPRESS_SIZE
										  : size.usual;
	return size;
}

static void
add_segments(struct ws_buf *label, const char *segments)
{
	ws_buf_puts(label, label->len > 0 ? "." : "");
	ws_buf_puts(label, segments);
}

static const char *
make_label(const struct ws_product *product, const char *extra, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf label = {0};
	const struct ws_point *point = &product->point;
	enum ws_binding binding = product->binding;
	if (binding == WS_BINDING_C_ABI) {
		add_segments(&label, ws_arena_printf(a, "cu.%u", point->cuda->version.major));
	} else if (binding != WS_BINDING_NONE) {
		add_segments(&label, ws_arena_printf(a, "cu.%s", point->cuda->name));
		add_segments(&label, ws_arena_printf(a, "torch.%s", point->torch->minor));
	}
	if (binding != WS_BINDING_NONE) {
		add_segments(&label, ws_arch_set_label(&point->archs, a));
	}
	if (binding == WS_BINDING_PYBIND || binding == WS_BINDING_TORCH_LIBRARY) {
		/* The build of torch, where the versions alone are ambiguous. */
		const struct ws_torch_choice *torch = point->torch;
		if (torch->facts_abi >= 0 && torch->facts_abi != point->cxx11abi) {
			add_segments(&label, ws_arena_printf(a, "cxx11abi.%d", point->cxx11abi));
		}
		if (!torch->standard && torch->cuda) {
			add_segments(&label, ws_arena_printf(a, "tcu.%s", torch->cuda));
		}
	}
	/* The matrix's choices that differ from the toolkit's defaults: wheels with different contents
	 * never share a name. */
	const struct ws_size_options *size = &product->size;
	if (size->debug_info != WS_DEBUG_NONE) {
		add_segments(&label, ws_arena_printf(a, "dbg.%s", ws_debug_info_words[size->debug_info]));
	}
	if (size->compress != size->usual) {
		add_segments(&label, ws_arena_printf(a, "zip.%s", ws_compress_words[size->compress]));
	}
	if (extra) {
		add_segments(&label, extra);
	}
	return ws_buf_copy(&label, a);
}

/* An imported module of the stable ABI uses Python's limited API, from 3.10 on; a module that
 * torch.ops.load_library loads does not use Python. The recipe's `check` lists the imports. */
static bool
is_imported(const struct ws_recipe *recipe)
{
	for (size_t i = 0; i < recipe->extension_count; i++) {
		for (size_t j = 0; j < recipe->check.import_count; j++) {
			if (strcmp(recipe->extensions[i].module, recipe->check.imports[j]) == 0) {
				return true;
			}
		}
	}
	return false;
}

/* ",<2.7.1,>=2.7.0": the recipe's own range of torch, if it excludes a release that the wheel's
 * requirement allows; else "". */
static const char *
own_range(const struct ws_recipe *recipe, const struct ws_torch_choice *torch, bool one_minor,
	struct ws_arena *a)
{
	const struct ws_specifiers *range = recipe->needs_torch;
	struct ws_version first, last;
	if (!range || !ws_version_parse(ws_arena_printf(a, "%s.0", torch->minor), a, &first)
		|| !ws_version_parse(
			one_minor ? ws_arena_printf(a, "%s.9999", torch->minor) : "9999.0", a, &last)) {
		return "";
	}
	const char *text = ws_specifiers_text(range);
	bool whole = ws_specifiers_contain(range, &first, true)
		&& ws_specifiers_contain(range, &last, true) && !strstr(text, "!=");
	return whole ? "" : ws_arena_printf(a, ",%s", text);
}

static bool
asks_for_torch(const struct ws_recipe *recipe, struct ws_arena *a)
{
	for (size_t i = 0; i < recipe->metadata.require_count; i++) {
		const char *text = recipe->metadata.requires[i];
		const char *name = ws_arena_copy(a, text, strcspn(text, " \t[]()<>=!~;@,"));
		if (strcmp(ws_package_normal(name, a), "torch") == 0) {
			return true;
		}
	}
	return false;
}

static void
fill_label(struct ws_product *product, const char *extra, struct ws_arena *a)
{
	const struct ws_torch_choice *torch = product->point.torch;
	bool one_minor =
		product->binding == WS_BINDING_PYBIND || product->binding == WS_BINDING_TORCH_LIBRARY;
	const char *version = product->recipe->version.text;
	char joint = product->recipe->version.local ? '.' : '+';
	product->label = make_label(product, extra, a);
	product->version =
		product->label[0] ? ws_arena_printf(a, "%s%c%s", version, joint, product->label) : version;
	if (torch && product->binding < WS_BINDING_C_ABI) {
		product->torch = ws_arena_printf(a, one_minor ? "torch==%s.*%s" : "torch>=%s%s",
			torch->minor, own_range(product->recipe, torch, one_minor, a));
	} else if (product->recipe->needs_torch && asks_for_torch(product->recipe, a)) {
		/* Without torch in its modules the wheel works with each torch of the recipe's range. */
		product->torch =
			ws_arena_printf(a, "torch%s", ws_specifiers_text(product->recipe->needs_torch));
	}
	product->python_tag = "py3";
	product->abi_tag = "none";
	product->pure = product->binding == WS_BINDING_NONE;
	if (product->binding == WS_BINDING_PYBIND) {
		const struct ws_python_tag *tag = &product->point.python->tag;
		product->python_tag = ws_python_tag_text(tag, false, a);
		product->abi_tag = ws_python_tag_text(tag, true, a);
	} else if (product->binding == WS_BINDING_STABLE_ABI && is_imported(product->recipe)) {
		product->python_tag = "cp310";
		product->abi_tag = "abi3";
	}
	/* An imported module of the stable ABI includes Python.h, whichever Python's. */
	product->includes_python =
		product->binding == WS_BINDING_PYBIND || ws_same(product->abi_tag, "abi3");
}

/* Change it when equal inputs give other wheels. */
#define RECORD "wheelsmith.cell/3"

static bool
needs_cuda(const struct ws_product *product)
{
	return product->binding != WS_BINDING_NONE;
}

/* c-abi modules are compiled without torch's headers. */
static bool
needs_torch(const struct ws_product *product)
{
	return product->binding < WS_BINDING_C_ABI;
}

/* The digests of a product's inputs; NULL: not pinned, or not needed. */
struct parts {
	const char *source, *cuda, *torch;
};

static struct parts
find_parts(
	const struct ws_product *product, const struct ws_lock *lock, const struct ws_lock *known)
{
	const struct ws_torch_choice *torch = product->point.torch;
	const struct ws_cuda_choice *cuda = product->point.cuda;
	const struct ws_recipe *recipe = product->recipe;
	const struct ws_pin_source *source = ws_lock_source(lock, recipe->name, recipe->version.text);
	struct parts parts = {.source = source ? source->tree : NULL};
	if (needs_cuda(product)) {
		const struct ws_pin_cuda *pin = cuda->pin ? cuda->pin : ws_lock_cuda(known, cuda->name);
		parts.cuda = ws_pins_origin(pin, cuda->origin) ? pin->digest : NULL;
	}
	if (needs_torch(product) && torch->installed) {
		parts.torch = torch->record;
	} else if (needs_torch(product)) {
		const char *name = product->point.torch_pin;
		const struct ws_pin_torch *pin = ws_lock_torch(lock, name);
		pin = pin ? pin : ws_lock_torch(known, name);
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
	const struct ws_point *point = &product->point;
	if (needs_cuda(product)) {
		ws_hasher_add_field(h, "cuda");
		ws_hasher_add_field(h, point->cuda->name);
		ws_hasher_add_field(h, parts.cuda);
	}
	if (needs_torch(product)) {
		ws_hasher_add_field(h, "torch");
		ws_hasher_add_field(h, point->torch->version.text);
		ws_hasher_add_field(h, parts.torch);
		ws_hasher_add_field(h, point->cxx11abi == 1 ? "cxx11abi 1" : "cxx11abi 0");
	}
	ws_hasher_add_field(h, "archs");
	ws_hasher_add_field(h, needs_cuda(product) ? ws_arch_set_text(&point->archs, a) : "");
	ws_hasher_add_field(h, "wheel");
	ws_hasher_add_field(h, product->version);
	ws_hasher_add_field(h, product->python_tag);
	ws_hasher_add_field(h, product->abi_tag);
	ws_hasher_add_field(h, product->torch ? product->torch : "");
	ws_hasher_add_field(h, product->glibc ? product->glibc : "");
	if (point->machine->mark[0]) {
		ws_hasher_add_field(h, point->machine->name);
	}
	struct ws_digest key = ws_hasher_finish(h);
	product->key = ws_arena_strdup(a, key.hex);
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
		fill_gcc(in->facts, product, a);
		/* The glibc of the lowest torch of its cells; without torch, of the oldest release. */
		const char *glibc = in->matrix->glibc;
		const struct ws_torch_choice *torch = product->point.torch;
		if (product->binding != WS_BINDING_NONE && !ws_same(glibc, WS_GLIBC_HOST)) {
			product->glibc = glibc ? glibc
				: torch            ? torch->release->glibc
								   : in->facts->torch[0].glibc;
		}
		fill_label(product, in->matrix->label, a);
		ws_key_fill(product, in->lock, in->known, a);
	}
}
