/* pack_run.c - the child of pack.c: reads the order and packs in the current folder. Its inputs are
 * ours, so a mistake in them is a fault of ours. */
#include "base/arena.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/user_env.h"
#include "config/recipe.h"
#include "judge/verdict.h"
#include "make/pack.h"
#include "model/machine.h"
#include "wheel/wheel.h"

#include <stdlib.h>
#include <string.h>

struct packing {
	struct ws_arena *a;
	struct ws_json_doc order, verdict;
	const struct ws_json *measured; /* of the verdict; NULL: there is no module */
	struct ws_recipe recipe;
	struct ws_wheel_spec spec;
};

static void
add_files(struct packing *p)
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
add_modules(struct packing *p)
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
	add_files(&p);
	add_modules(&p);
	p.spec.facts_json = compose_facts(&p);
	p.spec.sbom_json = compose_sbom(&p);
	const char *name = ws_arena_printf(a, "%s\n", ws_wheel_file_name(&p.spec, a));
	return ws_wheel_write(&p.spec, "wheel.whl", err)
		&& ws_fs_write("name.txt", name, strlen(name), 0644, err);
}
