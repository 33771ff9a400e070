/* rules.c - a kit filled from what was measured and from the facts of its release. */
#include "kit/torch/rules.h"

bool
ws_torch_rules_apply(const struct ws_facts *facts, const struct ws_torch_measured *m,
	struct ws_arena *a, struct ws_torch_kit *kit, struct ws_err *err)
{
	struct ws_version public;
	if (!ws_version_parse(m->version, a, &kit->version)
		|| !ws_version_parse(kit->version.public_text, a, &public)) {
		return ws_err_set(
			err, WS_ERR_FETCH, "torch calls itself '%s', which is no version", m->version);
	}
	if (facts->torch_count == 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "the facts list no torch release");
	}
	kit->name = ws_arena_printf(a, "torch-%s", public.text);
	kit->cuda = m->cuda;
	kit->cxx11abi = m->cxx11abi;
	kit->pybind_compiler = m->pybind_compiler;
	kit->pybind_stdlib = m->pybind_stdlib;
	kit->pybind_build_abi = m->pybind_build_abi;
	const struct ws_torch_release *release = ws_facts_torch(facts, &public);
	kit->known = release != NULL;
	kit->release = release ? *release : *ws_facts_torch_nearest(facts, &public);
	if (!kit->known) {
		kit->release.standard = (struct ws_torch_variant){m->cuda, m->cxx11abi};
		kit->release.others = NULL;
		kit->release.other_count = 0;
	}
	return true;
}
