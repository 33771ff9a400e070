/* facts.c - finding a release or a toolkit among the facts. */
#include "model/facts.h"

#include <stdlib.h>

static int
cmp_release(const void *key, const void *element)
{
	const struct ws_version *version = key;
	const struct ws_torch_release *release = element;
	return ws_version_cmp_public(version, &release->version);
}

const struct ws_torch_release *
ws_facts_torch(const struct ws_facts *facts, const struct ws_version *version)
{
	if (facts->torch_count == 0) {
		return NULL;
	}
	return bsearch(version, facts->torch, facts->torch_count, sizeof(*facts->torch), cmp_release);
}

const struct ws_cuda_toolkit *
ws_facts_cuda(const struct ws_facts *facts, const struct ws_version *version)
{
	for (size_t i = 0; i < facts->cuda_count; i++) {
		if (ws_version_in_series(version, &facts->cuda[i].version, 2)) {
			return &facts->cuda[i];
		}
	}
	return NULL;
}
