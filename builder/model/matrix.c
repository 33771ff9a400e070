/* matrix.c - names of policies, toolkits and size options, and fallbacks. */
#include "model/matrix.h"

#include "model/facts.h"

const char *const ws_policy_words[] = {
	[WS_POLICY_PREFER_PREBUILT] = "prefer-prebuilt",
	[WS_POLICY_PREFER_BUILD] = "prefer-build",
	[WS_POLICY_PREBUILT_ONLY] = "prebuilt-only",
	[WS_POLICY_BUILD_ONLY] = "build-only",
	[WS_POLICY_BUILD_ONLY + 1] = NULL,
};

bool
ws_cuda_version_parse(const char *text, struct ws_arena *a, struct ws_version *version)
{
	size_t digits = ws_starts_with(text, "cu") ? strspn(text + 2, "0123456789") : 0;
	if (digits >= 3 && digits <= 4 && !text[2 + digits]) {
		text = ws_arena_printf(a, "%.*s.%s", (int)digits - 1, text + 2, text + 1 + digits);
	}
	return text[strspn(text, "0123456789.")] == '\0' && ws_version_parse(text, a, version)
		&& version->release_count == 2;
}

const char *
ws_matrix_fallback(const struct ws_matrix *matrix, const char *package)
{
	for (size_t i = 0; i < matrix->fallback_count; i++) {
		if (ws_same(matrix->fallbacks[i].package, package)) {
			return matrix->fallbacks[i].to;
		}
	}
	return NULL;
}

static struct ws_version
release_of(const struct ws_facts *facts, const struct ws_version *version)
{
	const struct ws_torch_release *meant =
		version->text && !version->local ? ws_facts_torch_meant(facts, version) : NULL;
	return meant ? meant->version : *version;
}

void
ws_matrix_name_torch(struct ws_matrix *matrix, const struct ws_facts *facts, struct ws_arena *a)
{
	struct ws_torch_value *torch = WS_NEW_N(a, struct ws_torch_value, matrix->torch_count + 1);
	struct ws_include *includes = WS_NEW_N(a, struct ws_include, matrix->include_count + 1);
	for (size_t i = 0; i < matrix->torch_count; i++) {
		torch[i] = matrix->torch[i];
		torch[i].version = release_of(facts, &torch[i].version);
	}
	for (size_t i = 0; i < matrix->include_count; i++) {
		includes[i] = matrix->includes[i];
		includes[i].torch.version = release_of(facts, &includes[i].torch.version);
	}
	matrix->torch = torch;
	matrix->includes = includes;
}

const char *const ws_debug_info_words[] = {
	[WS_DEBUG_NONE] = "none",
	[WS_DEBUG_LINES] = "lines",
	[WS_DEBUG_FULL] = "full",
	[WS_DEBUG_FULL + 1] = NULL,
};

const char *const ws_compress_words[] = {
	[WS_COMPRESS_NONE] = "none",
	[WS_COMPRESS_ALL] = "all",
	[WS_COMPRESS_SIZE] = "size",
};
