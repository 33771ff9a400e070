/* axis.c - reading lists of words, and the single words that may stand instead of a list. */
#include "config/axis.h"

#include "config/values.h"
#include "model/matrix.h"

#include <string.h>
#include <strings.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define LARGE "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static struct ws_place
place_of(const struct ws_json *value)
{
	return (struct ws_place){value->offset, value->len};
}

static bool
is_word(const struct ws_json *value, const char *word)
{
	return value->kind == WS_JSON_STRING && strcmp(value->text, word) == 0;
}

static bool
fail_wanted(struct ws_reader *r, const struct ws_json *value)
{
	const char *text = value->text;
	size_t name = strcspn(text, " =<>!~;[@");
	ws_json_err(r->doc, value, r->err, "'%s' is not a package with its version", text);
	return ws_err_cure(r->err, "write \"%.*s==VERSION\", one exact version", (int)name, text);
}

static bool
read_wanted(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_wanted *wanted = into;
	const char *text = ws_text_of(r, value, "a package like \"NAME==VERSION\"");
	if (!text) {
		return false;
	}
	const char *equals = strstr(text, "==");
	if (!equals) {
		return fail_wanted(r, value);
	}
	const char *name = ws_arena_copy(r->a, text, (size_t)(equals - text));
	if (!ws_is_package_name(name) || !ws_version_parse(equals + 2, r->a, &wanted->version)) {
		return fail_wanted(r, value);
	}
	wanted->name = ws_package_normal(name, r->a);
	wanted->place = place_of(value);
	return true;
}

static bool
is_installed(const struct ws_json *value)
{
	return is_word(value, "installed");
}

static bool
read_torch_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_torch_value *torch = into;
	torch->place = place_of(value);
	torch->installed = is_installed(value);
	if (torch->installed) {
		return true;
	}
	const char *text = ws_text_of(r, value, "a torch version");
	if (text && !ws_version_parse(text, r->a, &torch->version)) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a torch version", text);
		return ws_err_cure(r->err, "they look like \"2.5.1\" or \"2.5.1+cu121\"");
	}
	return text;
}

static bool
is_auto(const struct ws_json *value)
{
	return is_word(value, "auto");
}

static bool
read_cuda_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_cuda_value *cuda = into;
	cuda->place = place_of(value);
	cuda->automatic = is_auto(value);
	if (cuda->automatic) {
		return true;
	}
	const char *text = ws_text_of(r, value, "a CUDA version");
	if (!text) {
		return false;
	}
	if (!ws_cuda_version_parse(text, r->a, &cuda->version)) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a CUDA version", text);
		return ws_err_cure(r->err, "write major and minor, like \"12.4\", or \"auto\"");
	}
	return true;
}

static bool
is_host(const struct ws_json *value)
{
	return is_word(value, "host");
}

static bool
read_python_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_python_value *python = into;
	python->place = place_of(value);
	python->host = is_host(value);
	if (python->host) {
		return true;
	}
	const char *text = ws_text_of(r, value, "a Python version");
	if (text && strchr(text, '/')) {
		python->path = ws_path_from(r, text);
		return true;
	}
	if (text && !ws_python_tag_parse(text, &python->tag)) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a Python version", text);
		return ws_err_cure(
			r->err, "write \"3.11\", \"3.13t\", \"host\", or the path of an interpreter");
	}
	return text;
}

/* "hopper", "h100", and not "sm_90". Which names there are, the facts know. */
static bool
begins_set_name(const char *text)
{
	return ws_is_letter(text[0]) && strncasecmp(text, "sm", 2) != 0;
}

/* "host" as well. */
static bool
is_set_name(const struct ws_json *value)
{
	const char *text = value->kind == WS_JSON_STRING ? value->text : "";
	return begins_set_name(text) && text[strspn(text, LETTERS LARGE DIGITS "-")] == '\0';
}

/* "h100;8.9": one of several is a name. */
static bool
has_set_name(const char *text)
{
	bool named = false;
	for (const char *at = text; at; at = strchr(at, ';')) {
		at += *at == ';';
		named = named || begins_set_name(at);
	}
	return named && text[strspn(text, LETTERS LARGE DIGITS "-.+;")] == '\0';
}

static bool
read_arch_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_arch_value *arch = into;
	struct ws_arch_set set;
	const char *why;
	arch->text = ws_text_of(r, value, "a set of architectures");
	if (!arch->text) {
		return false;
	}
	arch->place = place_of(value);
	arch->host = is_host(value);
	if (has_set_name(arch->text) || ws_arch_set_parse(arch->text, r->a, &set, &why)) {
		return true;
	}
	ws_json_err(r->doc, value, r->err, "'%s' is not a set of architectures", arch->text);
	return ws_err_cure(r->err, "%s", why);
}

static bool
is_abi(const struct ws_json *value)
{
	return value->kind != WS_JSON_ARRAY;
}

static bool
read_abi_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	int *abi = into;
	*abi = -1;
	if (is_auto(value)) {
		return true;
	}
	bool known = value->kind == WS_JSON_NUMBER
		&& (strcmp(value->text, "0") == 0 || strcmp(value->text, "1") == 0);
	if (!known) {
		return ws_json_err(r->doc, value, r->err, "'%s' takes 0, 1 or \"auto\"", r->key);
	}
	*abi = value->text[0] - '0';
	return true;
}

#define AXIS(c_type, one, many, reader, may_stand, keyword) \
	{ \
		.name = (one), .plural = (many), .size = sizeof(c_type), .read = (reader), \
		.alone = (may_stand), .word = (keyword) \
	}

const struct ws_type ws_type_wanted =
	AXIS(struct ws_wanted, "a package", "packages", read_wanted, NULL, NULL);
const struct ws_type ws_type_torch_value = AXIS(struct ws_torch_value, "a torch version",
	"torch versions", read_torch_value, is_installed, "installed");
const struct ws_type ws_type_cuda_value =
	AXIS(struct ws_cuda_value, "a CUDA version", "CUDA versions", read_cuda_value, is_auto, "auto");
const struct ws_type ws_type_python_value = AXIS(struct ws_python_value, "a Python version",
	"Python versions", read_python_value, is_host, "host");
const struct ws_type ws_type_arch_value = AXIS(struct ws_arch_value, "a set of architectures",
	"sets of architectures", read_arch_value, is_set_name, "host");
const struct ws_type ws_type_abi_value =
	AXIS(int, "0, 1 or \"auto\"", "0, 1 or \"auto\"", read_abi_value, is_abi, "auto");
