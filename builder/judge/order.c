/* order.c - writing the order, as an action or for at once. The child that follows it is
 * verify_child.c's. */
#include "judge/order.h"

#include "base/fs.h"
#include "store/cas.h"
#include "sys/child.h"

#define WHEEL "wheel.whl"

void
ws_judge_expect(struct ws_judge_order *order, const struct ws_recipe *recipe, struct ws_arena *a)
{
	const struct ws_install_check *check = &recipe->check;
	const char **must = WS_NEW_N(a, const char *, recipe->extension_count);
	order->required = check->imports;
	order->required_count = check->import_count;
	order->must = must;
	order->must_any = recipe->prebuilt_only && recipe->binding != WS_BINDING_NONE;
	for (size_t i = 0; i < recipe->extension_count; i++) {
		const struct ws_extension *extension = &recipe->extensions[i];
		order->kernels = order->kernels || extension->compiles_cuda;
		if (ws_is_among(extension->module, check->imports, check->import_count)) {
			must[order->must_count++] = extension->module;
		}
	}
}

/* ---- the table of order.json ---- */

static bool
read_archs(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *why;
	if (!ws_expect(r, value, WS_JSON_STRING, "architectures") || value->text[0] == '\0') {
		return value->kind == WS_JSON_STRING;
	}
	return ws_arch_set_parse(value->text, r->a, into, &why)
		|| ws_json_err(r->doc, value, r->err, "'%s': %s", value->text, why);
}

static const char *
archs_text(const void *value, struct ws_arena *a)
{
	const struct ws_arch_set *archs = value;
	return archs->count ? ws_arch_set_text(archs, a) : NULL;
}

static const struct ws_type type_archs = {.name = "an architecture",
	.plural = "architectures",
	.size = sizeof(struct ws_arch_set),
	.read = read_archs,
	.text = archs_text};
static const struct ws_field family_fields[] = {
	WS_VALUE("name", struct ws_arch_alias, name, WS_ALWAYS, NULL),
	WS_VALUE_AS("archs", struct ws_arch_alias, archs, type_archs, WS_ALWAYS, NULL),
};
static const struct ws_table family_table = {NULL, family_fields, WS_LEN(family_fields)};

#define PLACE struct ws_wheel_place
static const struct ws_field place_fields[] = {
	WS_VALUE("torch", PLACE, torch, WS_FIELD_NULL, NULL),
	WS_VALUE("known_bad", PLACE, known_bad, WS_IF_ANY, NULL),
	WS_VALUE("known_bad_see", PLACE, known_bad_see, WS_IF_ANY, NULL),
	WS_LIST("lists", PLACE, place.lists, place.list_count, WS_IF_ANY, NULL),
	WS_LIST("libraries", PLACE, place.libraries, place.library_count, WS_IF_ANY, NULL),
	WS_LIST("folders", PLACE, place.folders, place.folder_count, WS_IF_ANY, NULL),
	WS_VALUE("python", PLACE, place.python, WS_IF_ANY, NULL),
	WS_VALUE("python_tag", PLACE, place.python_tag, WS_IF_ANY, NULL),
	WS_LIST("pythons", PLACE, place.pythons, place.python_count, WS_IF_ANY, NULL),
	WS_VALUE("stable_python", PLACE, place.stable_python, WS_IF_ANY, NULL),
	WS_VALUE_AS("archs", PLACE, place.archs, type_archs, WS_IF_ANY, NULL),
	WS_VALUE("driver", PLACE, place.driver, WS_IF_ANY, NULL),
	WS_MAP("families", PLACE, place.families, place.family_count, family_table, WS_IF_ANY, NULL),
	WS_VALUE("ptx", PLACE, place.ptx, WS_IF_ANY, NULL),
	WS_VALUE("glibc", PLACE, place.glibc, WS_IF_ANY, NULL),
	WS_VALUE("machine", PLACE, place.machine, WS_IF_ANY, NULL),
	WS_VALUE("strict", PLACE, place.strict, WS_IF_ANY, NULL),
};
static const struct ws_table place_table = {"a place", place_fields, WS_LEN(place_fields)};

static const struct ws_field module_fields[] = {
	WS_VALUE("module", struct ws_judge_module, module, WS_ALWAYS, NULL),
	WS_VALUE("cuda", struct ws_judge_module, cuda, WS_IF_ANY, NULL),
	WS_VALUE("imported", struct ws_judge_module, imported, WS_IF_ANY, NULL),
};
static const struct ws_table module_table = {"a module", module_fields, WS_LEN(module_fields)};

#define ORDER struct ws_judge_order
static const struct ws_field order_fields[] = {
	WS_FIXED("schema", WS_JUDGE_VERSION),
	WS_VALUE("subject", ORDER, subject, WS_IF_ANY, NULL),
	WS_VALUE_AS("archs", ORDER, archs, type_archs, WS_IF_ANY, NULL),
	WS_LIST_OF("modules", ORDER, modules, module_count, module_table, WS_IF_ANY, NULL),
	WS_VALUE("name", ORDER, name, WS_IF_ANY, NULL),
	WS_VALUE("wheel", ORDER, wheel, WS_IF_ANY, NULL),
	WS_VALUE("root", ORDER, root, WS_IF_ANY, NULL),
	WS_LIST("files", ORDER, files, file_count, WS_IF_ANY, NULL),
	WS_LIST("required", ORDER, required, required_count, WS_IF_ANY, NULL),
	WS_LIST("must", ORDER, must, must_count, WS_IF_ANY, NULL),
	WS_VALUE("must_any", ORDER, must_any, WS_IF_ANY, NULL),
	WS_VALUE("kernels", ORDER, kernels, WS_IF_ANY, NULL),
	WS_POINTED("facts", ORDER, facts, ws_facts_order_table, WS_IF_ANY, NULL),
	WS_LIST_OF("places", ORDER, places, place_count, place_table, WS_ALWAYS, NULL),
};
const struct ws_table ws_judge_order_table = {"an order", order_fields, WS_LEN(order_fields)};

/* ---- paths as the action sees them ---- */

/* The folders of all places, as mounts and seeds of an action. */
struct mounts {
	struct ws_arena *a;
	WS_VEC(struct ws_mount) mounts;
	WS_VEC(const char *) seeds;
};

/* "in3/libc.so.6", which becomes a seed; its folder becomes a mount when it is new. */
static const char *
mount_file(struct mounts *m, const char *path)
{
	const char *folder = ws_path_dir(m->a, path);
	size_t i = 0;
	while (i < m->mounts.len && !ws_same(m->mounts.at[i].path, folder)) {
		i++;
	}
	if (i == m->mounts.len) {
		*ws_vec_push(&m->mounts, m->a) =
			(struct ws_mount){.name = ws_arena_printf(m->a, "in%zu", i), .path = folder};
	}
	const char *name = ws_arena_printf(m->a, "in%zu/%s", i, ws_path_base(path));
	if (!ws_is_among(name, m->seeds.at, m->seeds.len)) {
		*ws_vec_push(&m->seeds, m->a) = name;
	}
	return name;
}

static const char *const *
mount_files(struct mounts *m, const char *const *paths, size_t count)
{
	const char **names = WS_NEW_N(m->a, const char *, count);
	for (size_t i = 0; i < count; i++) {
		names[i] = mount_file(m, paths[i]);
	}
	return names;
}

/* @m NULL: paths stay as they are. The subject is for people: on wheels it is not part of the
 * key. */
static void
write_order(
	const struct ws_judge_order *order, struct mounts *m, struct ws_arena *a, struct ws_buf *text)
{
	struct ws_wheel_place *places = WS_NEW_N(a, struct ws_wheel_place, order->place_count);
	struct ws_judge_order written = *order;
	written.places = places;
	written.subject = order->module_count > 0 ? order->subject : NULL;
	written.wheel = m && order->digest ? WHEEL : order->wheel;
	for (size_t i = 0; i < order->place_count; i++) {
		struct ws_judge_place *p = &places[i].place;
		places[i] = order->places[i];
		if (m) {
			p->lists = mount_files(m, p->lists, p->list_count);
			p->libraries = mount_files(m, p->libraries, p->library_count);
			p->python = p->python ? mount_file(m, p->python) : NULL;
			p->folder_count = 0;
		}
	}
	ws_table_text(&ws_judge_order_table, &written, WS_JSON_PRETTY, text);
}

const struct ws_action *
ws_judge_action(const struct ws_judge_order *order, const struct ws_store *store,
	const char *program, struct ws_arena *a, struct ws_err *err)
{
	static const char *const outputs[] = {WS_VERDICT_FILE};
	WS_AUTO_BUF struct ws_buf text = {0};
	struct mounts m = {.a = a};
	struct ws_input *inputs = WS_NEW_N(a, struct ws_input, order->module_count + 2);
	struct ws_action *action = ws_internal_action("verify", WS_JUDGE_VERSION, program, a);
	write_order(order, &m, a, &text);
	action->stage = order->modules ? "check" : action->stage;
	action->subject = order->subject;
	action->group = order->group;
	action->unit = order->unit;
	action->mounts = m.mounts.at;
	action->mount_count = m.mounts.len;
	action->seeds = m.seeds.at;
	action->seed_count = m.seeds.len;
	action->outputs = outputs;
	action->output_count = WS_LEN(outputs);
	action->cpu_ms = order->modules ? 1000 : 2000;
	action->limits = WS_CHILD_READER;
	action->inputs = inputs;
	if (!ws_internal_input(store, &text, WS_CHILD_ORDER, &inputs[action->input_count++], a, err)) {
		return NULL;
	}
	if (order->digest) {
		inputs[action->input_count++] = (struct ws_input){.name = WHEEL, .digest = order->digest};
	}
	for (size_t i = 0; i < order->module_count; i++) {
		inputs[action->input_count++] = (struct ws_input){
			.name = ws_arena_printf(a, "mod/%zu.so", i), .from = order->modules[i].link};
	}
	return action;
}

bool
ws_judge_recall(const struct ws_judge_order *order, struct ws_cache *cache, const char *program,
	struct ws_arena *a, struct ws_wheel_verdict *verdict)
{
	const struct ws_action *action = ws_judge_action(order, NULL, program, a, NULL);
	struct ws_digest base;
	struct ws_result result;
	const char *why;
	return ws_cache_base(cache, action, NULL, &base, NULL)
		&& ws_cache_find(cache, action, &base, a, &result, &why)
		&& ws_verdict_recall(cache->store, result.outputs[0].hex, a, verdict, NULL);
}

bool
ws_judge_now(const struct ws_judge_order *order, const char *program, const char *folder,
	struct ws_arena *a, struct ws_wheel_verdict *verdict, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf answer = {0};
	const char *const argv[] = {program, "internal", "verify", NULL};
	const struct ws_child_order child = {
		.argv = argv,
		.dir = folder,
		.order = &text,
		.answer = WS_VERDICT_FILE,
		.limits = WS_CHILD_READER,
		.name =
			order->facts ? ws_arena_printf(a, "reading '%s'", order->facts->name) : "reading it",
		.kind = order->facts ? WS_ERR_NEGATIVE : WS_ERR_NONE,
	};
	write_order(order, NULL, a, &text);
	*verdict = (struct ws_wheel_verdict){0};
	if (ws_child_ask(&child, &answer, err)) {
		return ws_table_parse(
			WS_VERDICT_FILE, ws_buf_str(&answer), &ws_verdict_file_table, a, verdict, err);
	}
	if (order->facts || ws_err_is_stop(err)) {
		return false;
	}
	/* The wheel, or its own limits, ended the child. */
	struct ws_wheel_place_verdict *places =
		WS_NEW_N(a, struct ws_wheel_place_verdict, order->place_count);
	*verdict = (struct ws_wheel_verdict){.verdict = WS_VERDICT_UNKNOWN,
		.why = ws_arena_strdup(a, err->text),
		.cause = "unreadable",
		.wheel = order->name,
		.places = places,
		.place_count = order->place_count};
	for (size_t i = 0; i < order->place_count; i++) {
		places[i] = (struct ws_wheel_place_verdict){.verdict = WS_VERDICT_UNKNOWN,
			.why = verdict->why,
			.cause = "unreadable",
			.torch = order->places[i].torch};
	}
	*err = (struct ws_err){0};
	return true;
}

/* ---- an action that our own program runs ---- */

struct ws_action *
ws_internal_action(const char *name, const char *version, const char *program, struct ws_arena *a)
{
	static const char *const env[] = {"LANG=C", NULL};
	const char **argv = WS_NEW_N(a, const char *, 4);
	struct ws_token *self = WS_NEW(a, struct ws_token);
	struct ws_action *action = WS_NEW(a, struct ws_action);
	argv[0] = "wheelsmith";
	argv[1] = "internal";
	argv[2] = name;
	*self = (struct ws_token){"{self}", program};
	*action = (struct ws_action){
		.stage = name,
		.variant = "",
		.tool = {"wheelsmith", self->name, version},
		.argv = argv,
		.env = env,
		.tokens = self,
		.token_count = 1,
		.need = {.cpus = 1, .rss_bytes = 128 << 20},
	};
	return action;
}

bool
ws_internal_input(const struct ws_store *store, const struct ws_buf *text, const char *name,
	struct ws_input *input, struct ws_arena *a, struct ws_err *err)
{
	struct ws_digest digest;
	if (!store) {
		digest = ws_digest_bytes(ws_buf_text(text), text->len);
	} else if (!ws_cas_put(store, ws_buf_text(text), text->len, &digest, err)) {
		return false;
	}
	*input = (struct ws_input){.name = name, .digest = ws_arena_strdup(a, digest.hex)};
	return true;
}
