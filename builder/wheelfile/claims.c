/* claims.c - see claims.h. */
#include "wheelfile/claims.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* ---- the name ---- */

/* Does a tag of WHEEL name the Python, the ABI and the machine that the file name does? */
static bool
agrees(const struct ws_wheel_name *name, const char *tag)
{
	bool any = ws_ends_with(tag, "-any");
	for (size_t p = 0; p < name->python_count; p++) {
		for (size_t i = 0; i < name->abi_count; i++) {
			char front[64];
			snprintf(front, sizeof(front), "%s-%s-", name->pythons[p], name->abis[i]);
			if (ws_starts_with(tag, front) && (any || ws_ends_with(tag, "_x86_64"))) {
				return true;
			}
		}
	}
	return false;
}

static bool
has_tag(const struct ws_wheel_name *name, const struct ws_wheel_info *wheel)
{
	for (size_t i = 0; i < wheel->tag_count; i++) {
		if (agrees(name, wheel->tags[i])) {
			return true;
		}
	}
	return false;
}

const char *
ws_claims_contradict(
	const struct ws_wheel_name *name, const struct ws_dist_info *info, struct ws_arena *a)
{
	const struct ws_metadata_info *metadata = &info->metadata;
	if (!ws_same(name->distribution, metadata->package)
		|| ws_version_cmp_public(&name->version, &metadata->version) != 0) {
		return ws_arena_printf(
			a, "its METADATA is of %s %s", metadata->name, metadata->version.text);
	}
	return has_tag(name, &info->wheel)
		? NULL
		: ws_arena_printf(a, "its WHEEL says '%s'", info->wheel.tags[0]);
}

/* ---- the place ---- */

/* Some 3.11.x is in the range: which patch release is installed is not known. */
static bool
has_minor(const struct ws_specifiers *range, const struct ws_python_tag *tag, struct ws_arena *a)
{
	static const unsigned patches[] = {0, 99};
	bool has = false;
	for (size_t i = 0; i < WS_LEN(patches) && !has; i++) {
		struct ws_version version;
		const char *text = ws_arena_printf(a, "%u.%u.%u", tag->major, tag->minor, patches[i]);
		has = ws_version_parse(text, a, &version) && ws_specifiers_contain(range, &version, true);
	}
	return has;
}

const char *
ws_claims_refuse_python(
	const struct ws_metadata_info *metadata, const struct ws_python_tag *python, struct ws_arena *a)
{
	const struct ws_specifiers *range =
		metadata->requires_python ? ws_specifiers_parse(metadata->requires_python, a) : NULL;
	return !range || has_minor(range, python, a)
		? NULL
		: ws_arena_printf(a, "its METADATA asks for Python %s, which %s is not",
			metadata->requires_python, ws_python_version_text(python, a));
}

/* "==2.5.1" of "==2.5.1+cu121". */
static const char *
without_labels(const char *specifiers, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	while (*specifiers) {
		size_t len = strcspn(specifiers, "+");
		ws_buf_add(&out, specifiers, len);
		specifiers += len;
		specifiers += strcspn(specifiers, ",");
	}
	return ws_buf_copy(&out, a);
}

const char *
ws_claims_refuse_torch(
	const struct ws_metadata_info *metadata, const struct ws_version *torch, struct ws_arena *a)
{
	for (size_t i = 0; i < metadata->require_count; i++) {
		const struct ws_requirement *asked = &metadata->requires[i];
		if (!ws_same(asked->package, "torch") || asked->marker || asked->url) {
			continue;
		}
		const struct ws_specifiers *range = ws_specifiers_parse(
			torch->local ? asked->specifiers : without_labels(asked->specifiers, a), a);
		if (range && !ws_specifiers_contain(range, torch, true)) {
			return ws_arena_printf(a, "its METADATA asks for torch%s, which torch %s is not",
				asked->specifiers, torch->text);
		}
	}
	return NULL;
}
