/* recipe.c - names of kinds, and the binding that decides. */
#include "model/recipe.h"

const char *
ws_binding_name(enum ws_binding binding)
{
	static const char *const names[] = {
		[WS_BINDING_PYBIND] = "pybind",
		[WS_BINDING_TORCH_LIBRARY] = "torch-library",
		[WS_BINDING_STABLE_ABI] = "stable-abi",
		[WS_BINDING_C_ABI] = "c-abi",
		[WS_BINDING_NONE] = "none",
	};
	return names[binding];
}

const char *
ws_source_kind_name(enum ws_source_kind kind)
{
	static const char *const names[] = {
		[WS_SOURCE_SDIST] = "sdist",
		[WS_SOURCE_GIT] = "git",
		[WS_SOURCE_ARCHIVE] = "archive",
		[WS_SOURCE_FOLDER] = "folder",
	};
	return names[kind];
}

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
ws_extension_compiles_cuda(const struct ws_extension *extension)
{
	for (size_t i = 0; i < extension->source_list_count; i++) {
		const struct ws_source_list *list = &extension->sources[i];
		if (ws_ends_with(list->glob ? list->glob : list->paths[0], ".cu")) {
			return true;
		}
	}
	for (size_t i = 0; i < extension->override_count; i++) {
		const struct ws_override *override = &extension->overrides[i];
		for (size_t j = 0; j < override->add_source_count; j++) {
			if (ws_ends_with(override->add_sources[j], ".cu")) {
				return true;
			}
		}
	}
	return extension->device_list_count > 0;
}
