/* recipe.c - names of kinds, and the binding that decides. */
#include "model/recipe.h"

const char *const ws_binding_words[] = {
	[WS_BINDING_PYBIND] = "pybind",
	[WS_BINDING_TORCH_LIBRARY] = "torch-library",
	[WS_BINDING_STABLE_ABI] = "stable-abi",
	[WS_BINDING_C_ABI] = "c-abi",
	[WS_BINDING_NONE] = "none",
	[WS_BINDING_NONE + 1] = NULL,
};

const char *const ws_source_kind_words[] = {
	[WS_SOURCE_SDIST] = "sdist",
	[WS_SOURCE_GIT] = "git",
	[WS_SOURCE_FOLDER] = "folder",
};

const char *
ws_source_spec_from(const struct ws_source_spec *spec)
{
	return spec->file ? spec->file : spec->url ? spec->url : spec->path;
}

enum ws_binding
ws_recipe_binding(const struct ws_recipe *recipe)
{
	enum ws_binding most = recipe->prebuilt_only ? recipe->binding : WS_BINDING_NONE;
	for (size_t i = 0; i < recipe->extension_count; i++) {
		if (recipe->extensions[i].binding < most) {
			most = recipe->extensions[i].binding;
		}
	}
	return most;
}

bool
ws_prebuilt_has(const struct ws_prebuilt *prebuilt, const struct ws_published_values *values)
{
	struct ws_point_view view = {
		.torch = values->torch ? &values->torch->version : NULL,
		.cuda = values->cuda ? &values->cuda->version : NULL,
		.python = values->python ? &values->python->version : NULL,
		.cxx11abi = values->cxx11abi ? values->cxx11abi->cxx11abi : -1,
		.archs = prebuilt->archs,
	};
	for (size_t i = 0; i < prebuilt->except_count; i++) {
		if (ws_condition_holds(&prebuilt->except[i], &view)) {
			return false;
		}
	}
	return true;
}

/* A list that is empty stands for one value: that names do not say it. */
static size_t
rounds(size_t count)
{
	return count > 0 ? count : 1;
}

static const struct ws_published *
value_at(const struct ws_published_list *list, size_t i)
{
	return list->count > 0 ? &list->at[i] : NULL;
}

size_t
ws_prebuilt_count(const struct ws_prebuilt *p)
{
	size_t count = 0;
	size_t all = rounds(p->cuda.count) * rounds(p->torch.count) * rounds(p->cxx11abi.count)
		* rounds(p->python_count);
	for (size_t i = 0; i < all; i++) {
		size_t n = i;
		size_t python = n % rounds(p->python_count);
		size_t abi = (n /= rounds(p->python_count)) % rounds(p->cxx11abi.count);
		size_t torch = (n /= rounds(p->cxx11abi.count)) % rounds(p->torch.count);
		struct ws_published_values values = {
			.cuda = value_at(&p->cuda, n / rounds(p->torch.count)),
			.torch = value_at(&p->torch, torch),
			.cxx11abi = value_at(&p->cxx11abi, abi),
			.python = p->python_count > 0 ? &p->pythons[python] : NULL,
		};
		count += ws_prebuilt_has(p, &values);
	}
	return count;
}
