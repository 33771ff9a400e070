/* recipe_form.c - the recipe of a package whose sources nobody has looked into. */
#include "base/json_write.h"
#include "draft/recipe_draft.h"

static void
quote(struct ws_buf *out, const char *text)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_add_text(w, NULL, text);
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

void
ws_recipe_draft_write_git(
	const char *distribution, const char *version, const char *repository, struct ws_buf *out)
{
	static const char form[] =
		"  // check: the commit that `git ls-remote URL 'refs/tags/v*'` shows for this version, "
		"and the\n"
		"  // submodules that are compiled against: \"submodules\": [\"third_party/cutlass\"]\n"
		"  \"source\": [{\"git\": %s, \"commit\": \"0000000000000000000000000000000000000000\"}],\n"
		"  \"extensions\": [\n"
		"    {\n"
		"      // check: all of this, by CUDAExtension(...) in setup.py\n"
		"      \"module\": %s,\n"
		"      \"binding\": \"pybind\",\n"
		"      \"sources\": [\"csrc/binding.cpp\", {\"glob\": \"csrc/*.cu\", \"count\": 1}],\n"
		"      \"include\": [\"csrc\"],\n"
		"      \"cxx_flags\": [\"-O3\"],\n"
		"      \"nvcc_flags\": [\"-O3\"]\n"
		"    }\n"
		"  ],\n"
		"  // check: folders with an __init__.py\n"
		"  \"python\": {\"packages\": [%s]},\n"
		"  // check: all of this\n"
		"  \"metadata\": {\"summary\": \"...\", \"license_files\": [\"LICENSE\"], \"requires\": "
		"[\"torch\"]}\n"
		"}\n";
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf url = {0};
	WS_AUTO_BUF struct ws_buf module = {0};
	WS_AUTO_BUF struct ws_buf package = {0};
	char *folder = ws_arena_strdup(a, distribution);
	for (char *c = folder; *c; c++) {
		*c = *c == '-' || *c == '.' ? '_' : *c;
	}
	quote(&url, repository ? repository : "https://example.org/someone/something");
	bool named = folder[0] >= '0' && folder[0] <= '9';
	quote(&module, ws_arena_printf(a, "%s%s._C", named ? "_" : "", folder));
	quote(&package, folder);
	ws_buf_puts(out,
		"// A form for sources in git. What is marked \"check:\" is to be filled in;\n"
		"// recipes/README.md says what each key means.\n{\n  \"name\": ");
	quote(out, distribution);
	ws_buf_puts(out, ",\n  \"version\": ");
	quote(out, version);
	ws_buf_puts(out, ",\n");
	ws_buf_printf(out, form, ws_buf_text(&url), ws_buf_text(&module), ws_buf_text(&package));
}
