/* matrix.c - names of policies, and what stands in for a package. */
#include "model/matrix.h"

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
