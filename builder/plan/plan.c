#include "plan/steps.h"

#include <limits.h>

/* A larger matrix is probably a mistake. */
#define MOST_CELLS 100000

/* The torch build and the toolkit that belong together at one place of the axes. */
struct pair {
	const struct ws_torch_choice *torch;
	const struct ws_cuda_choice *cuda;
};

/* The axes of a matrix with their values resolved. */
struct grid {
	struct ws_axes *axes;
	const struct ws_matrix *matrix;
	const struct ws_python_choice **pythons;
	const struct ws_arch_choice **archs;
	struct pair *pairs; /* by point */
	size_t points;      /* of one platform */
	struct ws_map names;
	ws_cell_list *cells;
	struct ws_groups *groups;
};

static bool
resolve_values(struct grid *grid, struct ws_err *err)
{
	const struct ws_matrix *matrix = grid->matrix;
	struct ws_arena *a = grid->axes->a;
	grid->pythons = WS_NEW_N(a, const struct ws_python_choice *, matrix->python_count);
	for (size_t i = 0; i < matrix->python_count; i++) {
		grid->pythons[i] = ws_axes_python(grid->axes, &matrix->python[i], err);
		if (!grid->pythons[i]) {
			return false;
		}
	}
	grid->archs = WS_NEW_N(a, const struct ws_arch_choice *, matrix->arch_count);
	for (size_t i = 0; i < matrix->arch_count; i++) {
		grid->archs[i] = ws_axes_arch(grid->axes, &matrix->arch[i], err);
		if (!grid->archs[i]) {
			return false;
		}
	}
	return true;
}

static struct pair
resolve_pair(struct ws_axes *axes, const struct ws_torch_value *torch,
	const struct ws_cuda_value *cuda, const struct ws_python_choice *python,
	const struct ws_arch_choice *arch, int abi)
{
	struct pair pair = {0};
	if (torch) {
		pair.torch = ws_axes_torch(axes, torch, cuda, python, abi);
	}
	pair.cuda = ws_axes_cuda(axes, cuda, pair.torch, &arch->set);
	return pair;
}

/* The place of a point on each axis. */
struct place {
	size_t torch, cuda, python, arch, abi;
};

/* The place of point @n of one platform; the ABI changes first. */
static struct place
place_of(const struct ws_matrix *m, size_t n)
{
	struct place at;
	at.abi = n % m->cxx11abi_count;
	n /= m->cxx11abi_count;
	at.arch = n % m->arch_count;
	n /= m->arch_count;
	at.python = n % m->python_count;
	n /= m->python_count;
	at.cuda = n % m->cuda_count;
	at.torch = n / m->cuda_count;
	return at;
}

static struct ws_cell *
make_cell(struct grid *grid, const struct ws_recipe *recipe, const struct ws_point *point)
{
	struct ws_arena *a = grid->axes->a;
	const char *name = ws_point_name(point, recipe, NULL, a);
	struct ws_cell *cell = ws_map_get(&grid->names, name);
	if (!cell) {
		cell = WS_NEW(a, struct ws_cell);
		ws_map_put(&grid->names, name, cell, a);
		*ws_vec_push(grid->cells, a) = cell;
		*cell = (struct ws_cell){.name = name, .recipe = recipe, .point = *point};
		ws_rules_ask(grid->axes, cell);
		cell->looseness = INT_MAX;
	}
	bool alive = !ws_rules_hold_everywhere(grid->axes, cell, point);
	ws_groups_add(grid->groups, cell, point, alive, a);
	return cell;
}

static struct ws_point
make_point(const struct grid *grid, const struct ws_machine *machine, const struct pair *pair,
	bool cuda_auto, const struct ws_python_choice *python, const struct ws_arch_choice *arch,
	int abi)
{
	const struct ws_plan_lookups *lookups = &grid->axes->in->lookups;
	const struct ws_torch_choice *torch = pair->torch;
	struct ws_point point = {
		.machine = machine,
		.torch = torch,
		.cuda = pair->cuda,
		.cuda_auto = cuda_auto,
		.python = python,
		.arch = arch,
		.archs = arch->set,
		.cxx11abi = abi < 0 && torch ? torch->cxx11abi : abi,
		.abi_auto = abi < 0,
	};
	if (torch && torch->version.text) {
		point.torch_pin =
			ws_arena_printf(grid->axes->a, "%s%s", torch->version.text, machine->mark);
	}
	if (torch && torch->installed) {
		const struct ws_plan_python *interpreter = python->interpreter;
		point.lists = interpreter && interpreter->torch ? interpreter->torch->lists : NULL;
	} else if (torch && lookups->lists) {
		point.lists = lookups->lists(lookups->self, torch, machine);
	}
	return point;
}

static bool
needs_torch(const struct ws_recipe *recipe)
{
	return ws_recipe_binding(recipe) < WS_BINDING_C_ABI;
}

static bool
check_torch(const struct grid *grid, struct ws_err *err)
{
	const struct ws_matrix *matrix = grid->matrix;
	for (size_t i = 0; i < matrix->package_count && matrix->torch_count == 0; i++) {
		if (needs_torch(&grid->axes->in->recipes[i])) {
			ws_axes_err(grid->axes, matrix->packages[i].place, err,
				matrix->path ? "'%s' needs torch, and the matrix names none"
							 : "'%s' needs torch, and none is selected",
				matrix->packages[i].name);
			return ws_err_cure_code(err, WS_CURE_TORCH, "2.5.1");
		}
	}
	return true;
}

static bool
add_extra(struct grid *grid, const struct ws_include *include, const struct ws_recipe *recipe,
	struct ws_err *err)
{
	const struct ws_torch_value *torch =
		include->torch.installed || include->torch.version.text ? &include->torch : NULL;
	if (!torch && needs_torch(recipe)) {
		ws_err_set(err, WS_ERR_CONFIG,
			"an extra point of 'include' names no torch, which '%s' needs", recipe->name);
		return ws_err_cure(err, "add the release: \"torch\": \"2.5.1\"");
	}
	const struct ws_python_choice *python = ws_axes_python(grid->axes, &include->python, err);
	const struct ws_arch_choice *arch =
		python ? ws_axes_arch(grid->axes, &include->arch, err) : NULL;
	if (!arch) {
		return ws_err_wrap(err, "an extra point of 'include'");
	}
	struct pair pair =
		resolve_pair(grid->axes, torch, &include->cuda, python, arch, include->cxx11abi);
	struct ws_point point = make_point(grid, grid->matrix->platforms[0], &pair,
		include->cuda.automatic, python, arch, include->cxx11abi);
	struct ws_cell *cell = make_cell(grid, recipe, &point);
	/* An extra point is explicit: `exclude` applies to the axes alone. */
	cell->extra = true;
	if (cell->rule == WS_RULE_MATRIX) {
		ws_rules_ask(grid->axes, cell);
	}
	return true;
}

static bool
add_extras(struct grid *grid, struct ws_err *err)
{
	const struct ws_matrix *matrix = grid->matrix;
	for (size_t i = 0; i < matrix->include_count; i++) {
		const struct ws_include *include = &matrix->includes[i];
		for (size_t p = 0; p < matrix->package_count; p++) {
			bool named =
				!include->package || strcmp(include->package, matrix->packages[p].name) == 0;
			if (named && !add_extra(grid, include, &grid->axes->in->recipes[p], err)) {
				return false;
			}
		}
	}
	return true;
}

static bool
expand(struct ws_axes *axes, ws_cell_list *cells, struct ws_groups *groups, struct ws_err *err)
{
	const struct ws_matrix *m = axes->in->matrix;
	struct grid grid = {.axes = axes, .matrix = m, .cells = cells, .groups = groups};
	grid.points = 1;
	if (!check_torch(&grid, err)) {
		return false;
	}
	const size_t counts[] = {m->torch_count > 0 ? m->torch_count : 1, m->cuda_count,
		m->python_count, m->arch_count, m->cxx11abi_count, m->platform_count, m->package_count};
	for (size_t i = 0, all = 1; i < WS_LEN(counts); i++) {
		all *= counts[i];
		grid.points *= i < 5 ? counts[i] : 1;
		if (all > MOST_CELLS) {
			ws_err_set(err, WS_ERR_CONFIG, "the matrix has more than %d cells", MOST_CELLS);
			return ws_err_cure(err, "split it into several files");
		}
	}
	if (!resolve_values(&grid, err)) {
		return false;
	}
	grid.pairs = WS_NEW_N(axes->a, struct pair, grid.points);
	for (size_t n = 0; n < grid.points; n++) {
		struct place at = place_of(m, n);
		const struct ws_torch_value *torch = m->torch_count > 0 ? &m->torch[at.torch] : NULL;
		/* A release is the same for every Python; an installed torch is not. */
		grid.pairs[n] = at.python > 0 && !(torch && torch->installed)
			? grid.pairs[n - at.python * m->arch_count * m->cxx11abi_count]
			: resolve_pair(axes, torch, &m->cuda[at.cuda], grid.pythons[at.python],
				grid.archs[at.arch], m->cxx11abi[at.abi]);
	}
	for (size_t p = 0; p < m->package_count; p++) {
		for (size_t n = 0; n < grid.points * m->platform_count; n++) {
			/* The platform changes last. */
			struct place at = place_of(m, n % grid.points);
			struct ws_point point = make_point(&grid, m->platforms[n / grid.points],
				&grid.pairs[n % grid.points], m->cuda[at.cuda].automatic, grid.pythons[at.python],
				grid.archs[at.arch], m->cxx11abi[at.abi]);
			make_cell(&grid, &axes->in->recipes[p], &point);
		}
	}
	return add_extras(&grid, err);
}

/* Gives products the cells of this plan that need them, and drops products without cells. */
static void
attach(struct ws_cell *const *cells, size_t count, ws_product_list *products, struct ws_arena *a)
{
	size_t kept = 0;
	for (size_t i = 0; i < products->len; i++) {
		products->at[i]->cell_count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		if (cells[i]->product) {
			cells[i]->product->cell_count++;
		}
	}
	for (size_t i = 0; i < products->len; i++) {
		struct ws_product *product = products->at[i];
		if (product->cell_count > 0) {
			product->cells = WS_NEW_N(a, struct ws_cell *, product->cell_count);
			product->cell_count = 0;
			product->number = (unsigned)kept;
			products->at[kept++] = product;
		}
	}
	products->len = kept;
	for (size_t i = 0; i < count; i++) {
		struct ws_product *product = cells[i]->product;
		if (product) {
			product->cells[product->cell_count++] = cells[i];
		}
	}
}

bool
ws_plan_make(
	const struct ws_plan_input *input, struct ws_arena *a, struct ws_plan *plan, struct ws_err *err)
{
	struct ws_axes axes;
	ws_cell_list cells = {0};
	ws_product_list products = {0};
	struct ws_groups groups = {0};
	*plan = (struct ws_plan){0};
	ws_axes_open(&axes, input, a);
	if (!expand(&axes, &cells, &groups, err)) {
		return false;
	}
	ws_products_make(input, cells.at, cells.len, a, &products);
	if (!ws_select(input, &groups, &cells, a, err)) {
		return false;
	}
	attach(cells.at, cells.len, &products, a);
	if (ws_decide(input, cells.at, cells.len, products.at, products.len, a)) {
		attach(cells.at, cells.len, &products, a);
	}
	*plan = (struct ws_plan){
		.cells = cells.at,
		.cell_count = cells.len,
		.products = products.at,
		.product_count = products.len,
		.warnings = axes.warnings.at,
		.warning_count = axes.warnings.len,
	};
	ws_cost_fill(input, plan, a);
	ws_decide_reasons(cells.at, cells.len, a);
	return true;
}
