/* explain.c - gathers what is known under names, then puts it into the sign's texts. */
#include "explain/explain.h"

#include "base/fs.h"

const char *
ws_remedy_package(const struct ws_recipe_catalog *catalog, const char *module, struct ws_arena *a)
{
	for (size_t i = catalog ? catalog->count : 0; i-- > 0;) {
		const struct ws_recipe_file *file = &catalog->files[i];
		struct ws_recipe recipe = {0};
		bool read = ws_recipe_find(catalog, file->name, &file->version, a, &recipe, NULL);
		for (size_t k = 0; read && k < recipe.extension_count; k++) {
			/* "demo._C" and "_C" are both names of the module that the recipe calls "demo._C". */
			const char *named = recipe.extensions[k].module, *last = strrchr(named, '.');
			if (strcmp(named, module) == 0 || (last && strcmp(last + 1, module) == 0)) {
				return file->name;
			}
		}
	}
	return NULL;
}

/* The recipe of that version, else the newest of the package that compiles: what has a label of its
 * own (+any) is Python over another package's modules. NULL: there is none. */
static const char *
version_to_build(const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy)
{
	const char *newest = NULL;
	for (size_t i = 0; catalog && i < catalog->count; i++) {
		const struct ws_recipe_file *file = &catalog->files[i];
		if (!ws_same(file->name, remedy->package)) {
			continue;
		}
		if (ws_same(file->version.text, remedy->version)) {
			return file->version.text;
		}
		newest = strchr(file->version.text, '+') ? newest : file->version.text;
	}
	return newest;
}

static void
put_option(struct ws_buf *line, const char *option, const char *value)
{
	if (value) {
		ws_buf_printf(line, " --%s ", option);
		ws_buf_put_quoted(line, value);
	}
}

static const char *
package_text(const struct ws_remedy *remedy, const char *version, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s==%s", remedy->package ? remedy->package : "NAME",
		version               ? version
			: remedy->version ? remedy->version
							  : "VERSION");
}

const char *
ws_remedy_command(
	const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	const char *version = version_to_build(catalog, remedy);
	ws_buf_printf(&line, "wheelsmith build %s", package_text(remedy, version, a));
	ws_buf_puts(&line, remedy->torch ? "" : " --here");
	put_option(&line, "torch", remedy->torch);
	put_option(&line, "python", remedy->python);
	put_option(&line, "recipes",
		remedy->recipes                   ? remedy->recipes
			: remedy->package && !version ? "recipes"
										  : NULL);
	return ws_buf_copy(&line, a);
}

const char *
ws_remedy_draft(
	const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy, struct ws_arena *a)
{
	if (!remedy->package || version_to_build(catalog, remedy)) {
		return NULL;
	}
	return ws_arena_printf(a, "wheelsmith recipe new %s -o %s/", package_text(remedy, NULL, a),
		remedy->recipes ? remedy->recipes : "recipes");
}

/* ---- an installed module ---- */

#define RECORD_MOST ((size_t)8 << 20) /* bytes; torch's own has 1.5 MB */

/* "3.11" of "cpython-311". */
static const char *
python_of(const char *file, struct ws_arena *a)
{
	const char *tag = strstr(file, ".cpython-"), *folder = strstr(file, "/lib/python"), *text = "";
	struct ws_python_tag python;
	if (tag) {
		tag += strlen(".cpython-");
		text = ws_arena_printf(a, "cp%.*s", (int)strcspn(tag, "-."), tag);
	} else if (folder) {
		folder += strlen("/lib/python");
		text = ws_arena_copy(a, folder, strcspn(folder, "/"));
	}
	return ws_python_tag_parse(text, &python) ? ws_python_version_text(&python, a) : NULL;
}

/* "demo._C" of "demo/_C.cpython-311-x86_64-linux-gnu.so". */
static const char *
module_of(const char *below, struct ws_arena *a)
{
	const char *base = ws_path_base(below);
	size_t len = (size_t)(base - below) + strcspn(base, ".");
	char *module = ws_arena_copy(a, below, len);
	for (char *at = module; *at; at++) {
		*at = *at == '/' ? '.' : *at;
	}
	return module[0] ? module : NULL;
}

bool
ws_site_entry_of(const char *name, struct ws_arena *a, struct ws_site_entry *entry)
{
	static const struct {
		const char *suffix, *list;
		bool in_own;
	} forms[] = {
		{".dist-info", "RECORD", false},
		{".egg-info", "installed-files.txt", false},
		{".egg", "EGG-INFO/native_libs.txt", true},
	};
	for (size_t i = 0; i < WS_LEN(forms); i++) {
		if (ws_ends_with(name, forms[i].suffix)) {
			struct ws_str rest = {name, strlen(name) - strlen(forms[i].suffix)};
			struct ws_str package = ws_str_cut(&rest, '-');
			*entry =
				(struct ws_site_entry){.package = ws_package_normal(ws_str_copy(package, a), a),
					.list = forms[i].list,
					.in_own = forms[i].in_own};
			/* "-py3.11-linux-x86_64" may follow. */
			return rest.s
				&& ws_version_parse(ws_str_copy(ws_str_cut(&rest, '-'), a), a, &entry->version);
		}
	}
	return false;
}

struct ws_installed
ws_installed_of(const char *file, struct ws_arena *a)
{
	const char *site = strstr(file, "/site-packages/");
	site = site ? site : strstr(file, "/dist-packages/");
	size_t len = site ? (size_t)(site - file) + strlen("/site-packages") : 0;
	const char *below = len ? file + len + 1 : ws_path_base(file);
	struct ws_installed place = {.module = module_of(below, a), .python = python_of(file, a)};
	if (len > 0 && file[0] == '/') {
		const char *packages = ws_arena_copy(a, file, len);
		/* <prefix>/bin/python of <prefix>/lib/python3.11/site-packages. */
		const char *library = ws_path_dir(a, packages);
		const char *prefix = ws_path_dir(a, ws_path_dir(a, library));
		const char *program = ws_path_join(a, prefix, "bin", ws_path_base(library), NULL);
		place.program =
			ws_starts_with(ws_path_base(library), "python") && access(program, X_OK) == 0 ? program
																						  : NULL;
		const char *line = ws_arena_printf(a, "\n%s,", below); /* of RECORD */
		WS_AUTO_DIR DIR *dir = opendir(packages);
		const struct dirent *entry;
		while (dir && (entry = readdir(dir))) {
			struct ws_site_entry beside;
			if (!ws_site_entry_of(entry->d_name, a, &beside)) {
				continue;
			}
			if (strcmp(beside.package, "torch") == 0) {
				place.torch = beside.version.text;
				continue;
			}
			const char *record = ws_path_join(a, packages, entry->d_name, "RECORD", NULL);
			WS_AUTO_BUF struct ws_buf text = {0};
			ws_buf_putc(&text, '\n');
			if (!place.package && ws_fs_read_at_most(record, RECORD_MOST, &text, NULL)
				&& strstr(ws_buf_text(&text), line)) {
				place.package = beside.package;
				place.version = beside.version.public_text;
			}
		}
	}
	return place;
}

/* ---- an explanation ---- */

/* The values that texts may name; NULL: not known. The first of a name counts. */
struct values {
	const struct ws_capture *captured; /* what the sign captured */
	size_t count;
	struct ws_capture more[6]; /* further facts; the name NULL ends them */
};

static const char *
value_of(const struct values *v, struct ws_str name)
{
	for (size_t i = 0; i < v->count; i++) {
		if (ws_str_is(name, v->captured[i].name)) {
			return v->captured[i].value;
		}
	}
	for (size_t i = 0; i < WS_LEN(v->more) && v->more[i].name; i++) {
		if (ws_str_is(name, v->more[i].name)) {
			return v->more[i].value;
		}
	}
	return NULL;
}

/* @text with its names replaced. NULL where one is not known and @whole; else the name stays
 * away. */
static const char *
fill(const struct values *v, const char *text, bool whole, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	while (*text) {
		size_t plain = strcspn(text, "{");
		ws_buf_add(&out, text, plain);
		text += plain;
		if (*text != '{') {
			break;
		}
		size_t len = strcspn(++text, "}");
		const char *value = value_of(v, (struct ws_str){text, len});
		if (!value && whole) {
			return NULL;
		}
		ws_buf_puts(&out, value ? value : "?");
		text += len + (text[len] == '}');
	}
	return ws_buf_copy(&out, a);
}

/* ---- what the text names ---- */

/* The known release that a label like "cu12torch2.4cxx11abiFALSE" means: the last of its minor. */
static const char *
release_of_label(const struct ws_facts *facts, const char *label, struct ws_arena *a)
{
	const char *found = label ? strstr(label, "torch") : NULL;
	struct ws_version minor;
	if (!found) {
		return NULL;
	}
	found += strlen("torch");
	found += *found == '.';
	const char *text = ws_arena_copy(a, found, strspn(found, "0123456789."));
	const char *release = NULL;
	if (strchr(text, '.') && ws_version_parse(text, a, &minor)) {
		for (size_t i = 0; i < facts->torch_count; i++) {
			bool same = ws_version_in_series(&facts->torch[i].version, &minor, 2);
			release = same ? facts->torch[i].version.text : release;
		}
	}
	return release;
}

/* "https://h/p/flash_attn-2.6.1%2Bcu123torch2.4cxx11abiFALSE-cp310-cp310-linux_x86_64.whl" */
static void
read_wheel(
	const struct ws_explaining *with, const char *url, struct ws_remedy *remedy, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf file = {0};
	for (const char *at = ws_path_base(url); *at; at++) {
		bool plus = strncmp(at, "%2B", 3) == 0 || strncmp(at, "%2b", 3) == 0;
		ws_buf_putc(&file, plus ? '+' : *at);
		at += plus ? 2 : 0;
	}
	struct ws_wheel_name name;
	struct ws_python_tag python;
	const char *why;
	if (!ws_wheel_name_parse(ws_buf_text(&file), a, &name, &why)) {
		return;
	}
	remedy->package = name.distribution;
	remedy->version = name.version.public_text;
	remedy->torch = release_of_label(with->facts, name.version.local, a);
	if (remedy->torch && ws_python_tag_parse(name.abis[0], &python)) {
		remedy->python = ws_python_version_text(&python, a);
	}
}

/* The cures whose names are all known, and room for one more. */
static const char **
fill_cures(const struct values *v, const char *const *texts, size_t count, struct ws_arena *a,
	size_t *filled)
{
	const char **cures = WS_NEW_N(a, const char *, count + 1);
	*filled = 0;
	for (size_t i = 0; i < count; i++) {
		const char *cure = fill(v, texts[i], true, a);
		if (cure) {
			cures[(*filled)++] = cure;
		}
	}
	return cures;
}

bool
ws_explain(const struct ws_explaining *with, const struct ws_found_sign *found, struct ws_arena *a,
	struct ws_explanation *e, struct ws_err *err)
{
	const struct ws_sign *sign = found->sign;
	struct values v = {.captured = found->captures, .count = found->count};
	const char *file = value_of(&v, ws_str_of("file")), *stem = value_of(&v, ws_str_of("stem"));
	const char *wheel = value_of(&v, ws_str_of("wheel"));
	const char *module = stem ? ws_arena_printf(a, "%s_cuda", stem) : NULL;
	struct ws_installed place =
		file ? ws_installed_of(file, a) : (struct ws_installed){.module = module};
	struct ws_remedy remedy = {.package = place.package,
		.version = place.version,
		.python = place.program,
		.recipes = with->recipes};
	if (!remedy.package && place.module) {
		remedy.package = ws_remedy_package(with->catalog, place.module, a);
	}
	if (wheel) {
		read_wheel(with, wheel, &remedy, a);
	}
	remedy.package = sign->package ? sign->package : remedy.package;
	v.more[0] = (struct ws_capture){"package", remedy.package};
	v.more[1] = (struct ws_capture){"version", remedy.version};
	v.more[2] = (struct ws_capture){"torch", remedy.torch ? remedy.torch : place.torch};
	v.more[3] = (struct ws_capture){"python", remedy.python ? remedy.python : place.python};
	v.more[4] = (struct ws_capture){"module", place.module};
	v.more[5] = (struct ws_capture){"build", ws_remedy_command(with->catalog, &remedy, a)};
	*e = (struct ws_explanation){.found = *found,
		.sign = sign->name,
		.reported = sign->from,
		.cause = fill(&v, sign->cause, false, a)};
	bool own = sign->cure_count > 0;
	const char **cures = fill_cures(&v, own ? sign->cures : sign->build_cures,
		own ? sign->cure_count : sign->build_cure_count, a, &e->cure_count);
	e->cures = cures;
	/* A package without a recipe needs one first. */
	const char *draft = ws_remedy_draft(with->catalog, &remedy, a);
	if (draft && e->cure_count > 0) {
		cures[e->cure_count++] = ws_arena_printf(a, "it has no recipe yet; first:  %s", draft);
	}
	struct ws_symbol_question question = {
		.name = value_of(&v, ws_str_of("symbol")),
		.torch = place.torch,
		.facts = with->facts,
		.exports = with->exports,
	};
	struct ws_symbol_answer answer;
	if (!e->found.sign->symbol || !question.name || !with->exports) {
		return true;
	}
	if (!ws_symbol_answer(&question, a, &answer, err)) {
		return false;
	}
	module = place.module;
	e->cause = module ? ws_arena_printf(a, "%s does not find a symbol: %s", module, answer.cause)
					  : ws_arena_printf(a, "a symbol is not found: %s", answer.cause);
	e->evidence = answer.evidence;
	e->evidence_count = answer.evidence_count;
	return true;
}

const char *const *
ws_explain_build(const struct ws_found_sign *found, struct ws_arena *a, size_t *count)
{
	const struct ws_sign *sign = found->sign;
	const struct values v = {.captured = found->captures, .count = found->count};
	bool own = sign->build_cure_count > 0;
	return fill_cures(&v, own ? sign->build_cures : sign->cures,
		own ? sign->build_cure_count : sign->cure_count, a, count);
}
