/* pythons.c - the Pythons to build for, and the torch that is installed for them. */
#include "doctor/doctor.h"
#include "kit/torch/torch.h"

/* Older than every Python that any torch of the facts has wheels for. */
static bool
is_too_old(const struct ws_facts *facts, const struct ws_python_tag *tag)
{
	for (size_t i = 0; i < facts->torch_count; i++) {
		for (size_t j = 0; j < facts->torch[i].python_count; j++) {
			const struct ws_python_tag *known = &facts->torch[i].pythons[j];
			if (known->major < tag->major
				|| (known->major == tag->major && known->minor <= tag->minor)) {
				return false;
			}
		}
	}
	return facts->torch_count > 0;
}

/* The torch that it would import; it is not imported. NULL: none. */
static const char *
torch_of(struct ws_doctor *d, const struct ws_python_kit *python)
{
	struct ws_torch_kit torch;
	struct ws_err ignored = {0};
	return ws_torch_open_installed(d->facts, python, NULL, d->a, &torch, &ignored)
		? torch.version.text
		: NULL;
}

/* One Python; returns whether wheels can be built for it. What is too old for any torch goes to
 * @old. */
static bool
add_python(
	struct ws_doctor *d, const struct ws_python_kit *listed, struct ws_buf *old, struct ws_err *err)
{
	struct ws_python_kit kit = {0};
	bool headers = ws_python_ask(d->env, listed->interpreter, d->a, &kit, err)
		&& ws_python_check_headers(&kit, d->host, err);
	bool answers = kit.version != NULL;
	const char *torch = answers ? torch_of(d, &kit) : NULL;
	if (d->python) {
		d->kit = kit;
	}
	if (!answers) {
		kit = *listed;
	}
	bool too_old = answers && !d->python && is_too_old(d->facts, &kit.tag);
	if (too_old) {
		ws_buf_printf(old, "%s%s", old->len > 0 ? ", " : "", kit.version);
	}
	/* Of one that was named, and of one that does not answer, the problem says all. */
	bool shown = answers && !too_old && (headers || !d->python);
	const char *cure = headers ? "" : ws_rows_cure(&d->rows, err);
	struct ws_row *row = ws_rows_add(&d->rows, "pythons[]",
		shown ? "{.label:9} {path}{.include}[  torch {torch}]{.flaw}" : NULL,
		"version %s free_threaded %d path %s torch %s has_headers %d wrong %s cure %s"
		" .label %s .include %s .flaw %s",
		kit.version, kit.tag.free_threaded, kit.interpreter, torch, headers,
		headers ? NULL : ws_arena_strdup(d->a, err->text), cure,
		ws_arena_printf(d->a, "%s%s", kit.version, kit.tag.free_threaded ? "t" : ""),
		kit.interpreter ? NULL : kit.include, headers ? NULL : "  no headers");
	row->problem = headers ? WS_PROBLEM_NONE : WS_PROBLEM_HINT;
	row->cure = cure;
	return headers;
}

void
ws_doctor_pythons(struct ws_doctor *d)
{
	struct ws_python_places places = ws_python_places_standard(d->env, d->a);
	WS_AUTO_BUF struct ws_buf old = {0};
	ws_python_list found = {0};
	struct ws_err err = {0};
	bool any = false;
	if (d->python) {
		*ws_vec_push(&found, d->a) = (struct ws_python_kit){.interpreter = d->python};
	} else {
		ws_python_list_all(&places, d->a, &found);
	}
	ws_rows_list(&d->rows, "pythons[]");
	for (size_t i = found.len; i-- > 0;) { /* the newest first */
		any = add_python(d, &found.at[i], &old, &err) || any;
	}
	if (old.len > 0) {
		ws_rows_note(&d->rows, "older than any torch here: %s", ws_buf_text(&old));
	}
	if (!any && d->python) {
		ws_rows_problem_err(&d->rows, WS_PROBLEM_BLOCKS, &err);
	} else if (!any) {
		ws_rows_problem(&d->rows, WS_PROBLEM_BLOCKS,
			found.len > 0 ? "install the headers of one of them, as said above" : NULL,
			"there is no Python here with headers to build for");
	}
}

void
ws_doctor_torch(struct ws_doctor *d)
{
	struct ws_python_places places = ws_python_places_standard(d->env, d->a);
	struct ws_python_kit host;
	struct ws_torch_kit torch;
	struct ws_err err = {0};
	bool known = d->python ? ws_python_ask(d->env, d->python, d->a, &host, &err)
						   : ws_python_find_host(&places, d->a, &host, &err);
	bool has = known && ws_torch_open_installed(d->facts, &host, NULL, d->a, &torch, &err);
	const char *why = ws_arena_strdup(d->a, err.text);
	ws_rows_add(&d->rows, "torch", has ? NULL : "{why_none}\nbuilding does not need it",
		"python %s version %s why_none %s", known ? host.interpreter : NULL,
		has ? torch.version.text : NULL, has ? NULL : why);
	if (has) {
		ws_rows_add(&d->rows, "torch", "{.version}, CUDA {cuda|none}, cxx11abi {cxx11abi}  {path}",
			".version %s cuda %s cxx11abi %ju path %s", torch.version.text, torch.cuda,
			(uintmax_t)torch.cxx11abi, torch.path);
	}
}
