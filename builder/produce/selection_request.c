/* selection_request.c - the axes, then the extra points. */
#include "produce/selection_request.h"

#include "base/text.h"

static void
add_torch(
	struct ws_selection_request *request, const struct ws_torch_value *value, struct ws_arena *a)
{
	request->installed = request->installed || value->installed;
	/* An extra point of packages that need no torch names none. */
	if (!value->installed && value->version.text) {
		*ws_vec_push(&request->torch, a) = value;
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
add_python(struct ws_selection_request *request, const struct ws_requested_python *python,
	struct ws_arena *a)
{
	for (size_t i = 0; i < request->pythons.len; i++) {
		struct ws_requested_python *known = &request->pythons.at[i];
		if (is_same(known->value, python->value)) {
			known->needed = known->needed || python->needed;
			return;
		}
	}
	*ws_vec_push(&request->pythons, a) = *python;
}

static bool
is_needed(const struct ws_python_value *python, bool installed)
{
	return python->host || python->path || installed;
}

struct ws_selection_request
ws_selection_request_of(const struct ws_matrix *matrix, struct ws_arena *a)
{
	struct ws_selection_request request = {0};
	for (size_t i = 0; i < matrix->torch_count; i++) {
		add_torch(&request, &matrix->torch[i], a);
	}
	for (size_t i = 0; i < matrix->python_count; i++) {
		const struct ws_python_value *python = &matrix->python[i];
		bool needed = is_needed(python, request.installed);
		add_python(&request, &(struct ws_requested_python){python, false, needed}, a);
	}
	for (size_t i = 0; i < matrix->arch_count; i++) {
		request.gpus = request.gpus || matrix->arch[i].host;
	}
	for (size_t i = 0; i < matrix->include_count; i++) {
		const struct ws_include *include = &matrix->includes[i];
		bool needed = is_needed(&include->python, include->torch.installed);
		add_torch(&request, &include->torch, a);
		add_python(&request, &(struct ws_requested_python){&include->python, true, needed}, a);
		request.gpus = request.gpus || include->arch.host;
	}
	return request;
}
