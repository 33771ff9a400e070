/* sdist.c - fetching is fetch/'s. */
#include "draft/sdist.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/wheel_name.h"
#include "net/index_config.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 8 /* versions that a message names */

bool
ws_sdist_version(
	const char *file, const char *package, struct ws_arena *a, struct ws_version *version)
{
	static const char *const endings[] = {".tar.gz", ".zip"};
	size_t len = 0;
	for (size_t i = 0; i < WS_LEN(endings); i++) {
		len = ws_ends_with(file, endings[i]) ? strlen(file) - strlen(endings[i]) : len;
	}
	const char *stem = ws_arena_copy(a, file, len);
	for (const char *dash = strchr(stem, '-'); dash; dash = strchr(dash + 1, '-')) {
		const char *name = ws_arena_copy(a, stem, (size_t)(dash - stem));
		if (strcmp(ws_package_normal(name, a), package) == 0
			&& ws_version_parse(dash + 1, a, version)) {
			return true;
		}
	}
	return false;
}

static int
cmp_newest_first(const void *x, const void *y)
{
	return ws_version_cmp(y, x);
}

/* Sorts them; nightly builds count only where there is nothing else. */
static void
list_versions(
	struct ws_version *versions, size_t count, struct ws_arena *a, struct ws_sdist_found *found)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	const char *last = "";
	bool finals = false;
	if (count > 1) {
		qsort(versions, count, sizeof(*versions), cmp_newest_first);
	}
	for (size_t i = 0; i < count; i++) {
		finals = finals || !ws_version_is_prerelease(&versions[i]);
	}
	for (size_t i = 0, shown = 0; i < count && shown < SHOWN; i++) {
		bool counts = !finals || !ws_version_is_prerelease(&versions[i]);
		found->newest = counts && !found->newest ? &versions[i] : found->newest;
		if (counts && strcmp(versions[i].text, last) != 0) {
			ws_buf_printf(&b, "%s%s", shown++ > 0 ? ", " : "", versions[i].text);
			last = versions[i].text;
		}
	}
	found->others = ws_buf_copy(&b, a);
}

static void
look_at_page(const struct ws_index_page *page, const char *package,
	const struct ws_version *version, struct ws_arena *a, struct ws_sdist_found *found)
{
	WS_VEC(struct ws_version) versions = {0};
	for (size_t i = 0; i < page->count; i++) {
		const struct ws_index_file *file = &page->files[i];
		struct ws_wheel_name wheel;
		struct ws_version of;
		const char *why;
		if (ws_wheel_name_parse(file->name, a, &wheel, &why)) {
			found->has_wheels = found->has_wheels
				|| (version && ws_version_cmp_public(&wheel.version, version) == 0);
		} else if (ws_sdist_version(file->name, package, a, &of)) {
			bool is_named = version && ws_version_cmp(&of, version) == 0;
			if (is_named || !file->is_yanked) { /* PEP 592: taken by those that name it */
				*ws_vec_push(&versions, a) = of;
			}
			if (is_named && (!found->file || ws_ends_with(file->name, ".tar.gz"))) {
				found->file = file;
			}
		}
	}
	list_versions(versions.at, versions.len, a, found);
}

bool
ws_sdist_find(const struct ws_fetch *fetch, const char *package, const struct ws_version *version,
	struct ws_arena *a, struct ws_sdist_found *found, struct ws_err *err)
{
	const struct ws_index_page **pages;
	size_t count;
	struct ws_index_list list = ws_index_config_list(fetch->indexes, NULL, a);
	*found = (struct ws_sdist_found){.others = ""};
	if (!ws_index_pages(fetch->index, &list, package, &pages, &count, err)) {
		return false;
	}
	if (count == 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "the package index has no '%s'", package);
	}
	look_at_page(pages[0], package, version, a, found);
	if (found->file || found->has_wheels || (!version && found->newest)) {
		return true;
	}
	if (!version) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "the package index has no source distribution of '%s'", package);
	}
	ws_err_set(err, WS_ERR_CONFIG, "the package index has no '%s' %s", package, version->text);
	return ws_err_cure(
		err, "it has sources of: %s", found->others[0] ? found->others : "no version at all");
}
