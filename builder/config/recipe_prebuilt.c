/* recipe_prebuilt.c - which wheels of a package were published, and how they are called. Asking for
 * them is prebuilt/'s business. */
#include "base/text.h"
#include "config/condition.h"
#include "config/recipe_parts.h"
#include "config/values.h"
#include "model/wheel_name.h"

#include <string.h>

/* ---- values that names have ---- */

static bool
read_cuda(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_published *published = into;
	published->text = ws_text_of(r, value, "a CUDA version as names write it");
	if (!published->text) {
		return false;
	}
	const char *cuda = ws_wheel_label_cuda(published->text, r->a);
	if (!cuda || !ws_version_parse(cuda, r->a, &published->version)) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a CUDA version", published->text);
		return ws_err_cure(r->err, "write what follows \"cu\" in the names: \"12\", \"124\"");
	}
	published->any_minor = published->version.release_count == 1;
	return true;
}

static bool
read_torch(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_published *published = into;
	published->text = ws_text_of(r, value, "a minor of torch");
	if (!published->text) {
		return false;
	}
	if (!ws_version_parse(published->text, r->a, &published->version)
		|| published->version.release_count != 2
		|| strcmp(published->version.text, published->text) != 0) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a minor of torch", published->text);
		return ws_err_cure(r->err, "write two numbers, as names do: \"2.5\"");
	}
	return true;
}

static bool
read_abi(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {"FALSE", "TRUE", "0", "1", "false", "true"};
	struct ws_published *published = into;
	published->text = ws_text_of(r, value, "a word for cxx11abi");
	for (size_t i = 0; published->text && i < WS_LEN(words); i++) {
		if (strcmp(words[i], published->text) == 0) {
			published->cxx11abi = (int)(i % 2);
			return true;
		}
	}
	return published->text
		&& ws_word_err(r, value, "word for cxx11abi in names", words, WS_LEN(words));
}

static bool
read_python(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_published_python *python = into;
	struct ws_python_tag *tag = &python->tag;
	if (!ws_type_python.read(r, value, tag)) {
		return false;
	}
	if (tag->free_threaded) {
		return ws_json_err(r->doc, value, r->err,
			"'{python}' of a template stands for an interpreter with the GIL");
	}
	return ws_version_parse(
		ws_arena_printf(r->a, "%u.%u", tag->major, tag->minor), r->a, &python->version);
}

static const struct ws_type type_cuda =
	WS_VALUES(struct ws_published, "a CUDA version", "CUDA versions", read_cuda);
static const struct ws_type type_torch =
	WS_VALUES(struct ws_published, "a minor of torch", "minors of torch", read_torch);
static const struct ws_type type_abi =
	WS_VALUES(struct ws_published, "a word for cxx11abi", "words for cxx11abi", read_abi);
static const struct ws_type type_python =
	WS_VALUES(struct ws_published_python, "a Python version", "Python versions", read_python);

#define URL_EXAMPLE \
	"\"https://example.org/demo-{version}+cu{cuda}-{python}-{python}-linux_x86_64.whl\""

static const struct ws_field fields[] = {
	{WS_ONE(struct ws_prebuilt, from, "from", ws_type_line), .flags = WS_FIELD_REQUIRED,
		.example = "\"demo's releases\""},
	{WS_ONE(struct ws_prebuilt, url, "url", ws_type_url), .flags = WS_FIELD_REQUIRED,
		.example = URL_EXAMPLE},
	{WS_MANY(struct ws_prebuilt, cuda.at, cuda.count, "cuda", type_cuda),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"118\", \"124\"]"},
	{WS_MANY(struct ws_prebuilt, torch.at, torch.count, "torch", type_torch),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"2.5\", \"2.6\"]"},
	{WS_MANY(struct ws_prebuilt, cxx11abi.at, cxx11abi.count, "cxx11abi", type_abi),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"FALSE\", \"TRUE\"]"},
	{WS_MANY(struct ws_prebuilt, pythons, python_count, "python", type_python),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"3.11\", \"3.12\"]"},
	{WS_MANY(struct ws_prebuilt, except, except_count, "except", ws_type_condition),
		.flags = WS_FIELD_LIST, .example = "[{\"torch\": \"2.4\", \"python\": \"3.13\"}]"},
	{WS_ONE(struct ws_prebuilt, archs, "arch", ws_type_archs)},
	{WS_ONE(struct ws_prebuilt, see, "see", ws_type_line)},
};
static const struct ws_table table = {"published wheels", fields, WS_LEN(fields)};

const struct ws_type ws_type_prebuilt = WS_BY_TABLE(struct ws_prebuilt, table);

/* ---- the template ---- */

static const char *const placeholders[] = {"version", "cuda", "torch", "cxx11abi", "python"};

/* What stands for placeholder @a i in a sample name; NULL: the list that it needs is missing. */
static const char *
sample(const struct ws_recipe *recipe, const struct ws_prebuilt *prebuilt, size_t i)
{
	switch (i) {
	case 0:
		return recipe->version.text;
	case 1:
		return prebuilt->cuda.count > 0 ? prebuilt->cuda.at[0].text : NULL;
	case 2:
		return prebuilt->torch.count > 0 ? prebuilt->torch.at[0].text : NULL;
	case 3:
		return prebuilt->cxx11abi.count > 0 ? prebuilt->cxx11abi.at[0].text : NULL;
	default:
		return prebuilt->python_count > 0 ? "cp310" : NULL;
	}
}

/* The template's URL with the first of each list; NULL with an error at @a url. */
static const char *
expand_sample(struct ws_reader *r, const struct ws_json *url, const struct ws_recipe *recipe,
	const struct ws_prebuilt *prebuilt, unsigned *used)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	for (const char *c = prebuilt->url; *c; c++) {
		const char *end = *c == '{' ? strchr(c, '}') : NULL;
		if (!end) {
			ws_buf_putc(&out, *c);
			continue;
		}
		struct ws_str name = {c + 1, (size_t)(end - c - 1)};
		size_t i = 0;
		while (i < WS_LEN(placeholders) && !ws_str_is(name, placeholders[i])) {
			i++;
		}
		if (i == WS_LEN(placeholders)) {
			ws_json_err(r->doc, url, r->err, "'{%.*s}' is not a placeholder", WS_STR_ARGS(name));
			ws_err_cure(r->err, "write {version}, {cuda}, {torch}, {cxx11abi}, {python}");
			return NULL;
		}
		const char *value = sample(recipe, prebuilt, i);
		if (!value) {
			ws_json_err(r->doc, url, r->err, "'{%s}' is in the URL, and '%s' is not listed",
				placeholders[i], placeholders[i]);
			return NULL;
		}
		*used |= 1u << i;
		ws_buf_puts(&out, value);
		c = end;
	}
	return ws_buf_copy(&out, r->a);
}

static bool
check_name(struct ws_reader *r, const struct ws_json *url, const struct ws_recipe *recipe,
	const char *sample_url)
{
	struct ws_wheel_name name;
	const char *why = NULL;
	const char *file = strrchr(sample_url, '/') + 1;
	if (!ws_wheel_name_parse(file, r->a, &name, &why)) {
		return ws_json_err(
			r->doc, url, r->err, "the URL does not end in a wheel's name: '%s': %s", file, why);
	}
	if (!ws_same(name.distribution, recipe->name)
		|| ws_version_cmp_public(&name.version, &recipe->version) != 0) {
		return ws_json_err(r->doc, url, r->err, "'%s' is not a wheel of %s %s", file, recipe->name,
			recipe->version.text);
	}
	return true;
}

bool
ws_prebuilt_check(struct ws_reader *r, const struct ws_json *item, const struct ws_recipe *recipe,
	const struct ws_prebuilt *prebuilt)
{
	const struct ws_json *url = ws_json_find(item, "url");
	unsigned used = 0;
	const char *name = expand_sample(r, url, recipe, prebuilt, &used);
	if (!name || !check_name(r, url, recipe, name)) {
		return false;
	}
	for (size_t i = 1; i < WS_LEN(placeholders); i++) {
		const struct ws_json *list = ws_json_find(item, placeholders[i]);
		if (list && !(used & 1u << i)) {
			return ws_json_err_key(r->doc, list, r->err,
				"'%s' is listed, and '{%s}' does not stand in the URL", placeholders[i],
				placeholders[i]);
		}
	}
	return true;
}
