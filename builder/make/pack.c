#include "make/pack.h"

#include "base/fs.h"
#include "config/recipe.h"
#include "judge/order.h"

/* Raise it when the same order would give other bytes. */
#define PACK_VERSION "wheelsmith.pack/4"

/* ---- order.json ---- */

#define KIT struct ws_pack_kit

static const struct ws_field torch_fields[] = {
	WS_VALUE("version", KIT, version, WS_ALWAYS, NULL),
	WS_VALUE("cuda", KIT, cuda, WS_OR_NULL, NULL),
	WS_VALUE("cxx11abi", KIT, cxx11abi, WS_ALWAYS, NULL),
	WS_VALUE("tree", KIT, tree, WS_OR_NULL, "of the kit; null: installed on the host"),
};
static const struct ws_table torch_table = {NULL, torch_fields, WS_LEN(torch_fields)};

static const struct ws_field cuda_fields[] = {
	WS_VALUE("version", KIT, version, WS_ALWAYS, NULL),
	WS_VALUE("nvcc", KIT, nvcc, WS_ALWAYS, "its own version"),
	WS_VALUE("tools", KIT, tools, WS_ALWAYS, "fingerprint of nvcc and what it calls"),
	WS_VALUE("tree", KIT, tree, WS_OR_NULL, "of the kit; null: the host's toolkit"),
};
static const struct ws_table cuda_table = {NULL, cuda_fields, WS_LEN(cuda_fields)};

static const struct ws_field compiler_fields[] = {
	WS_VALUE("kind", KIT, kind, WS_ALWAYS, "gcc or clang"),
	WS_VALUE("version", KIT, version, WS_ALWAYS, NULL),
	WS_VALUE("machine", KIT, machine, WS_ALWAYS, NULL),
	WS_VALUE("tools", KIT, tools, WS_ALWAYS, "fingerprint of the driver and what it calls"),
};
static const struct ws_table compiler_table = {
	"a compiler", compiler_fields, WS_LEN(compiler_fields)};

#define FACTS struct ws_pack_facts
static const struct ws_field facts_fields[] = {
	WS_FIXED("wheelsmith", WS_VERSION),
	WS_VALUE("recipe", FACTS, recipe, WS_ALWAYS, "of the recipe and its patches"),
	WS_VALUE("sources", FACTS, sources, WS_ALWAYS, "of the sources after patches"),
	WS_POINTED("torch", FACTS, torch, torch_table, WS_IF_ANY, NULL),
	WS_POINTED("cuda", FACTS, cuda, cuda_table, WS_IF_ANY, NULL),
	WS_POINTED("compiler", FACTS, compiler, compiler_table, WS_IF_ANY, "of the host's code"),
	WS_POINTED("linker", FACTS, linker, compiler_table, WS_IF_ANY, "if it is another one"),
	WS_VALUE("glibc", FACTS, glibc, WS_OR_NULL, "it was linked for; null: the host's own"),
	WS_VALUE("python", FACTS, python, WS_IF_ANY, NULL),
	WS_VALUE("archs", FACTS, archs, WS_OR_NULL, "that it was compiled for"),
	WS_FIXED("isolation", "folder"), /* private folders and an environment of ours */
};
static const struct ws_table facts_table = {NULL, facts_fields, WS_LEN(facts_fields)};

static const struct ws_type type_module = {
	.name = "a module",
	.plural = "modules",
	.size = sizeof(struct ws_judge_module),
	.kind = WS_KIND_TEXT,
};

#define FILE_OF struct ws_python_file
static const struct ws_field file_fields[] = {
	WS_VALUE("path", FILE_OF, path, WS_ALWAYS, "in the wheel"),
	WS_VALUE("from", FILE_OF, from, WS_ALWAYS, "in the sources"),
	WS_VALUE("executable", FILE_OF, executable, WS_ALWAYS, NULL),
};
static const struct ws_table file_table = {NULL, file_fields, WS_LEN(file_fields)};

#define PART struct ws_sbom_part
static const struct ws_field part_fields[] = {
	WS_VALUE("name", PART, name, WS_ALWAYS, NULL),
	WS_VALUE("version", PART, version, WS_OR_NULL, NULL),
	WS_VALUE("purl", PART, purl, WS_OR_NULL, NULL),
	WS_VALUE("url", PART, url, WS_OR_NULL, NULL),
	WS_VALUE("sha256", PART, sha256, WS_OR_NULL, NULL),
	WS_VALUE("application", PART, application, WS_ALWAYS, NULL),
};
static const struct ws_table part_table = {NULL, part_fields, WS_LEN(part_fields)};

#define ORDER struct ws_pack_order
static const struct ws_field order_fields[] = {
	WS_FIXED("schema", PACK_VERSION),
	WS_VALUE("recipe", ORDER, recipe_file, WS_ALWAYS, NULL),
	WS_VALUE("source", ORDER, source_digest, WS_ALWAYS, NULL),
	WS_VALUE("version", ORDER, version, WS_ALWAYS, NULL),
	WS_VALUE("python_tag", ORDER, python_tag, WS_ALWAYS, NULL),
	WS_VALUE("abi_tag", ORDER, abi_tag, WS_ALWAYS, NULL),
	WS_VALUE("torch", ORDER, torch, WS_OR_NULL, NULL),
	WS_LIST_AS("modules", ORDER, modules, module_count, type_module, WS_ALWAYS, NULL),
	WS_LIST_OF("files", ORDER, files, file_count, file_table, WS_ALWAYS, NULL),
	WS_OBJECT("facts", ORDER, facts, facts_table, WS_ALWAYS, NULL),
	WS_LIST_OF("parts", ORDER, parts, part_count, part_table, WS_ALWAYS, NULL),
};
static const struct ws_table order_table = {"an order", order_fields, WS_LEN(order_fields)};

/* ---- the action ---- */

static bool
put_file(const struct ws_store *store, const char *path, const char *name, struct ws_input *input,
	struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	return ws_fs_read(path, &text, err) && ws_internal_input(store, &text, name, input, a, err);
}

/* The recipe and its patches, in a folder of their own: the child reads it as we did. */
static bool
add_recipe(struct ws_input *inputs, size_t *count, const struct ws_recipe *recipe,
	const struct ws_store *store, const char **name, struct ws_arena *a, struct ws_err *err)
{
	*name = ws_path_join(a, "recipe", ws_path_base(recipe->path), NULL);
	if (!put_file(store, recipe->path, *name, &inputs[(*count)++], a, err)) {
		return false;
	}
	for (size_t i = 0; i < recipe->patch_count; i++) {
		const struct ws_patch *patch = &recipe->patches[i];
		if (!patch->file) {
			continue; /* the recipe itself has it */
		}
		const char *place = ws_path_join(a, "recipe", patch->name, NULL);
		if (!put_file(store, patch->file, place, &inputs[(*count)++], a, err)) {
			return false;
		}
	}
	return true;
}

static bool
fill_inputs(struct ws_action *action, const struct ws_pack_order *order,
	const struct ws_store *store, struct ws_arena *a, struct ws_err *err)
{
	size_t most = 2 + order->recipe->patch_count + order->module_count + 1;
	struct ws_input *inputs = WS_NEW_N(a, struct ws_input, most);
	WS_AUTO_BUF struct ws_buf text = {0};
	size_t count = 0;
	struct ws_pack_order record = *order;
	record.source_digest = order->source->digest.hex;
	if (!add_recipe(inputs, &count, order->recipe, store, &record.recipe_file, a, err)) {
		return false;
	}
	ws_table_text(&order_table, &record, WS_JSON_PRETTY, &text);
	if (!ws_internal_input(store, &text, "order.json", &inputs[count++], a, err)) {
		return false;
	}
	for (size_t i = 0; i < order->module_count; i++) {
		inputs[count++] = (struct ws_input){
			.name = ws_arena_printf(a, "mod/%zu.so", i), .from = order->modules[i].link};
	}
	if (order->check) {
		inputs[count++] = (struct ws_input){.name = WS_VERDICT_FILE, .from = order->check};
	}
	action->inputs = inputs;
	action->input_count = count;
	return true;
}

const struct ws_action *
ws_pack_action(const struct ws_pack_order *order, const struct ws_store *store, const char *program,
	struct ws_arena *a, struct ws_err *err)
{
	static const char *const env[] = {"LANG=C", "SOURCE_DATE_EPOCH=315532800", NULL};
	static const char *const outputs[] = {"wheel.whl", "name.txt"};
	/* zlib decides the bytes of a compressed file. */
	const char *version = ws_arena_printf(a, PACK_VERSION " zlib %s", ws_zlib_version());
	struct ws_action *action = ws_internal_action("pack", version, program, a);
	struct ws_mount *mounts = WS_NEW(a, struct ws_mount);
	mounts[0] = (struct ws_mount){"src", order->source->path, order->source};
	action->subject = ws_arena_printf(a, "%s %s", order->recipe->name, order->version);
	action->group = order->group;
	action->unit = ws_arena_printf(a, "%s/wheel", order->recipe->name);
	action->env = env;
	action->mounts = mounts;
	action->mount_count = 1;
	action->outputs = outputs;
	action->output_count = WS_PACK_OUTPUTS;
	action->need.rss_bytes = 64 << 20;
	action->cpu_ms = 2000;
	return fill_inputs(action, order, store, a, err) ? action : NULL;
}

/* ---- the child: packs in the current folder ---- */

/* wheelsmith.json: what the order knows, and what was measured on the modules. */
static const char *
compose_facts(
	const struct ws_pack_facts *facts, const struct ws_measured *measured, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", "wheelsmith.wheel/1");
	ws_table_write_members(w, &facts_table, facts);
	if (measured) {
		ws_table_write(w, "measured", &ws_own_measured_table, measured);
	}
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	return ws_buf_copy(&text, a);
}

static const struct ws_wheel_module *
list_modules(const struct ws_pack_order *order, const struct ws_recipe *recipe, struct ws_arena *a)
{
	struct ws_wheel_module *modules = WS_NEW_N(a, struct ws_wheel_module, order->module_count);
	for (size_t i = 0; i < order->module_count; i++) {
		modules[i] = (struct ws_wheel_module){
			.module = order->modules[i].module, .file = ws_arena_printf(a, "mod/%zu.so", i)};
		for (size_t k = 0; k < recipe->extension_count; k++) {
			if (strcmp(recipe->extensions[k].module, modules[i].module) == 0) {
				modules[i].suffix = recipe->extensions[k].suffix;
			}
		}
	}
	return modules;
}

bool
ws_pack_run(const struct ws_user_env *env, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_pack_order order = {0};
	struct ws_recipe recipe;
	struct ws_wheel_verdict verdict = {0};
	bool measured = ws_fs_exists(WS_VERDICT_FILE); /* a wheel without modules has none */
	if (!ws_table_read_file("order.json", &order_table, a, &order, err)
		|| !ws_recipe_read(order.recipe_file, a, &recipe, err)
		|| (measured
			&& !ws_table_read_file(WS_VERDICT_FILE, &ws_own_verdict_table, a, &verdict, err))) {
		return false;
	}
	struct ws_wheel_file *files = WS_NEW_N(a, struct ws_wheel_file, order.file_count);
	for (size_t i = 0; i < order.file_count; i++) {
		const struct ws_python_file *file = &order.files[i];
		files[i] = (struct ws_wheel_file){
			file->path, ws_path_join(a, "src", file->from, NULL), file->executable};
	}
	WS_AUTO_BUF struct ws_buf sbom = {0};
	struct ws_sbom_part wheel = {
		.name = recipe.distribution,
		.version = order.version,
		.purl = ws_arena_printf(a, "pkg:pypi/%s@%s", recipe.name, recipe.version.public_text),
	};
	ws_sbom_write(&wheel, order.parts, order.part_count, &sbom);
	const char *epoch = ws_user_env_get(env, "SOURCE_DATE_EPOCH");
	struct ws_wheel_spec spec = {
		.distribution = recipe.distribution,
		.version = order.version,
		.tags = {order.python_tag, order.abi_tag,
			measured ? ws_manylinux_tags(verdict.measured.platform, order.facts.glibc, a) : "any"},
		.torch = order.torch,
		.metadata = &recipe.metadata,
		.facts_json = compose_facts(&order.facts, measured ? &verdict.measured : NULL, a),
		.sbom_json = ws_buf_text(&sbom),
		.source_dir = "src",
		.files = files,
		.file_count = order.file_count,
		.modules = list_modules(&order, &recipe, a),
		.module_count = order.module_count,
		.epoch = epoch ? strtoll(epoch, NULL, 10) : 0,
	};
	const char *name = ws_arena_printf(a, "%s\n", ws_wheel_file_name(&spec, a));
	return ws_wheel_write(&spec, "wheel.whl", err)
		&& ws_fs_write("name.txt", name, strlen(name), 0644, err);
}
