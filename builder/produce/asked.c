/* asked.c - the axes, then the extra points. */
#include "produce/asked.h"

#include "base/str.h"

static void
add_torch(struct ws_asked *asked, const struct ws_torch_value *value, struct ws_arena *a)
{
	asked->installed = asked->installed || value->installed;
	/* An extra point of packages that need no torch names none. */
	if (!value->installed && value->version.text) {
		*ws_vec_push(&asked->torch, a) = value;
	}
}

static bool
is_same(const struct ws_python_value *x, const struct ws_python_value *y)
{
	if (x->host || y->host || x->path || y->path) {
		return x->host == y->host && ws_same(x->path, y->path);
	}
	return x->tag.major == y->tag.major && x->tag.minor == y->tag.minor
		&& x->tag.free_threaded == y->tag.free_threaded;
}

static void
add_python(struct ws_asked *asked, const struct ws_asked_python *python, struct ws_arena *a)
{
	for (size_t i = 0; i < asked->pythons.len; i++) {
		struct ws_asked_python *known = &asked->pythons.at[i];
		if (is_same(known->value, python->value)) {
			known->needed = known->needed || python->needed;
			return;
		}
	}
	*ws_vec_push(&asked->pythons, a) = *python;
}

static bool
is_needed(const struct ws_python_value *python, bool installed)
{
	return python->host || python->path || installed;
}

struct ws_asked
ws_asked_of(const struct ws_matrix *matrix, struct ws_arena *a)
{
	struct ws_asked asked = {0};
	for (size_t i = 0; i < matrix->torch_count; i++) {
		add_torch(&asked, &matrix->torch[i], a);
	}
	for (size_t i = 0; i < matrix->python_count; i++) {
		const struct ws_python_value *python = &matrix->python[i];
		bool needed = is_needed(python, asked.installed);
		add_python(&asked, &(struct ws_asked_python){python, false, needed}, a);
	}
	for (size_t i = 0; i < matrix->arch_count; i++) {
		asked.gpus = asked.gpus || matrix->arch[i].host;
	}
	for (size_t i = 0; i < matrix->include_count; i++) {
		const struct ws_include *include = &matrix->includes[i];
		bool needed = is_needed(&include->python, include->torch.installed);
		add_torch(&asked, &include->torch, a);
		add_python(&asked, &(struct ws_asked_python){&include->python, true, needed}, a);
		asked.gpus = asked.gpus || include->arch.host;
	}
	return asked;
}
