#include "base/arena.h"
#include "cli/selecting.h"
#include "net/index.h"
#include "net/url.h"
#include "publish/catalog.h"
#include "publish/folder/target.h"

#include <string.h>

typedef WS_VEC(struct ws_wheel_name) wheel_names;

bool
ws_against_is_url(const char *index)
{
	return strstr(index, "://") != NULL;
}

static bool
read_folder(const char *folder, struct ws_arena *a, wheel_names *names, struct ws_err *err)
{
	struct ws_index_target target;
	struct ws_index_catalog catalog = {0};
	if (!ws_index_target_look(folder, a, &target, err)
		|| !ws_index_catalog_read(ws_index_target_path(&target, "index.json"), a, &catalog, err)) {
		return false;
	}
	for (size_t i = 0; i < catalog.entries.len; i++) {
		if (!catalog.entries.at[i].yanked) {
			*ws_vec_push(names, a) = catalog.entries.at[i].name;
		}
	}
	return true;
}

static bool
read_pages(struct ws_session *s, const char *url, const struct ws_matrix *matrix,
	struct ws_arena *a, wheel_names *names, struct ws_err *err)
{
	for (size_t i = 0; i < matrix->package_count; i++) {
		const struct ws_index_page *page = NULL;
		if (!ws_index_page(s->fetch.index, url, matrix->packages[i].name, &page, err)) {
			return false;
		}
		for (size_t j = 0; page && j < page->count; j++) {
			struct ws_wheel_name name;
			const char *why;
			if (!page->files[j].is_yanked && ws_ends_with(page->files[j].name, ".whl")
				&& ws_wheel_name_parse(page->files[j].name, a, &name, &why)) {
				*ws_vec_push(names, a) = name;
			}
		}
	}
	return true;
}

bool
ws_against_read(struct ws_session *s, const char *index, const struct ws_matrix *matrix,
	struct ws_arena *a, struct ws_plan_against *against, struct ws_err *err)
{
	wheel_names names = {0};
	bool is_url = ws_against_is_url(index);
	if (!(is_url ? read_pages(s, index, matrix, a, &names, err)
				 : read_folder(index, a, &names, err))) {
		return false;
	}
	*against = (struct ws_plan_against){
		.name = is_url ? ws_url_shown(index, a) : index,
		.wheels = names.at,
		.count = names.len,
	};
	return true;
}
