/* facts.c - finding a release or a toolkit among the facts. */
#include "model/facts.h"

#include <ctype.h>

const struct ws_torch_release *
ws_facts_torch(const struct ws_facts *facts, const struct ws_version *version)
{
	for (size_t i = 0; i < facts->torch_count; i++) {
		if (ws_version_cmp_public(version, &facts->torch[i].version) == 0) {
			return &facts->torch[i];
		}
	}
	return NULL;
}

const struct ws_torch_release *
ws_facts_torch_nearest(const struct ws_facts *facts, const struct ws_version *version)
{
	const struct ws_torch_release *near = facts->torch_count > 0 ? &facts->torch[0] : NULL;
	bool same_minor = false;
	for (size_t i = 0; i < facts->torch_count; i++) {
		const struct ws_torch_release *release = &facts->torch[i];
		bool is_same = ws_version_in_series(&release->version, version, 2);
		bool before = ws_version_cmp_public(&release->version, version) < 0;
		if (is_same ? before || !same_minor : before && !same_minor) {
			near = release;
		}
		same_minor = same_minor || is_same;
	}
	return near;
}

const struct ws_torch_release *
ws_facts_torch_meant(const struct ws_facts *facts, const struct ws_version *version)
{
	const struct ws_torch_release *meant = ws_facts_torch(facts, version);
	bool is_minor = version->release_count == 2 && !ws_version_is_prerelease(version)
		&& !version->post_number && !version->local;
	for (size_t i = facts->torch_count; !meant && is_minor && i-- > 0;) {
		meant =
			ws_version_in_series(&facts->torch[i].version, version, 2) ? &facts->torch[i] : NULL;
	}
	return meant;
}

/* "2.51" for "2.5.1": the same digits. */
static bool
has_same_digits(const char *x, const char *y)
{
	for (;; x++, y++) {
		x += *x == '.';
		y += *y == '.';
		if (*x != *y || !*x) {
			return *x == *y;
		}
	}
}

const char *
ws_facts_torch_suggest(const struct ws_facts *facts, const struct ws_version *version)
{
	const struct ws_torch_release *near = ws_facts_torch_nearest(facts, version);
	bool same_minor = near && ws_version_in_series(&near->version, version, 2);
	for (size_t i = 0; i < facts->torch_count && !same_minor; i++) {
		if (has_same_digits(facts->torch[i].version.text, version->public_text)) {
			return facts->torch[i].version.text;
		}
	}
	return near ? near->version.text : NULL;
}

/* Equal names; case and "-" do not count. */
static bool
is_word(const char *name, const char *word)
{
	for (; *name || *word; name++, word++) {
		word += strspn(word, "-");
		if (tolower((unsigned char)*name) != tolower((unsigned char)*word) || !*name) {
			return !*name && !*word;
		}
	}
	return true;
}

bool
ws_facts_archs(const struct ws_facts *facts, const char *text, struct ws_arena *a,
	struct ws_arch_set *set, const char **word, const char **why)
{
	struct ws_str rest = ws_str_of(text);
	WS_VEC(struct ws_arch) archs = {0};
	while (rest.s) {
		struct ws_str part = ws_str_cut(&rest, ';');
		*word = ws_arena_printf(a, "%.*s", WS_STR_ARGS(part));
		size_t alias = 0;
		while (alias < facts->alias_count && !is_word(facts->aliases[alias].name, *word)) {
			alias++;
		}
		if (alias < facts->alias_count) {
			*set = facts->aliases[alias].archs;
		} else if (!ws_arch_set_parse(*word, a, set, why)) {
			return false;
		}
		for (size_t i = 0; i < set->count; i++) {
			*ws_vec_push(&archs, a) = set->at[i];
		}
	}
	*set = ws_arch_set_of(archs.at, archs.len);
	return true;
}

const char *
ws_cuda_label(const char *cuda, struct ws_arena *a)
{
	char *label = ws_arena_printf(a, "cu%s", cuda);
	char *end = label;
	for (const char *c = label; *c; c++) {
		if (*c != '.') {
			*end++ = *c;
		}
	}
	*end = '\0';
	return label;
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

bool
ws_cuda_has_target(const struct ws_cuda_toolkit *toolkit, const struct ws_arch *arch)
{
	for (size_t i = 0; i < toolkit->archs.count; i++) {
		const struct ws_arch *target = &toolkit->archs.at[i];
		if (target->number == arch->number && target->suffix == arch->suffix) {
			return true;
		}
	}
	return false;
}

bool
ws_cuda_has_targets(const struct ws_cuda_toolkit *toolkit, const struct ws_arch_set *archs)
{
	for (size_t i = 0; toolkit && i < archs->count; i++) {
		if (!ws_cuda_has_target(toolkit, &archs->at[i])) {
			return false;
		}
	}
	return true;
}

const char *
ws_facts_ptx_of_driver(const struct ws_facts *facts, const char *driver)
{
	const char *ptx = "0";
	for (size_t i = 0; i < facts->cuda_count; i++) {
		const struct ws_cuda_toolkit *toolkit = &facts->cuda[i];
		bool reads = toolkit->ptx.text && toolkit->driver.text
			&& strverscmp(toolkit->driver.text, driver) <= 0;
		ptx = reads ? toolkit->ptx.text : ptx;
	}
	return ptx;
}
