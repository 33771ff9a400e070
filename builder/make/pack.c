#include "make/pack.h"

#include "archive/inflate.h"
#include "base/arena.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/user_env.h"
#include "config/recipe.h"
#include "judge/order.h"
#include "judge/verdict.h"
#include "model/machine.h"
#include "wheel/wheel.h"

#include <stdlib.h>
#include <string.h>

/* Raise it when the same order would give other bytes. */
#define PACK_VERSION "wheelsmith.pack/4"

static bool
put_file(const struct ws_store *store, const char *path, const char *name, struct ws_input *input,
	struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	return ws_fs_read(path, &text, err) && ws_internal_input(store, &text, name, input, a, err);
}

static void
write_python_files(struct ws_json_writer *w, const ws_python_files *files)
{
	ws_json_open_list(w, "files");
	for (size_t i = 0; i < files->len; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "path", files->at[i].path);
		ws_json_add_text(w, "from", files->at[i].from);
		ws_json_add_bool(w, "executable", files->at[i].executable);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
write_modules(struct ws_json_writer *w, const struct ws_pack_order *order)
{
	ws_json_open_list(w, "modules");
	for (size_t i = 0; i < order->module_count; i++) {
		ws_json_add_text(w, NULL, order->modules[i].module);
	}
	ws_json_close(w);
}

static void
write_parts(struct ws_json_writer *w, const struct ws_pack_order *order)
{
	ws_json_open_list(w, "parts");
	for (size_t i = 0; i < order->part_count; i++) {
		const struct ws_sbom_part *part = &order->parts[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "name", part->name);
		ws_json_add_text(w, "version", part->version);
		ws_json_add_text(w, "purl", part->purl);
		ws_json_add_text(w, "url", part->url);
		ws_json_add_text(w, "sha256", part->sha256);
		ws_json_add_bool(w, "application", part->application);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
write_order(const struct ws_pack_order *order, const char *recipe, struct ws_buf *text)
{
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", PACK_VERSION);
	ws_json_add_text(w, "recipe", recipe);
	ws_json_add_text(w, "source", order->source->digest.hex);
	ws_json_add_text(w, "version", order->version);
	ws_json_add_text(w, "python_tag", order->python_tag);
	ws_json_add_text(w, "abi_tag", order->abi_tag);
	ws_json_add_text(w, "torch", order->torch);
	write_modules(w, order);
	write_python_files(w, order->files);
	ws_json_open_object(w, "facts");
	if (order->write_facts) {
		order->write_facts(order->self, w);
	}
	ws_json_close(w);
	write_parts(w, order);
	ws_json_finish(w, WS_JSON_PRETTY, text);
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
	const char *recipe;
	if (!add_recipe(inputs, &count, order->recipe, store, &recipe, a, err)) {
		return false;
	}
	write_order(order, recipe, &text);
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

struct packing {
	struct ws_arena *a;
	struct ws_json_doc order, verdict;
	const struct ws_json *measured; /* of the verdict; NULL: no module */
	struct ws_recipe recipe;
	struct ws_wheel_spec spec;
};

static void
read_files(struct packing *p)
{
	WS_VEC(struct ws_wheel_file) files = {0};
	const struct ws_json *list = ws_json_find(p->order.root, "files");
	for (WS_JSON_EACH(file, list)) {
		*ws_vec_push(&files, p->a) = (struct ws_wheel_file){
			.path = ws_json_text(file, "path"),
			.file = ws_path_join(p->a, "src", ws_json_text(file, "from"), NULL),
			.executable = ws_json_is_true(file, "executable"),
		};
	}
	p->spec.files = files.at;
	p->spec.file_count = files.len;
}

static const char *
suffix_of(const struct ws_recipe *recipe, const char *module)
{
	for (size_t i = 0; i < recipe->extension_count; i++) {
		if (strcmp(recipe->extensions[i].module, module) == 0) {
			return recipe->extensions[i].suffix;
		}
	}
	return NULL;
}

static void
read_modules(struct packing *p)
{
	WS_VEC(struct ws_wheel_module) modules = {0};
	const struct ws_json *list = ws_json_find(p->order.root, "modules");
	for (WS_JSON_EACH(module, list)) {
		const char *file = ws_arena_printf(p->a, "mod/%zu.so", modules.len);
		*ws_vec_push(&modules, p->a) =
			(struct ws_wheel_module){module->text, file, suffix_of(&p->recipe, module->text)};
	}
	p->spec.modules = modules.at;
	p->spec.module_count = modules.len;
}

/* wheelsmith.json: what the order knows, and what was measured on the modules. */
static const char *
compose_facts(struct packing *p)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", "wheelsmith.wheel/1");
	const struct ws_json *facts = ws_json_find(p->order.root, "facts");
	for (WS_JSON_EACH(fact, facts)) {
		ws_json_add_copy(w, fact->key, fact);
	}
	if (p->measured) {
		ws_json_add_copy(w, "measured", p->measured);
	}
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	return ws_buf_copy(&text, p->a);
}

static const char *
compose_sbom(struct packing *p)
{
	WS_VEC(struct ws_sbom_part) parts = {0};
	const struct ws_json *list = ws_json_find(p->order.root, "parts");
	for (WS_JSON_EACH(part, list)) {
		*ws_vec_push(&parts, p->a) = (struct ws_sbom_part){
			.name = ws_json_text(part, "name"),
			.version = ws_json_text(part, "version"),
			.purl = ws_json_text(part, "purl"),
			.url = ws_json_text(part, "url"),
			.sha256 = ws_json_text(part, "sha256"),
			.application = ws_json_is_true(part, "application"),
		};
	}
	struct ws_sbom_part wheel = {
		.name = p->spec.distribution,
		.version = p->spec.version,
		.purl =
			ws_arena_printf(p->a, "pkg:pypi/%s@%s", p->recipe.name, p->recipe.version.public_text),
	};
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_sbom_write(&wheel, parts.at, parts.len, &text);
	return ws_buf_copy(&text, p->a);
}

static bool
read_inputs(struct packing *p, struct ws_err *err)
{
	if (!ws_json_read("order.json", WS_JSON_STRICT, p->a, &p->order, err)
		|| !ws_recipe_read(ws_json_text(p->order.root, "recipe"), p->a, &p->recipe, err)) {
		return false;
	}
	if (ws_fs_exists(WS_VERDICT_FILE)) {
		if (!ws_json_read(WS_VERDICT_FILE, WS_JSON_STRICT, p->a, &p->verdict, err)) {
			return false;
		}
		p->measured = ws_json_find(p->verdict.root, "measured");
	}
	return true;
}

bool
ws_pack_run(const struct ws_user_env *env, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct packing p = {.a = a};
	if (!read_inputs(&p, err)) {
		return false;
	}
	const char *glibc = ws_json_text(ws_json_find(p.order.root, "facts"), "glibc");
	const char *platform =
		p.measured ? ws_manylinux_tags(ws_json_text(p.measured, "platform"), glibc, a) : "any";
	const char *epoch = ws_user_env_get(env, "SOURCE_DATE_EPOCH");
	p.spec = (struct ws_wheel_spec){
		.distribution = p.recipe.distribution,
		.version = ws_json_text(p.order.root, "version"),
		.tags = {ws_json_text(p.order.root, "python_tag"), ws_json_text(p.order.root, "abi_tag"),
			platform},
		.torch = ws_json_text(p.order.root, "torch"),
		.metadata = &p.recipe.metadata,
		.source_dir = "src",
		.epoch = epoch ? strtoll(epoch, NULL, 10) : 0,
	};
	read_files(&p);
	read_modules(&p);
	p.spec.facts_json = compose_facts(&p);
	p.spec.sbom_json = compose_sbom(&p);
	const char *name = ws_arena_printf(a, "%s\n", ws_wheel_file_name(&p.spec, a));
	return ws_wheel_write(&p.spec, "wheel.whl", err)
		&& ws_fs_write("name.txt", name, strlen(name), 0644, err);
}
