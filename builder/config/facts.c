/* facts.c - the tables of the two facts files. Looking something up is model/facts.c's. */
#include "config/facts.h"

#include "base/fs.h"
#include "config/document.h"
#include "config/values.h"

static bool
read_std(struct ws_reader *r, const struct ws_json *value, void *into)
{
	unsigned *std = into;
	if (!ws_type_number.read(r, value, std)) {
		return false;
	}
	return *std == 17 || *std == 20 || *std == 23
		|| ws_json_err(r->doc, value, r->err, "'%s' takes 17, 20 or 23", r->key);
}

static const struct ws_type type_std = WS_VALUES(unsigned, "a number", "numbers", read_std);

/* {"11.8": 0, "12.1": 0}: the ABI of each further toolkit's build. */
static const struct ws_field variant_fields[] = {
	{WS_ONE(struct ws_torch_variant, cuda, "", ws_type_line)},
	{WS_ONE(struct ws_torch_variant, cxx11abi, "", ws_type_abi)},
};
static const struct ws_table variant_table = {NULL, variant_fields, WS_LEN(variant_fields)};

#define NEEDED .flags = WS_FIELD_REQUIRED

static const struct ws_field release_fields[] = {
	{WS_ONE(struct ws_torch_release, version, "torch", ws_type_version), NEEDED},
	{WS_ONE(struct ws_torch_release, standard.cuda, "cuda", ws_type_line), NEEDED},
	{WS_ONE(struct ws_torch_release, standard.cxx11abi, "cxx11abi", ws_type_abi), NEEDED},
	WS_MAP("others", struct ws_torch_release, others, other_count, variant_table, WS_IF_ANY, NULL),
	{WS_MANY(struct ws_torch_release, pythons, python_count, "pythons", ws_type_python),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE | WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_torch_release, glibc, "glibc", ws_type_line)},
	{WS_ONE(struct ws_torch_release, aarch64, "aarch64", ws_value_bool)},
	{WS_ONE(struct ws_torch_release, cxx_std, "cxx_std", type_std), NEEDED},
	{WS_ONE(struct ws_torch_release, cxx_std_default, "cxx_std_default", type_std), NEEDED},
	{WS_ONE(struct ws_torch_release, gcc_min, "gcc_min", ws_type_number)},
	{WS_ONE(struct ws_torch_release, passes_abi, "passes_abi", ws_value_bool)},
	{WS_ONE(struct ws_torch_release, passes_pybind, "passes_pybind", ws_value_bool)},
	{WS_ONE(struct ws_torch_release, pybind_build_abi, "pybind_build_abi", ws_type_line)},
	{WS_ONE(struct ws_torch_release, has_thc, "has_thc", ws_value_bool)},
};
static const struct ws_table release_table = {
	"a torch release", release_fields, WS_LEN(release_fields)};

static const struct ws_field toolkit_fields[] = {
	{WS_ONE(struct ws_cuda_toolkit, version, "cuda", ws_type_version), NEEDED},
	{WS_ONE(struct ws_cuda_toolkit, ptx, "ptx", ws_type_version)},
	{WS_ONE(struct ws_cuda_toolkit, driver, "driver", ws_type_version)},
	{WS_ONE(struct ws_cuda_toolkit, gcc_max, "gcc_max", ws_type_number), NEEDED},
	{WS_ONE(struct ws_cuda_toolkit, clang_max, "clang_max", ws_type_number), NEEDED},
	{WS_ONE(struct ws_cuda_toolkit, archs, "archs", ws_type_archs), NEEDED},
	{WS_ONE(struct ws_cuda_toolkit, cxx_std_max, "cxx_std_max", type_std)},
	{WS_ONE(struct ws_cuda_toolkit, compress_size, "compress_size", ws_value_bool)},
	{WS_ONE(struct ws_cuda_toolkit, size_driver, "size_driver", ws_type_version)},
	{WS_ONE(struct ws_cuda_toolkit, random_seed, "random_seed", ws_value_bool)},
	{WS_ONE(struct ws_cuda_toolkit, kit, "kit", ws_type_inside)},
};
static const struct ws_table toolkit_table = {"a toolkit", toolkit_fields, WS_LEN(toolkit_fields)};

/* {"hopper": "9.0"}: names of sets. */
static const struct ws_field set_fields[] = {
	{WS_ONE(struct ws_arch_alias, name, "", ws_type_line)},
	{WS_ONE(struct ws_arch_alias, archs, "", ws_type_archs)},
};
static const struct ws_table set_table = {NULL, set_fields, WS_LEN(set_fields)};

static const struct ws_type type_release = WS_BY_TABLE(struct ws_torch_release, release_table);
static const struct ws_type type_toolkit = WS_BY_TABLE(struct ws_cuda_toolkit, toolkit_table);

static const struct ws_field torch_fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{.key = "as_of", .type = &ws_type_ignored},
	{WS_MANY(struct ws_facts, torch, torch_count, "releases", type_release),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table torch_table = {
	"the facts about torch", torch_fields, WS_LEN(torch_fields)};

static const struct ws_field cuda_fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{.key = "as_of", .type = &ws_type_ignored},
	{WS_ONE(struct ws_facts, gcc_min, "gcc_min", ws_type_number), NEEDED},
	WS_MAP("aliases", struct ws_facts, aliases, alias_count, set_table, WS_IF_ANY, NULL),
	WS_MAP("families", struct ws_facts, families, family_count, set_table, WS_IF_ANY, NULL),
	{WS_MANY(struct ws_facts, cuda, cuda_count, "toolkits", type_toolkit),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table cuda_table = {
	"the facts about CUDA", cuda_fields, WS_LEN(cuda_fields)};

/* Looking up relies on the order. Each item begins with its version. */
static bool
check_order(const struct ws_json_doc *doc, const char *list, const void *items, size_t size,
	size_t count, struct ws_err *err)
{
	for (size_t i = 1; i < count; i++) {
		const char *item = (const char *)items + i * size;
		const struct ws_version *after = (const void *)item, *before = (const void *)(item - size);
		if (ws_version_cmp(before, after) >= 0) {
			return ws_json_err(doc, ws_json_find(doc->root, list), err,
				"'%s' must ascend: %s is listed before %s", list, before->text, after->text);
		}
	}
	return true;
}

/* ---- known-bad.json ---- */

static const struct ws_field rule_fields[] = {
	{WS_ONE(struct ws_shared_bad, package, "package", ws_type_package)},
	{WS_ONE(struct ws_shared_bad, versions, "version", ws_type_range)},
	{WS_ONE(struct ws_shared_bad, label, "label", ws_type_line)},
	{WS_ONE(struct ws_shared_bad, rule.when, "when", ws_type_condition)},
	{WS_ONE(struct ws_shared_bad, rule.gcc, "gcc", ws_type_number)},
	{WS_ONE(struct ws_shared_bad, rule.why, "why", ws_type_line), .flags = WS_FIELD_REQUIRED,
		.example = "\"wrong results\""},
	{WS_ONE(struct ws_shared_bad, rule.see, "see", ws_type_url), .flags = WS_FIELD_REQUIRED,
		.example = "\"https://example.org/issues/1\""},
};
static const struct ws_table rule_table = {"a known-bad rule", rule_fields, WS_LEN(rule_fields)};

static bool
read_rule(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_shared_bad *bad = into;
	bad->rule.when = WS_CONDITION_ANY;
	if (!ws_object_read(r, value, &rule_table, bad)) {
		return false;
	}
	if (!bad->label && ws_condition_is_empty(&bad->rule.when)) {
		return ws_json_err(r->doc, value, r->err, "a known-bad rule needs 'when' or 'label'");
	}
	return !(bad->label && bad->rule.gcc)
		|| ws_json_err(r->doc, value, r->err, "'gcc' is about building, 'label' about wheels");
}

static const struct ws_type type_rule = WS_OBJECTS(struct ws_shared_bad, read_rule);

static const struct ws_field bad_fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{.key = "as_of", .type = &ws_type_ignored},
	{WS_MANY(struct ws_facts, shared_bad, shared_bad_count, "rules", type_rule),
		.flags = WS_FIELD_LIST | WS_FIELD_REQUIRED},
};
static const struct ws_table bad_table = {"the known-bad rules", bad_fields, WS_LEN(bad_fields)};

/* ---- the files ---- */

static const struct {
	const char *name;
	const struct ws_table *table;
} files[] = {
	[WS_FACTS_TORCH] = {"torch.json", &torch_table},
	[WS_FACTS_CUDA] = {"cuda.json", &cuda_table},
	[WS_FACTS_KNOWN_BAD] = {"known-bad.json", &bad_table},
};

bool
ws_facts_parse(enum ws_facts_file file, const struct ws_json_doc *doc, struct ws_arena *a,
	struct ws_facts *facts, struct ws_err *err)
{
	struct ws_reader r = {.doc = doc, .folder = "/", .a = a, .err = err};
	return ws_object_read(&r, doc->root, files[file].table, facts)
		&& check_order(
			doc, "releases", facts->torch, sizeof(*facts->torch), facts->torch_count, err)
		&& check_order(doc, "toolkits", facts->cuda, sizeof(*facts->cuda), facts->cuda_count, err);
}

bool
ws_facts_read(const char *folder, struct ws_arena *a, struct ws_facts *facts, struct ws_err *err)
{
	*facts = (struct ws_facts){0};
	for (size_t i = 0; i < WS_LEN(files); i++) {
		const char *path = ws_path_join(a, folder, files[i].name, NULL);
		struct ws_document document;
		if (!ws_document_read(path, "facts file", a, &document, err)
			|| !ws_facts_parse((enum ws_facts_file)i, document.doc, a, facts, err)) {
			return false;
		}
	}
	return true;
}

void
ws_known_bad_add(struct ws_recipe *recipe, const struct ws_facts *facts, struct ws_arena *a)
{
	WS_VEC(struct ws_known_bad) rules = {0};
	WS_VEC(struct ws_shared_bad) wheels = {0};
	for (size_t i = 0; i < recipe->known_bad_count; i++) {
		*ws_vec_push(&rules, a) = recipe->known_bad[i];
	}
	for (size_t i = 0; i < facts->shared_bad_count; i++) {
		const struct ws_shared_bad *bad = &facts->shared_bad[i];
		if (!ws_shared_bad_concerns(bad, recipe->name, &recipe->version)) {
			continue;
		}
		if (bad->label) {
			*ws_vec_push(&wheels, a) = *bad;
		} else {
			*ws_vec_push(&rules, a) = bad->rule;
		}
	}
	recipe->known_bad = rules.at;
	recipe->known_bad_count = rules.len;
	recipe->bad_wheels = wheels.at;
	recipe->bad_wheel_count = wheels.len;
}
