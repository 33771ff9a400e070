/* version_label.c - names of wheels. What a product depends on is product.c's. */
#include "base/text.h"
#include "plan/steps.h"

#include <string.h>

static void
add_segments(struct ws_buf *label, const char *segments)
{
	ws_buf_puts(label, label->len > 0 ? "." : "");
	ws_buf_puts(label, segments);
}

/* The build of torch, where the versions alone would not tell it. */
static void
add_build(struct ws_buf *label, const struct ws_point *point, struct ws_arena *a)
{
	const struct ws_torch_choice *torch = point->torch;
	if (torch->facts_abi >= 0 && torch->facts_abi != point->cxx11abi) {
		add_segments(label, ws_arena_printf(a, "cxx11abi.%d", point->cxx11abi));
	}
	if (!torch->standard && torch->cuda) {
		add_segments(label, ws_arena_printf(a, "tcu.%s", torch->cuda));
	}
}

/* What the matrix asks for, where it is not what the toolkit alone gives: two contents of a wheel
 * never share a name. */
static void
add_size(struct ws_buf *label, const struct ws_size_options *size, struct ws_arena *a)
{
	if (size->debug_info != WS_DEBUG_NONE) {
		add_segments(label, ws_arena_printf(a, "dbg.%s", ws_debug_info_name(size->debug_info)));
	}
	if (size->compress != size->usual) {
		add_segments(label, ws_arena_printf(a, "zip.%s", ws_compress_name(size->compress)));
	}
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
		add_build(&label, point, a);
	}
	add_size(&label, &product->size, a);
	if (extra) {
		add_segments(&label, extra);
	}
	return ws_buf_copy(&label, a);
}

/* A module of the stable ABI that is imported is Python's limited API, of 3.10 on; one that is
 * loaded by torch.ops.load_library knows no Python. The recipe's check says which are imported. */
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

static void
fill_tags(struct ws_product *product, struct ws_arena *a)
{
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
}

/* ",<2.7.1,>=2.7.0": the recipe's own range of torch, where it leaves out some of the releases that
 * the wheel asks for without it; else "". */
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

void
ws_label_fill(struct ws_product *product, const char *extra, struct ws_arena *a)
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
		/* What knows nothing of torch works with every one that the recipe wants. */
		product->torch =
			ws_arena_printf(a, "torch%s", ws_specifiers_text(product->recipe->needs_torch));
	}
	fill_tags(product, a);
}
