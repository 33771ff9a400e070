/* completion_zsh.c - the script for zsh: a function for each command that hands _arguments its options. */
#include "cli/completion.h"

#include <string.h>

static const char head[] = "#compdef wheelsmith\n"
						   "# zsh completion for wheelsmith\n"
						   "# Made by `wheelsmith internal completion zsh`; do not edit.\n"
						   "\n"
						   "_wheelsmith_ask() { # what compadd is to know, topic\n"
						   "\tlocal -a found\n"
						   "\tfound=(${(f)\"$(${~typed[1]} internal complete $@[-1] "
						   "\"${(@Q)typed[2,-1]}\" 2>/dev/null)\"})\n"
						   "\tcompadd \"${(@)@[1,-2]}\" -a found\n"
						   "}\n";

static const char tail[] = "\n"
						   "_wheelsmith() {\n"
						   "\tlocal state line curcontext=$curcontext\n"
						   "\tlocal -a typed=(\"${words[@]}\")\n"
						   "\t_wheelsmith_command\n"
						   "}\n"
						   "\n"
						   "_wheelsmith \"$@\"\n";

/* Inside '...': \ before what _arguments reads, quotes as the shell wants them. */
static void
add_text(const char *text, struct ws_buf *out)
{
	for (; *text; text++) {
		if (*text == '\'') {
			ws_buf_puts(out, "'\\''");
		} else {
			if (strchr("[]:\\", *text)) {
				ws_buf_putc(out, '\\');
			}
			ws_buf_putc(out, *text);
		}
	}
}

static void
add_value(const struct ws_value *value, struct ws_buf *out)
{
	switch (value->kind) {
	case WS_VALUE_ANY:
		ws_buf_putc(out, ' ');
		break;
	case WS_VALUE_FILES:
		ws_buf_puts(out, "_files");
		break;
	case WS_VALUE_FOLDERS:
		ws_buf_puts(out, "_files -/");
		break;
	case WS_VALUE_WORDS:
		ws_buf_printf(out, "(%s)", value->words);
		break;
	case WS_VALUE_ASK:
		ws_buf_printf(out, "_wheelsmith_ask %s", value->words);
		break;
	}
}

/* '(-m --matrix)'{-m+,--matrix=}'[the build matrix]:FILE:_files': both spellings, of which one is enough
 * unless the option may stand more than once. */
static void
add_option(const struct ws_option *option, struct ws_arena *a, struct ws_buf *out)
{
	bool repeats = option->kind == WS_OPTION_LIST || option->kind == WS_OPTION_COUNT;
	ws_buf_puts(out, "\t\t'");
	if (repeats) {
		ws_buf_putc(out, '*');
	} else if (option->letter) {
		ws_buf_printf(out, "(-%c --%s)", option->letter, option->name);
	}
	if (option->letter) {
		ws_buf_printf(out, "'{-%c%s,--%s%s}'", option->letter, option->argument ? "+" : "",
			option->name, option->argument ? "=" : "");
	} else {
		ws_buf_printf(out, "--%s%s", option->name, option->argument ? "=" : "");
	}
	ws_buf_putc(out, '[');
	add_text(option->help, out);
	ws_buf_putc(out, ']');
	if (option->argument) {
		struct ws_value value = ws_completion_value(option, a);
		ws_buf_putc(out, ':');
		add_text(option->argument, out);
		ws_buf_putc(out, ':');
		add_value(&value, out);
	}
	ws_buf_puts(out, "' \\\n");
}

static void
add_options(const struct ws_option *options, size_t count, struct ws_arena *a, struct ws_buf *out)
{
	for (size_t i = 0; i < count; i++) {
		add_option(&options[i], a, out);
	}
}

/* "_recipe_check" of "recipe check". */
static const char *
suffix_of(const struct ws_completed *command, struct ws_arena *a)
{
	char *suffix = ws_arena_printf(a, "%s%s", command->name[0] ? "_" : "_command", command->name);
	for (char *c = suffix; *c; c++) {
		*c = *c == ' ' ? '_' : *c;
	}
	return suffix;
}

static void
add_parts(const struct ws_completed *command, const char *suffix, struct ws_buf *out)
{
	bool top = command->name[0] == '\0';
	ws_buf_puts(out, "\t\t'1:command:((");
	for (size_t i = 0; i < command->part_count; i++) {
		const struct ws_command *part = &command->parts[i];
		ws_buf_printf(out, "%s%s", i ? " " : "", part->name);
		if (part->help) {
			ws_buf_puts(out, "\\:\"");
			add_text(part->help, out);
			ws_buf_putc(out, '"');
		}
	}
	ws_buf_puts(out, "))' \\\n\t\t'*::words:->part'\n\t[[ $state == part ]] || return\n");
	ws_buf_puts(out, "\tcase $words[1] in\n");
	for (size_t i = 0; i < command->part_count; i++) {
		const char *name = command->parts[i].name;
		ws_buf_printf(out, "\t%s) _wheelsmith%s_%s ;;\n", name, top ? "" : suffix, name);
	}
	ws_buf_puts(out, "\tesac\n");
}

static void
add_command(const struct ws_completed *command, const struct ws_completions *all,
	struct ws_arena *a, struct ws_buf *out)
{
	const char *suffix = suffix_of(command, a);
	ws_buf_printf(out, "\n_wheelsmith%s() {\n\t_arguments %s\\\n", suffix,
		command->part_count > 0 ? "-C -A '-*' " : "");
	add_options(command->options, command->option_count, a, out);
	add_options(all->common, all->common_count, a, out);
	ws_buf_puts(out, "\t\t'(-h --help)'{-h,--help}'[what there is to say]' \\\n");
	if (command->part_count > 0) {
		add_parts(command, suffix, out);
	} else {
		ws_buf_puts(out, "\t\t'*:word:");
		add_value(&command->words, out);
		ws_buf_puts(out, "'\n");
	}
	ws_buf_puts(out, "}\n");
}

void
ws_completion_zsh(const struct ws_completions *all, struct ws_arena *a, struct ws_buf *out)
{
	ws_buf_puts(out, head);
	for (size_t i = 0; i < all->at.len; i++) {
		add_command(&all->at.at[i], all, a, out);
	}
	ws_buf_puts(out, tail);
}
