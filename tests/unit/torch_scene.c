/* torch_scene.c - see torch_scene.h. */
#include "torch_scene.h"

#include "test.h"

#include "base/fs.h"

struct ws_facts
ws_torch_scene_facts(struct ws_arena *a)
{
	static const struct ws_torch_release releases[] = {
		{.standard = {"12.4", 0}, .cxx_std = 17, .passes_abi = true},
		{.standard = {"12.8", 1}, .cxx_std = 17},
		{.standard = {"13.0", 1}, .cxx_std = 20},
	};
	static const char *const versions[] = {"2.5.1", "2.9.1", "2.14.1"};
	struct ws_torch_release *all = WS_NEW_N(a, struct ws_torch_release, WS_LEN(releases));
	for (size_t i = 0; i < WS_LEN(releases); i++) {
		all[i] = releases[i];
		assert_true(ws_version_parse(versions[i], a, &all[i].version));
	}
	return (struct ws_facts){.torch = all, .torch_count = WS_LEN(releases)};
}

const char *
ws_torch_scene_files(struct ws_scene *s)
{
	return ws_path_join(s->a, s->served.dir, "files", NULL);
}

bool
ws_torch_scene_open(struct ws_scene *s, const char *version, const char *python,
	const struct ws_pin_torch *pin, struct ws_torch_kit *kit)
{
	struct ws_facts facts = ws_torch_scene_facts(s->a);
	struct ws_torch_wish wish = {.pin = pin};
	s->err = (struct ws_err){0};
	assert_true(ws_version_parse(version, s->a, &wish.version));
	assert_true(ws_python_tag_parse(python, &wish.python));
	return ws_torch_open(&s->fetch, &facts, &wish, s->a, kit, &s->err);
}

void
ws_torch_scene_forget(struct ws_scene *s)
{
	s->fetch.index = ws_index_open(s->fetch.http, s->a);
}
