/* plan_world.c - see plan_world.h. */
#include "plan_world.h"

#include "test.h"

#include "base/fs.h"
#include "config/facts.h"
#include "config/lock.h"
#include "config/matrix.h"
#include "config/recipe.h"
#include "prebuilt/candidates.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DEFAULT_HOST \
	"{\"python\": \"3.11\", \"kits\": [\"cuda-11.8\", \"cuda-12.4\", \"cuda-13.0\"]}"

static bool
parse_json(const char *name, const char *text, struct ws_arena *a, struct ws_json_doc **doc,
	struct ws_err *err)
{
	*doc = WS_NEW(a, struct ws_json_doc);
	return ws_json_parse(name, text, strlen(text), WS_JSON_RELAXED, a, *doc, err);
}

/* The next word of @a text, which moves behind it; NULL at the end of the line. */
static const char *
take_word(const char **text, struct ws_arena *a)
{
	*text += strspn(*text, " ");
	size_t len = strcspn(*text, " \n");
	const char *word = len > 0 ? ws_arena_copy(a, *text, len) : NULL;
	*text += len;
	return word;
}

/* "demo 1.0 pybind a.cu" as a whole recipe. */
static const char *
spell_out(const char *text, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf json = {0};
	const char *name = take_word(&text, a);
	const char *version = take_word(&text, a);
	const char *binding = take_word(&text, a);
	const char *source, *comma = "";
	ws_buf_printf(&json,
		"{\"name\": \"%s\", \"version\": \"%s\", \"source\": [{\"folder\": \"src\"}]", name,
		version);
	if (strcmp(binding, "none") == 0) {
		ws_buf_printf(&json, ", \"python\": {\"packages\": [\"%s\"]}", name);
	} else {
		ws_buf_printf(&json,
			", \"extensions\": [{\"module\": \"%s_cuda\", \"binding\": \"%s\", \"sources\": [",
			ws_package_file_part(name, a), binding);
		for (; (source = take_word(&text, a)); comma = ", ") {
			ws_buf_printf(&json, "%s\"%s\"", comma, source);
		}
		ws_buf_puts(&json, "]}]");
	}
	text += strspn(text, " \n");
	ws_buf_printf(&json, "%s%s}", *text ? ", " : "", text);
	return ws_buf_copy(&json, a);
}

static bool
read_recipe(const char *text, struct ws_arena *a, struct ws_recipe *recipe, struct ws_err *err)
{
	struct ws_json_doc *doc;
	if (ws_starts_with(text, "shipped ")) {
		text += strlen("shipped ");
		const char *name = take_word(&text, a);
		const char *path =
			ws_arena_printf(a, WS_SOURCE_DATA_DIR "/recipes/%s/%s.json", name, take_word(&text, a));
		bool read = ws_recipe_read(path, a, recipe, err);
		recipe->path = path + strlen(WS_SOURCE_DATA_DIR) + 1; /* the same wherever this lies */
		return read;
	}
	text = text[0] == '{' ? text : spell_out(text, a);
	return parse_json("recipe.json", text, a, &doc, err)
		&& ws_recipe_parse(doc, "/recipes", a, recipe, err);
}

/* One recipe for each package of the matrix, anywhere in the case. */
static bool
read_recipes(const struct ws_case *c, struct ws_arena *a, struct world *world, struct ws_err *err)
{
	struct ws_recipe *recipes = WS_NEW_N(a, struct ws_recipe, world->matrix.package_count);
	for (size_t i = 0; i < c->count; i++) {
		struct ws_recipe recipe;
		if (strcmp(c->names[i], "recipe") != 0) {
			continue;
		}
		if (!read_recipe(c->texts[i], a, &recipe, err)) {
			return false;
		}
		for (size_t j = 0; j < world->matrix.package_count; j++) {
			const struct ws_wanted *wanted = &world->matrix.packages[j];
			if (strcmp(wanted->name, recipe.name) == 0
				&& strcmp(wanted->version.text, recipe.version.text) == 0) {
				recipes[j] = recipe;
				ws_known_bad_add(&recipes[j], &world->facts, a);
			}
		}
	}
	for (size_t i = 0; i < world->matrix.package_count; i++) {
		if (!recipes[i].name) {
			return ws_err_set(
				err, WS_ERR_CONFIG, "no @recipe for '%s'", world->matrix.packages[i].name);
		}
	}
	world->input.recipes = recipes;
	return true;
}

static const char *const *
read_texts(const struct ws_json *list, struct ws_arena *a, size_t *count)
{
	*count = 0;
	if (!list) {
		return NULL;
	}
	const char **texts = WS_NEW_N(a, const char *, list->count);
	for (WS_JSON_EACH(item, list)) {
		texts[(*count)++] = item->text;
	}
	return texts;
}

static unsigned
number_of(const struct ws_json *object, const char *key, unsigned otherwise)
{
	uint64_t value = otherwise;
	ws_json_u64(object, key, &value);
	return (unsigned)value;
}

static void
read_interpreter(const struct ws_json *item, struct ws_arena *a, struct ws_plan_python *python)
{
	python->path = ws_json_text(item, "path");
	assert_true(ws_python_tag_parse(ws_json_text(item, "python"), &python->tag));
	if (ws_json_text(item, "missing")) {
		struct ws_err *missing = WS_NEW(a, struct ws_err);
		ws_err_set(missing, WS_ERR_CONFIG, "%s", ws_json_text(item, "missing"));
		ws_err_cure_code(missing, WS_CURE_PYTHON, "/path/to/python");
		python->missing = missing;
	}
	if (ws_json_text(item, "torch")) {
		struct ws_plan_installed *torch = WS_NEW(a, struct ws_plan_installed);
		assert_true(ws_version_parse(ws_json_text(item, "torch"), a, &torch->version));
		torch->cuda = ws_json_text(item, "cuda");
		torch->cxx11abi = (int)number_of(item, "cxx11abi", 0);
		torch->record = ws_json_text(item, "record");
		python->torch = torch;
	}
}

static void
read_pythons(const struct ws_json *root, struct ws_arena *a, struct ws_plan_host *host)
{
	const struct ws_json *list = ws_json_find(root, "interpreters");
	struct ws_plan_python *pythons =
		WS_NEW_N(a, struct ws_plan_python, (list ? list->count : 0) + 1);
	if (ws_json_text(root, "python")) {
		read_interpreter(root, a, pythons);
		pythons[host->python_count++].host = true;
	}
	for (const struct ws_json *item = list ? list->first : NULL; item; item = item->next) {
		read_interpreter(item, a, &pythons[host->python_count++]);
	}
	host->pythons = pythons;
}

static bool
read_host(const char *text, struct ws_arena *a, struct ws_plan_host *host, struct ws_err *err)
{
	struct ws_json_doc *doc, *defaults;
	const char *why;
	if (!parse_json("host.json", text ? text : DEFAULT_HOST, a, &doc, err)
		|| !parse_json("host.json", DEFAULT_HOST, a, &defaults, err)) {
		return false;
	}
	const struct ws_json *kits = ws_json_find(doc->root, "kits");
	read_pythons(doc->root, a, host);
	if (ws_json_text(doc->root, "gpus")) {
		assert_true(ws_arch_set_parse(ws_json_text(doc->root, "gpus"), a, &host->gpus, &why));
	}
	const char *const *versions =
		read_texts(ws_json_find(doc->root, "toolkits"), a, &host->toolkit_count);
	struct ws_plan_toolkit *toolkits = WS_NEW_N(a, struct ws_plan_toolkit, host->toolkit_count + 1);
	for (size_t i = 0; i < host->toolkit_count; i++) {
		toolkits[i].version = versions[i];
	}
	host->toolkits = toolkits;
	host->kits =
		read_texts(kits ? kits : ws_json_find(defaults->root, "kits"), a, &host->kit_count);
	const char *choice = ws_json_text(doc->root, "choice");
	host->choice = ws_same(choice, "host") ? WS_KITS_HOST
		: ws_same(choice, "archive")       ? WS_KITS_ARCHIVE
										   : WS_KITS_ANY;
	host->cores = number_of(doc->root, "cores", 2);
	host->jobs = number_of(doc->root, "jobs", 2);
	host->memory_bytes = (uint64_t)number_of(doc->root, "memory_mib", 0) << 20;
	return true;
}

static void
pin_all(struct world *world, struct ws_arena *a)
{
	const struct ws_plan_host *host = &world->input.host;
	for (size_t i = 0; i < world->matrix.package_count; i++) {
		const struct ws_wanted *wanted = &world->matrix.packages[i];
		struct ws_pin_source pin = {
			wanted->name, wanted->version.text, "folder", "src", NULL, NULL, HEX, NULL};
		ws_lock_put(&world->lock, WS_PIN_SOURCE, &pin, a);
	}
	for (size_t i = 0; i < host->kit_count; i++) {
		struct ws_pin_cuda pin = {
			host->kits[i] + strlen("cuda-"), "archive", host->kits[i], HEX, HEX, NULL};
		ws_lock_put(&world->lock, WS_PIN_CUDA, &pin, a);
	}
	for (size_t i = 0; i < world->facts.torch_count; i++) {
		const struct ws_torch_release *release = &world->facts.torch[i];
		struct ws_pin_torch pin = {release->version.text, "torch.whl", HEX, HEX, HEX,
			release->standard.cuda, release->standard.cxx11abi};
		ws_lock_put(&world->lock, WS_PIN_TORCH, &pin, a);
	}
}

static bool
read_lock(const char *text, struct ws_arena *a, struct world *world, struct ws_err *err)
{
	struct ws_json_doc *doc;
	if (!text) {
		return true;
	}
	world->input.lock = &world->lock;
	if (strcmp(text, "all") == 0) {
		pin_all(world, a);
		return true;
	}
	return parse_json("lock.json", text, a, &doc, err) && ws_lock_parse(doc, a, &world->lock, err);
}

static void
read_listing(const char *text, struct ws_arena *a, struct world *world)
{
	struct ws_listing *listings = WS_NEW_N(a, struct ws_listing, world->matrix.package_count);
	WS_VEC(struct ws_tree_entry) files = {0};
	const char *path;
	while (text && (path = take_word(&text, a))) {
		*ws_vec_push(&files, a) = (struct ws_tree_entry){path, WS_TREE_FILE, "", 0};
	}
	listings[0] = (struct ws_listing){files.at, files.len};
	world->input.listings = files.len > 0 ? listings : NULL;
}

static void
read_ledger(const char *text, struct ws_arena *a, struct world *world)
{
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		struct world_run *run = ws_vec_push(&world->runs, a);
		run->unit = ws_str_copy(ws_str_trim(ws_str_cut(&line, '|')), a);
		/* "cuda12.4 sm86", or of a command "cicc: cuda12.4 compute_86". */
		struct ws_str variant = ws_str_trim(ws_str_cut(&line, '|'));
		bool part = variant.n > 0 && memchr(variant.s, ':', variant.n);
		run->stage = part ? ws_str_copy(ws_str_cut(&variant, ':'), a) : "compile";
		run->variant = ws_str_copy(ws_str_trim(variant), a);
		uint64_t seconds = strtoull(ws_str_copy(ws_str_cut(&line, '|'), a), NULL, 10);
		uint64_t mib = strtoull(ws_str_copy(line, a), NULL, 10);
		run->cost = (struct ws_plan_estimate){seconds * 1000, seconds * 1000, mib << 20};
	}
}

static struct ws_plan_estimate
look_up_cost(void *self, const char *unit, const char *stage, const char *variant)
{
	struct world *world = self;
	world->asked_of_the_ledger++;
	for (size_t i = 0; i < world->runs.len; i++) {
		const struct world_run *run = &world->runs.at[i];
		if (strcmp(run->unit, unit) == 0 && strcmp(run->stage, stage) == 0
			&& ws_str_is(ws_str_trim(ws_str_of(variant)), run->variant)) {
			return run->cost;
		}
	}
	return (struct ws_plan_estimate){0};
}

static struct ws_plan_wheel
look_up_wheel(void *self, const char *key)
{
	const struct world *world = self;
	const char *version = ws_map_get(&world->wheels, key);
	return version ? (struct ws_plan_wheel){.file = version, .date = "2026-11-20"}
				   : (struct ws_plan_wheel){0};
}

static struct ws_candidates
look_up_candidates(void *self, const struct ws_product *product)
{
	const struct world *world = self;
	struct ws_candidate *at = WS_NEW_N(world->a, struct ws_candidate, world->offers.len + 1);
	struct ws_index_wheels wheels = {.at = at};
	for (size_t i = 0; i < world->offers.len; i++) {
		const struct world_offer *offer = &world->offers.at[i];
		struct ws_candidate *wheel = &at[wheels.count];
		if (ws_index_wheel_parse(offer->file, product->recipe, world->a, wheel)) {
			wheel->from = offer->from;
			wheel->url = wheel->origin = "https://index.example/";
			wheel->place = WS_PLACE_INDEX;
			wheels.count++;
		}
	}
	struct ws_candidates list =
		ws_candidates_rank(product, world->matrix.torch_window, &wheels, world->a);
	list.asked = world->unasked ? WS_INDEXES_NEVER : WS_INDEXES_NOW;
	for (size_t i = 0; i < list.count; i++) {
		struct ws_candidate *candidate = &list.at[i];
		for (size_t k = 0; k < world->verdicts.len; k++) {
			const struct world_verdict *verdict = &world->verdicts.at[k];
			if (candidate->state == WS_CANDIDATE_UNOPENED
				&& ws_only_matches(verdict->files, candidate->file)) {
				candidate->state = verdict->state;
				candidate->why = verdict->why;
				break;
			}
		}
	}
	return list;
}

/* "demo-1.0-py3-none-any.whl of the authors", one a line; "unasked": an index never answered. */
static void
read_offers(const char *text, struct ws_arena *a, struct world *world)
{
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		struct ws_str from = ws_str_trim(ws_str_cut(&rest, '\n'));
		struct ws_str file = ws_str_cut(&from, ' ');
		world->unasked = world->unasked || ws_str_is(file, "unasked");
		if (file.n > 0 && from.n > 0) {
			assert_true(from.n > 3);
			*ws_vec_push(&world->offers, a) = (struct world_offer){
				ws_str_copy(file, a), ws_arena_copy(a, from.s + 3, from.n - 3)};
		}
	}
}

static enum ws_candidate_state
state_of(struct ws_str name)
{
	for (int i = 0; i <= WS_CANDIDATE_UNREACHABLE; i++) {
		if (ws_str_is(name, ws_candidate_state_words[i])) {
			return (enum ws_candidate_state)i;
		}
	}
	fail_msg("'%.*s' is not a state", WS_STR_ARGS(name));
	return WS_CANDIDATE_UNOPENED;
}

/* "demo-*cp311* | fails | why", one a line. */
static void
read_verdicts(const char *text, struct ws_arena *a, struct world *world)
{
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		struct ws_str parts = ws_str_cut(&rest, '\n');
		struct ws_str files = ws_str_trim(ws_str_cut(&parts, '|'));
		struct ws_str state = ws_str_trim(ws_str_cut(&parts, '|'));
		struct ws_str why = ws_str_trim(parts);
		*ws_vec_push(&world->verdicts, a) = (struct world_verdict){
			ws_str_copy(files, a), state_of(state), why.n > 0 ? ws_str_copy(why, a) : NULL};
	}
}

/* Keys are not known by heart: a plan without look-ups tells those of the cells that are meant. */
static bool
fill_wheels(struct world *world, const char *globs, struct ws_arena *a, struct ws_err *err)
{
	struct ws_plan plan;
	struct ws_plan_input input = world->input;
	input.host.builds_elsewhere = true;
	if (!ws_plan_make(&input, a, &plan, err)) {
		return false;
	}
	for (size_t i = 0; i < plan.cell_count; i++) {
		const struct ws_product *product = plan.cells[i]->product;
		if (product && product->key[0] && ws_only_matches(globs, plan.cells[i]->name)) {
			ws_map_put(
				&world->wheels, product->key, ws_arena_printf(a, "%s.whl", product->version), a);
		}
	}
	world->input.lookups.wheel = look_up_wheel;
	return true;
}

bool
world_read(const struct ws_case *c, struct ws_arena *a, struct world *world, struct ws_err *err)
{
	static const char own_facts[] = WS_TESTS_DIR "/cases/plan/facts";
	static const char shipped_facts[] = WS_SOURCE_DATA_DIR "/matrix/facts";
	struct ws_json_doc *doc;
	const char *facts = ws_case_text(c, "facts");
	*world = (struct world){0};
	world->input = (struct ws_plan_input){
		.matrix = &world->matrix, .facts = &world->facts, .lookups = {.self = world}};
	world->a = a;
	if (!parse_json("matrix.json", ws_case_text(c, "matrix"), a, &doc, err)
		|| !ws_matrix_parse(doc, "/home/me", "/home/me", a, &world->matrix, err)
		|| !ws_facts_read(
			ws_same(facts, "shipped") ? shipped_facts : own_facts, a, &world->facts, err)
		|| !read_recipes(c, a, world, err)
		|| !read_host(ws_case_text(c, "host"), a, &world->input.host, err)
		|| !read_lock(ws_case_text(c, "lock"), a, world, err)) {
		return false;
	}
	read_listing(ws_case_text(c, "listing"), a, world);
	if (ws_case_text(c, "ledger")) {
		read_ledger(ws_case_text(c, "ledger"), a, world);
		world->input.lookups.estimate = look_up_cost;
	}
	if (ws_case_text(c, "offers")) {
		read_offers(ws_case_text(c, "offers"), a, world);
	}
	if (ws_case_text(c, "verdicts")) {
		read_verdicts(ws_case_text(c, "verdicts"), a, world);
	}
	bool wheels = ws_case_text(c, "offers") || ws_case_text(c, "verdicts")
		|| world->matrix.policy == WS_POLICY_PREBUILT_ONLY;
	for (size_t i = 0; i < world->matrix.package_count; i++) {
		wheels = wheels || world->input.recipes[i].prebuilt_count > 0;
	}
	if (wheels && !ws_same(ws_case_text(c, "candidates"), "none")) {
		world->input.lookups.candidates = look_up_candidates;
	}
	return !ws_case_text(c, "wheels") || fill_wheels(world, ws_case_text(c, "wheels"), a, err);
}
