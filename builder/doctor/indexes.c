/* indexes.c - where files come from, and whom to trust. Passwords are not shown. */
#include "base/fs.h"
#include "doctor/doctor.h"
#include "net/url.h"

static void
add_indexes(struct ws_doctor *d)
{
	struct ws_err none;
	for (size_t i = 0; d->indexes && i < d->indexes->count; i++) {
		const struct ws_index_choice *choice = &d->indexes->choices[i];
		for (size_t j = 0; j < choice->count; j++) {
			ws_rows_add(&d->rows, "indexes[]", "{role:9} {url}  ({from})", "role %s url %s from %s",
				choice->role, ws_url_shown(choice->urls[j], d->a), choice->from);
		}
	}
	if (!d->indexes) {
		ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, d->indexes_err);
	} else if (ws_index_config_list(d->indexes, NULL, d->a).count == 0) {
		ws_err_set(&none, WS_ERR_CONFIG, "no package index is configured");
		ws_err_cure_code(&none, WS_CURE_INDEX, NULL);
		ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, &none);
	}
}

void
ws_doctor_indexes(struct ws_doctor *d)
{
	const char *ca = d->indexes ? d->indexes->ca_path : NULL;
	ws_rows_list(&d->rows, "indexes[]");
	add_indexes(d);
	ws_rows_add(&d->rows, "",
		d->mirror ? "Debian    {debian_mirror}  ({debian_mirror_from})"
				  : "Debian    no mirror is configured; NVIDIA's own archives are used",
		"debian_mirror %s debian_mirror_from %s", d->mirror ? ws_url_shown(d->mirror, d->a) : NULL,
		d->mirror_from);
	if (d->redist) {
		ws_rows_note(&d->rows, "NVIDIA    %s  (\"redist\")", ws_url_shown(d->redist, d->a));
	}
	ws_rows_add(&d->rows, "",
		ca ? "CAs       {ca}  ({ca_from})" : "CAs       those that libcurl was built with",
		"ca %s ca_from %s", ca, ca ? d->indexes->ca_from : NULL);
	if (ca && !ws_fs_exists(ca)) {
		ws_rows_problem(&d->rows, WS_PROBLEM_NOTE,
			ws_arena_printf(d->a, "correct or unset %s", d->indexes->ca_from),
			"the certificates '%s' do not exist", ca);
	}
}
