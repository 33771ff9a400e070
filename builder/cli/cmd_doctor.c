/* cmd_doctor.c - `wheelsmith doctor`: looks, prints, judges. */
#include "cli/cure.h"
#include "cli/doctor.h"

#include <stdarg.h>
#include <string.h>

const char *const ws_doctor_part_names[WS_DOCTOR_PARTS] = {"host", "store", "compilers", "CUDA",
	"Pythons", "torch", "GPUs", "indexes", "libraries", "ignored"};

void
ws_doctor_complain(struct ws_doctor *d, enum ws_doctor_part part, bool blocks, const char *cure,
	const char *format, ...)
{
	struct ws_complaint *complaint = ws_vec_push(&d->complaints, d->a);
	va_list values;
	va_start(values, format);
	complaint->text = ws_arena_vprintf(d->a, format, values);
	va_end(values);
	complaint->part = part;
	complaint->blocks = blocks;
	complaint->cure = cure && cure[0] ? ws_arena_printf(d->a, "%s\n", cure) : "";
}

void
ws_doctor_complain_err(
	struct ws_doctor *d, enum ws_doctor_part part, bool blocks, const struct ws_err *err)
{
	struct ws_err worded = *err;
	ws_cures_word(d->s, &worded);
	ws_doctor_complain(
		d, part, blocks, NULL, "%s%s%s", err->place, err->place[0] ? ": " : "", err->text);
	d->complaints.at[d->complaints.len - 1].cure = ws_arena_strdup(d->a, worded.cure);
}

size_t
ws_doctor_count(const struct ws_doctor *d, bool blocks)
{
	size_t count = 0;
	for (size_t i = 0; i < d->complaints.len; i++) {
		count += d->complaints.at[i].blocks == blocks;
	}
	return count;
}

bool
ws_cmd_doctor(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct ws_doctor d = {.s = s, .a = s->a};
	const struct ws_option options[] = {
		{"python", 0, WS_OPTION_TEXT, &d.python, "PATH", "look at this Python alone"},
	};
	struct ws_usage usage = {
		.command = "doctor",
		.synopsis = "[--python PATH]",
		.summary = "Looks at this host: memory, store, compilers and which CUDA takes them, CUDA\n"
				   "toolkits, Pythons, torch, GPUs and who uses them, indexes. Changes nothing.\n"
				   "Exits 0, or 1 when something is missing without which nothing can be built.",
		.options = options,
		.option_count = WS_LEN(options),
	};
	ws_words words = {0};
	if (!ws_command_options(s, &usage, argc, argv, &words, err)) {
		return false;
	}
	ws_doctor_look_around(&d);
	ws_doctor_look_at_tools(&d);
	if (s->globals.json) {
		ws_doctor_print_json(&d);
	} else {
		ws_doctor_print(&d);
	}
	*err = (struct ws_err){.kind = WS_ERR_NEGATIVE};
	return ws_doctor_count(&d, true) == 0;
}
