/* matrix.c - names of policies and toolkits, and what stands in for a package. */
#include "model/matrix.h"

#include <string.h>

static const char *const names[] = {
	[WS_POLICY_PREFER_PREBUILT] = "prefer-prebuilt",
	[WS_POLICY_PREFER_BUILD] = "prefer-build",
	[WS_POLICY_PREBUILT_ONLY] = "prebuilt-only",
	[WS_POLICY_BUILD_ONLY] = "build-only",
};

bool
ws_policy_parse(const char *text, enum ws_policy *policy)
{
	for (size_t i = 0; i < WS_LEN(names); i++) {
		if (ws_same(text, names[i])) {
			*policy = (enum ws_policy)i;
			return true;
		}
	}
	return false;
}

const char *
ws_policy_name(enum ws_policy policy)
{
	return names[policy];
}

bool
ws_cuda_version_parse(const char *text, struct ws_arena *a, struct ws_version *version)
{
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
