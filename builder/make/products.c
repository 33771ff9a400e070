/* products.c - from a product and its materials to nodes. */
#include "make/products.h"

#include "compile/extension_target.h"
#include "config/recipe.h"
#include "judge/order.h"
#include "make/import_check.h"
#include "make/pack.h"
#include "net/url.h"
#include "recipe/command_rules.h"
#include "recipe/recipe_view.h"

struct adding {
	const struct ws_context *ctx;
	struct ws_resolver *resolver;
	struct ws_graph *graph;
	struct ws_made *made;
	struct ws_arena *a;
	const char *group;
	struct ws_recipe_view view;
	WS_VEC(struct ws_judge_module) modules;
	struct ws_node *check; /* NULL: no module */
};

static struct ws_node *
add_node(struct adding *w, const struct ws_action *action)
{
	struct ws_node *node = ws_graph_add(w->graph, action);
	*ws_vec_push(&w->made->nodes, w->a) = node;
	return node;
}

/* Plain C functions do not use torch: one module serves every torch. */
static struct ws_target *
target_of(const struct adding *w, const struct ws_recipe_module *module)
{
	const struct ws_extension *extension = module->extension;
	const struct ws_product *product = w->made->product;
	const struct ws_materials *m = &w->made->materials;
	bool plain = extension->binding == WS_BINDING_C_ABI;
	struct ws_target *target = WS_NEW(w->a, struct ws_target);
	*target = (struct ws_target){
		.recipe = product->recipe,
		.extension = extension,
		.flags = module->extension->flags,
		.size = product->size,
		.source = &m->source->tree,
		.torch = plain ? NULL : m->torch,
		.cuda = m->cuda,
		.python = plain ? NULL : m->python,
		.cxx = m->cxx,
		.linker = m->linker,
		.floor = m->floor,
		.archs = product->point.archs,
		.cxx11abi = product->point.cxx11abi,
		.group = w->group,
		.travels = w->ctx->executor != NULL,
		.common = WS_NEW(w->a, struct ws_target_common),
	};
	return target;
}

/* The driver for C is in the folder of the chosen compiler. */
static bool
has_c(const struct ws_hostcc *cxx, bool needs_c, struct ws_err *err)
{
	if (!needs_c || cxx->c_path) {
		return true;
	}
	ws_err_set(err, WS_ERR_BUILD, "compiler '%s' has no driver for C next to it", cxx->path);
	if (cxx->platform) {
		return ws_err_cure(err, "the image of the farm's workers needs it");
	}
	return ws_err_cure(err, "install the C compiler of the same version, %s %u",
		cxx->kind == WS_HOSTCC_GCC ? "gcc" : "clang", cxx->major);
}

static bool
add_module(struct adding *w, const struct ws_recipe_module *module, struct ws_err *err)
{
	const struct ws_target *target = target_of(w, module);
	const struct ws_extension *extension = module->extension;
	const struct ws_install_check *check = &w->made->product->recipe->check;
	/* C is compiled, and linked without C++, by a driver of its own. */
	bool compiles_c = false;
	for (size_t i = 0; i < module->unit_count; i++) {
		compiles_c = compiles_c || module->units[i].kind == WS_UNIT_C;
	}
	if (!has_c(target->cxx, compiles_c, err) || !has_c(target->linker, !module->cxx, err)) {
		return false;
	}
	struct ws_node **nodes = WS_NEW_N(w->a, struct ws_node *, module->unit_count + 1);
	for (size_t i = 0; i < module->unit_count; i++) {
		nodes[i] = add_node(w, ws_target_compile(target, &module->units[i], w->ctx->store, w->a));
	}
	const struct ws_action *link = ws_target_link(target, w->ctx->store, module, nodes, w->a, err);
	if (!link) {
		return false;
	}
	/* Python imports the modules that `check.import` of the recipe lists, without it all pybind
	 * modules; torch or ctypes loads the others. */
	bool named = false;
	for (size_t i = 0; i < check->import_count; i++) {
		named = named || ws_same(check->imports[i], extension->module);
	}
	*ws_vec_push(&w->modules, w->a) = (struct ws_judge_module){.module = extension->module,
		.link = add_node(w, link),
		.cuda = module->cuda,
		.imported = extension->binding == WS_BINDING_PYBIND
			? named || check->import_count == 0
			: extension->binding == WS_BINDING_STABLE_ABI && named};
	return true;
}

/* The oldest Python that a wheel for several promises to load in; NULL: it is for one. A py3-none
 * wheel loads where its torch does, or anywhere since the oldest Python that any torch here
 * knows. */
static const char *
stable_python(const struct adding *w, const struct ws_torch_choice *torch)
{
	const struct ws_product *product = w->made->product;
	if (product->binding == WS_BINDING_PYBIND) {
		return NULL;
	}
	unsigned minor = 8;
	if (ws_starts_with(product->python_tag, "cp3")) {
		return ws_arena_printf(w->a, "3.%s", product->python_tag + strlen("cp3"));
	}
	for (size_t i = 0; torch && torch->known && i < torch->release->python_count; i++) {
		unsigned other = torch->release->pythons[i].minor;
		minor = i == 0 || other < minor ? other : minor;
	}
	return ws_arena_printf(w->a, "3.%u", minor);
}

static bool
fill_place(struct adding *w, const struct ws_point *point, struct ws_wheel_place *place,
	struct ws_err *err)
{
	const struct ws_product *product = w->made->product;
	const struct ws_materials *m = &w->made->materials;
	const struct ws_torch_choice *torch =
		product->binding == WS_BINDING_C_ABI ? NULL : point->torch;
	ws_list_paths lists = {0};
	struct ws_point seen = *point;
	seen.torch = torch;
	if (!ws_resolve_lists(w->resolver, &seen, &lists, err)) {
		return false;
	}
	if (m->floor) {
		*ws_vec_push(&lists, w->a) = m->floor->list;
	}
	const char *stable = stable_python(w, torch);
	place->torch = torch ? torch->name : NULL;
	struct ws_judge_place *to = &place->place;
	to->lists = lists.at;
	to->list_count = lists.len;
	to->glibc = m->floor ? m->floor->glibc : NULL;
	to->libraries = m->libraries.at;
	to->library_count = m->libraries.len;
	to->python_tag = product->binding == WS_BINDING_PYBIND ? product->abi_tag : NULL;
	to->stable_python = stable;
	bool here = point->machine == ws_machine_host();
	to->machine = here ? NULL : point->machine->name;
	to->python = here && m->python && !stable ? m->python->library : NULL;
	return true;
}

/* The wheel must load in every torch that its cells name. */
static bool
add_check(struct adding *w, struct ws_err *err)
{
	const struct ws_product *product = w->made->product;
	const struct ws_point **points =
		WS_NEW_N(w->a, const struct ws_point *, product->cell_count + 1);
	/* A point of each torch that the cells name, the product's own first: what is measured, is
	 * measured there. */
	size_t count = 0;
	points[count++] = &product->point;
	for (size_t i = 0; i < product->cell_count && product->binding != WS_BINDING_C_ABI; i++) {
		const struct ws_point *point = &product->cells[i]->point;
		bool known = false, own = point->torch && point->torch->installed;
		for (size_t k = 0; k < count && !known; k++) {
			/* Each Python has its own installed torch. */
			known =
				point->torch == points[k]->torch && !(own && point->python != points[k]->python);
		}
		if (!known) {
			points[count++] = point;
		}
	}
	struct ws_wheel_place *places = WS_NEW_N(w->a, struct ws_wheel_place, count);
	for (size_t i = 0; i < count; i++) {
		if (!fill_place(w, points[i], &places[i], err)) {
			return false;
		}
	}
	/* "tiny 1.0+cpu in torch 2.5.0, 2.5.1" */
	WS_AUTO_BUF struct ws_buf subject = {0};
	ws_buf_printf(&subject, "%s %s", product->recipe->name, product->version);
	for (size_t i = 0; i < count && places[i].torch; i++) {
		ws_buf_printf(&subject, "%s%s", i ? ", " : " in torch ", places[i].torch);
	}
	struct ws_judge_order order = {
		.subject = ws_buf_copy(&subject, w->a),
		.unit = ws_arena_printf(w->a, "%s/check", product->recipe->name),
		.group = w->group,
		.modules = w->modules.at,
		.module_count = w->modules.len,
		.archs = product->point.archs,
		.places = places,
		.place_count = count,
	};
	const struct ws_action *action =
		ws_judge_action(&order, w->ctx->store, w->ctx->program, w->a, err);
	w->check = action ? add_node(w, action) : NULL;
	return action != NULL;
}

static const struct ws_pack_kit *
compiler_facts(const struct ws_hostcc *cxx, struct ws_arena *a)
{
	struct ws_pack_kit *kit = WS_NEW(a, struct ws_pack_kit);
	kit->kind = cxx->kind == WS_HOSTCC_GCC ? "gcc" : "clang";
	kit->version = cxx->version;
	kit->machine = cxx->machine;
	kit->tools = cxx->fingerprint;
	return kit;
}

static struct ws_pack_facts
pack_facts(const struct ws_product *product, const struct ws_materials *m, struct ws_arena *a)
{
	struct ws_pack_kit *kits = WS_NEW_N(a, struct ws_pack_kit, 2);
	bool other_linker = m->cxx && strcmp(m->cxx->fingerprint, m->linker->fingerprint) != 0;
	if (m->torch) {
		/* The tree is what the wheels of all Pythons share: which of them came first must not
		 * show. */
		kits[0] = (struct ws_pack_kit){.version = m->torch->version.text,
			.cuda = m->torch->cuda,
			.cxx11abi = m->torch->cxx11abi,
			.tree = m->torch->tree ? m->torch->tree->digest.hex : NULL};
	}
	if (m->cuda) {
		kits[1] = (struct ws_pack_kit){.version = m->cuda->version.text,
			.nvcc = m->cuda->release,
			.tools = m->cuda->fingerprint,
			.tree = m->cuda->tree ? m->cuda->tree->digest.hex : NULL};
	}
	return (struct ws_pack_facts){
		.recipe = product->recipe->digest.hex,
		.sources = m->source->tree.digest.hex,
		.torch = m->torch ? &kits[0] : NULL,
		.cuda = m->cuda ? &kits[1] : NULL,
		.compiler = m->cxx ? compiler_facts(m->cxx, a) : NULL,
		.linker = other_linker ? compiler_facts(m->linker, a) : NULL,
		.glibc = m->floor ? m->floor->glibc : NULL,
		.python = m->python ? m->python->version : NULL,
		.archs = product->point.archs.count ? ws_arch_set_text(&product->point.archs, a) : NULL,
	};
}

static bool
add_pack(struct adding *w, struct ws_err *err)
{
	const struct ws_product *product = w->made->product;
	const struct ws_recipe *recipe = product->recipe;
	const struct ws_materials *m = &w->made->materials;
	const struct ws_source_spec *spec = m->source->spec;
	WS_VEC(struct ws_sbom_part) parts = {0};
	*ws_vec_push(&parts, w->a) = (struct ws_sbom_part){
		.name = ws_arena_printf(w->a, "%s sources", recipe->name),
		.version = spec->commit ? spec->commit : recipe->version.text,
		/* Other people read the wheel: leave out the private parts of the URL. */
		.url = spec->kind == WS_SOURCE_GIT ? ws_url_bare(spec->url, w->a) : NULL,
		.sha256 = spec->sha256,
	};
	if (m->torch) {
		*ws_vec_push(&parts, w->a) = (struct ws_sbom_part){
			.name = "torch",
			.version = m->torch->version.text,
			.purl = ws_arena_printf(w->a, "pkg:pypi/torch@%s", m->torch->version.public_text),
		};
	}
	if (m->cuda) {
		*ws_vec_push(&parts, w->a) = (struct ws_sbom_part){
			.name = "CUDA toolkit", .version = m->cuda->release, .application = true};
	}
	if (m->cxx) {
		*ws_vec_push(&parts, w->a) =
			(struct ws_sbom_part){.name = m->cxx->kind == WS_HOSTCC_GCC ? "gcc" : "clang",
				.version = m->cxx->version,
				.application = true};
	}
	struct ws_pack_order order = {
		.recipe = recipe,
		.source = &m->source->tree,
		.group = w->group,
		.version = product->version,
		.python_tag = product->python_tag,
		.abi_tag = product->abi_tag,
		.torch = product->torch,
		.files = w->view.files.at,
		.file_count = w->view.files.len,
		.modules = w->modules.at,
		.module_count = w->modules.len,
		.check = w->check,
		.parts = parts.at,
		.part_count = parts.len,
		.facts = pack_facts(product, m, w->a),
	};
	const struct ws_action *action =
		ws_pack_action(&order, w->ctx->store, w->ctx->program, w->a, err);
	w->made->pack = action ? add_node(w, action) : NULL;
	return action != NULL;
}

/* A build fails with the first problem, at its place in the recipe; `recipe check` reports all. */
static bool
fail_with(const struct ws_recipe *recipe, const struct ws_recipe_problem *problem,
	struct ws_arena *a, struct ws_err *err)
{
	struct ws_document document;
	ws_err_set(err, WS_ERR_CONFIG, "%s %s: %s", recipe->name, recipe->version.text, problem->text);
	if (ws_document_read(recipe->path, "recipe", a, &document, NULL)) {
		const struct ws_json *value = ws_recipe_value_at(document.doc->root, problem->where, a);
		ws_err_at(err, document.doc->name, document.doc->text, value->offset, value->len);
	} else {
		ws_err_cure(err, "the recipe '%s' names it", recipe->path);
	}
	return problem->cure ? ws_err_cure(err, "%s", problem->cure) : false;
}

static bool
add_all(struct adding *w, struct ws_err *err)
{
	const struct ws_product *product = w->made->product;
	struct ws_listing listing = ws_tree_listing(&w->made->materials.source->tree);
	ws_recipe_see(product->recipe, &listing, &product->view, w->a, &w->view);
	if (w->view.problems.list.len > 0) {
		return fail_with(product->recipe, &w->view.problems.list.at[0], w->a, err);
	}
	for (size_t i = 0; i < w->view.module_count; i++) {
		if (w->view.modules[i].cuda && !ws_path_suits_nvcc(w->ctx->store->path)) {
			ws_err_set(
				err, WS_ERR_CONFIG, "nvcc cannot work in the store '%s'", w->ctx->store->path);
			ws_err_cure(err, "its path may not contain , \" $ ` or \\");
			return ws_err_cure_code(err, WS_CURE_STORE, NULL);
		}
	}
	for (size_t i = 0; i < w->view.module_count; i++) {
		if (!add_module(w, &w->view.modules[i], err)) {
			return false;
		}
	}
	if ((w->modules.len > 0 && !add_check(w, err)) || !add_pack(w, err)) {
		return false;
	}
	/* Where this host has the Python and the torch of the cell. */
	struct ws_import_order order = {
		.recipe = product->recipe, .group = w->group, .pack = w->made->pack};
	if (product->recipe->check.import_count > 0
		&& ws_resolve_beside(w->resolver, &product->point, &order.python, &order.torch)) {
		w->made->import = add_node(w, ws_import_action(&order, w->a));
	}
	return true;
}

bool
ws_products_add(const struct ws_context *ctx, struct ws_resolver *resolver,
	const struct ws_product *product, struct ws_graph *graph, struct ws_made *made,
	struct ws_err *err)
{
	*made = (struct ws_made){.product = product};
	if (!ws_resolve(resolver, product, &made->materials, err)) {
		return false;
	}
	struct adding w = {
		.ctx = ctx,
		.resolver = resolver,
		.graph = graph,
		.made = made,
		.a = ctx->a,
		.group = product->cells[0]->name,
	};
	size_t before = graph->nodes.len;
	if (add_all(&w, err)) {
		return true;
	}
	/* Half a product is not built: its nodes are in no other's inputs. */
	graph->nodes.len = before;
	return ws_err_wrap(err, "%s", w.group);
}
