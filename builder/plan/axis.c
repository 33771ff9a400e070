/* axis.c - interpreters and sets of architectures. Builds of torch are axis_torch.c's, toolkits
 * axis_cuda.c's. */
#include "plan/axis.h"

#include "base/text.h"

bool
ws_axes_err(
	const struct ws_axes *axes, struct ws_place place, struct ws_err *err, const char *format, ...)
{
	const struct ws_json_doc *doc = axes->in->matrix->doc;
	va_list values;
	va_start(values, format);
	const char *text = ws_arena_vprintf(axes->a, format, values);
	va_end(values);
	ws_err_set(err, WS_ERR_CONFIG, "%s", text);
	return doc && place.len > 0 ? ws_err_at(err, doc->name, doc->text, place.offset, place.len)
								: false;
}

static const struct ws_plan_python *
find_interpreter(const struct ws_axes *axes, const struct ws_python_value *value)
{
	const struct ws_plan_host *host = &axes->in->host;
	for (size_t i = 0; i < host->python_count; i++) {
		const struct ws_plan_python *python = &host->pythons[i];
		bool same_tag = !python->path && ws_python_tag_same(&python->tag, &value->tag);
		bool meant = value->host ? python->host
			: value->path        ? ws_same(python->path, value->path)
								 : same_tag;
		if (meant) {
			return python;
		}
	}
	return NULL;
}

const struct ws_python_choice *
ws_axes_python(struct ws_axes *axes, const struct ws_python_value *value, struct ws_err *err)
{
	struct ws_python_choice *choice = WS_NEW(axes->a, struct ws_python_choice);
	const struct ws_plan_python *interpreter = find_interpreter(axes, value);
	if (value->host && !interpreter) {
		ws_axes_err(axes, value->place, err, "this host has no python3");
		ws_err_cure_code(err, WS_CURE_PYTHON, "3.11");
		return NULL;
	}
	if (value->path && !interpreter) {
		ws_axes_err(axes, value->place, err, "there is no Python '%s'", value->path);
		return NULL;
	}
	choice->value = value;
	choice->interpreter = interpreter;
	choice->tag = interpreter ? interpreter->tag : value->tag;
	choice->fixed = !value->host && !value->path;
	choice->name = ws_python_tag_text(&choice->tag, true, axes->a);
	choice->text = ws_python_version_text(&choice->tag, axes->a);
	const char *number = ws_arena_printf(axes->a, "%u.%u", choice->tag.major, choice->tag.minor);
	return ws_version_parse(number, axes->a, &choice->version) ? choice : NULL;
}

static bool
fail_alias(const struct ws_axes *axes, const struct ws_arch_value *value, const char *word,
	struct ws_err *err)
{
	const struct ws_facts *facts = axes->in->facts;
	const char **names = WS_NEW_N(axes->a, const char *, facts->alias_count + 1);
	for (size_t i = 0; i < facts->alias_count; i++) {
		names[i] = facts->aliases[i].name;
	}
	ws_axes_err(axes, value->place, err, "no set of architectures is called '%s'", word);
	const char *near = ws_suggest(word, names, facts->alias_count);
	return near ? ws_err_cure(err, "did you mean \"%s\"?", near)
				: ws_err_cure(err, "write the numbers: \"8.6\", \"8.0;9.0+PTX\"");
}

static bool
read_archs(const struct ws_axes *axes, const struct ws_arch_value *value, struct ws_arch_set *set,
	struct ws_err *err)
{
	if (value->host && axes->in->host.gpus.count == 0 && axes->compiles) {
		ws_axes_err(axes, value->place, err, "this host has no GPU to take the architecture of");
		return ws_err_cure_code(err, WS_CURE_ARCH, "8.6");
	}
	if (value->host) {
		*set = axes->in->host.gpus;
		return true;
	}
	const char *word, *why;
	return ws_facts_archs(axes->in->facts, value->text, axes->a, set, &word, &why)
		|| fail_alias(axes, value, word, err);
}

const struct ws_arch_choice *
ws_axes_arch(struct ws_axes *axes, const struct ws_arch_value *value, struct ws_err *err)
{
	struct ws_arch_choice *choice = WS_NEW(axes->a, struct ws_arch_choice);
	if (!read_archs(axes, value, &choice->set, err)) {
		return NULL;
	}
	choice->value = value;
	choice->fixed = !value->host;
	choice->name = choice->set.count > 0 ? ws_arch_set_name(&choice->set, axes->a) : "any";
	return choice;
}
