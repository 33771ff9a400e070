/* cmd_recipe_new.c - `wheelsmith recipe new`: brings a source distribution, has it looked at
 * (draft/recipe_guess.h), and proves that the draft can be read before a person gets it. */
#include "base/fs.h"
#include "cli/cmd_recipe.h"
#include "config/recipe.h"
#include "config/values.h"
#include "draft/recipe_guess.h"
#include "draft/sdist.h"
#include "fetch/source.h"
#include "model/tag.h"
#include "net/download.h"
#include "store/cas.h"

#include <stdlib.h>
#include <string.h>

struct drafting {
	struct ws_session *s;
	const char *name; /* normalised */
	const char *distribution;
	struct ws_version version;
	const char *to;      /* -o; NULL: stdout */
	const char *sources; /* the folder they are unpacked in; NULL: nothing was fetched */
	bool git;
	struct ws_buf text;
};

static bool
parse_wanted(struct drafting *d, const char *word, struct ws_err *err)
{
	const char *equals = strstr(word, "==");
	const char *name = equals ? ws_arena_copy(d->s->a, word, (size_t)(equals - word)) : "";
	if (!equals || !ws_is_package_name(name)
		|| !ws_version_parse(equals + 2, d->s->a, &d->version)) {
		ws_err_set(err, WS_ERR_USAGE, "'%s' names no version of a package", word);
		return ws_err_cure(err, "write it like this: causal-conv1d==1.5.3.post1");
	}
	if (d->version.local) {
		ws_err_set(err, WS_ERR_USAGE, "a recipe is for %s, without '+%s'", d->version.public_text,
			d->version.local);
		return ws_err_cure(err, "write %s==%s", name, d->version.public_text);
	}
	d->distribution = name;
	d->name = ws_package_normal(name, d->s->a);
	return true;
}

/* Where the draft goes: a folder stands for its place in it. */
static bool
settle_place(struct drafting *d, struct ws_err *err)
{
	if (!d->to) {
		return true;
	}
	if (ws_ends_with(d->to, "/") || ws_fs_is_dir(d->to)) {
		const char *file = ws_arena_printf(d->s->a, "%s.json", d->version.text);
		d->to = ws_path_join(d->s->a, d->to, d->name, file, NULL);
	}
	if (ws_fs_exists(d->to)) {
		ws_err_set(err, WS_ERR_USAGE, "'%s' is there already", d->to);
		return ws_err_cure(err, "move it away, or write elsewhere (-o FILE)");
	}
	return true;
}

/* An index that says no digest: the file is fetched first, and the digest is what came. */
static const char *
fetch_digest(const struct drafting *d, const struct ws_index_file *file, struct ws_err *err)
{
	struct ws_session *s = d->s;
	const char *partial = ws_store_path(&s->store, s->a, "partial");
	struct ws_download download = {
		.url = file->url,
		.path = ws_arena_printf(s->a, "%s/sdist-%s", partial, file->name),
		.partial = ws_arena_printf(s->a, "%s/sdist-%s.part", partial, file->name),
		.size_bytes = file->size_bytes,
	};
	struct ws_digest digest;
	if (!ws_download_all(s->fetch.http, &download, 1, err)
		|| !ws_cas_take(&s->store, download.path, &digest, NULL, err)) {
		return NULL;
	}
	return ws_arena_strdup(s->a, digest.hex);
}

/* The proof: what is written can be read again. */
static bool
can_be_read(const struct drafting *d, struct ws_err *err)
{
	struct ws_json_doc doc;
	struct ws_recipe recipe;
	return ws_json_parse(
			   "the draft", ws_buf_text(&d->text), d->text.len, WS_JSON_RELAXED, d->s->a, &doc, err)
		&& ws_recipe_parse(&doc, "/", d->s->a, &recipe, err);
}

/* Metadata of a stranger may hold what no recipe can; the rest is worth having. */
static bool
write_draft(struct drafting *d, struct ws_recipe_draft *draft, struct ws_err *err)
{
	ws_recipe_draft_write(draft, &d->text);
	if (can_be_read(d, err)) {
		return true;
	}
	ws_draft_note(draft, "metadata", "left out, because: %s", err->text);
	draft->recipe.metadata = (struct ws_metadata){.summary = "..."};
	ws_buf_clear(&d->text);
	ws_recipe_draft_write(draft, &d->text);
	return can_be_read(d, err) || ws_err_wrap(err, "no draft could be made of '%s'", draft->from);
}

static bool
draft_sdist(struct drafting *d, const struct ws_index_file *file, struct ws_err *err)
{
	struct ws_session *s = d->s;
	const char *sha256 = file->sha256[0] ? file->sha256 : fetch_digest(d, file, err);
	if (!sha256) {
		return false;
	}
	if (file->is_yanked) {
		ws_out_warn(&s->out, "%s was withdrawn by its authors: %s", file->name,
			file->yanked_why[0] ? file->yanked_why : "they do not say why");
	}
	const struct ws_source_spec spec = {
		.kind = WS_SOURCE_SDIST, .file = file->name, .package = d->name, .sha256 = sha256};
	const struct ws_source_wish wish = {
		.name = d->name, .version = d->version.text, .specs = &spec, .spec_count = 1};
	struct ws_source_found found;
	if (!ws_source_bring(&s->fetch, &wish, s->a, &found, err)) {
		return false;
	}
	d->sources = found.tree.path;
	struct ws_recipe_draft draft = {.from = file->name, .a = s->a};
	draft.recipe.name = d->name;
	draft.recipe.distribution = d->distribution;
	draft.recipe.version = d->version;
	draft.recipe.sources = &spec;
	draft.recipe.source_count = 1;
	const char *path = getenv("PATH");
	const struct ws_setup_reader reader = {
		.script = s->data.setup_reader, .path_variable = path ? path : "/usr/bin:/bin"};
	ws_recipe_guess(&found.tree, &reader, &draft);
	return write_draft(d, &draft, err);
}

static bool
make_draft(struct drafting *d, struct ws_err *err)
{
	struct ws_session *s = d->s;
	struct ws_sdist_found found;
	if (d->git) {
		ws_recipe_draft_write_git(d->distribution, d->version.text, NULL, &d->text);
		return true;
	}
	if (!ws_session_open_store(s, false, err) || !ws_session_open_net(s, NULL, 0, false, err)) {
		return false;
	}
	if (!ws_sdist_find(&s->fetch, d->name, &d->version, s->a, &found, err)) {
		return err->kind == WS_ERR_CONFIG
			? ws_err_cure(err, "for sources in git:  wheelsmith recipe new %s==%s --git",
				d->distribution, d->version.text)
			: false;
	}
	if (found.file) {
		return draft_sdist(d, found.file, err);
	}
	ws_out_warn(&s->out,
		"there is no source distribution of %s %s, only wheels; this is a form for sources in git",
		d->name, d->version.text);
	if (found.others[0]) {
		ws_out_note(&s->out, "         source distributions there are of: %s\n", found.others);
	}
	ws_recipe_draft_write_git(d->distribution, d->version.text, NULL, &d->text);
	return true;
}

static unsigned
count_checks(const struct ws_buf *text)
{
	unsigned count = 0;
	for (const char *at = ws_buf_text(text); (at = strstr(at, "// check:")); at++) {
		count++;
	}
	return count;
}

static bool
deliver(struct drafting *d, struct ws_err *err)
{
	const struct ws_out *out = &d->s->out;
	if (!d->to) {
		ws_out_result(out, "%s", ws_buf_text(&d->text));
		return true;
	}
	if (!ws_fs_mkdirs(ws_path_dir(d->s->a, d->to), err)
		|| !ws_fs_write_atomic(d->to, ws_buf_text(&d->text), d->text.len, 0644, err)) {
		return false;
	}
	unsigned checks = count_checks(&d->text);
	ws_out_note(out, "wrote %s, with %u line%s to check\n", d->to, checks, checks == 1 ? "" : "s");
	if (d->sources) {
		ws_out_note(out, "its sources, to read:  %s\n", d->sources);
	}
	ws_out_note(out, "then:  wheelsmith recipe check --fetch %s\n", d->to);
	return true;
}

bool
ws_cmd_recipe_new(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct drafting d = {.s = s};
	const struct ws_option options[] = {
		{"output", 'o', WS_OPTION_TEXT, &d.to, "FILE",
			"write there; a folder stands for FOLDER/NAME/V.json"},
		{"git", 0, WS_OPTION_FLAG, &d.git, NULL, "a form for sources in git, to fill in"},
	};
	struct ws_usage usage = {
		.command = "recipe new",
		.synopsis = "NAME==V [-o FILE] [--git]",
		.summary =
			"Writes the draft of a recipe: brings the source distribution of a version from\n"
			"the package index and reads its metadata, its setup.py (which is not run), and\n"
			"which sources, headers and packages there are. Guesses are marked \"check:\".",
		.options = options,
		.option_count = WS_LEN(options),
		.least = 1,
		.most = 1,
	};
	ws_words words = {0};
	if (!ws_command_options(s, &usage, argc, argv, &words, err)) {
		return false;
	}
	bool good = parse_wanted(&d, words.at[0], err) && settle_place(&d, err) && make_draft(&d, err)
		&& deliver(&d, err);
	ws_buf_release(&d.text);
	return good;
}
