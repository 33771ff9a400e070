/* completion_fish.c - the script for fish: one `complete` for each option and command. */
#include "cli/completion.h"

#include <string.h>

static const char head[] = "# fish completion for wheelsmith\n"
						   "# Made by `wheelsmith internal completion fish`; do not edit.\n"
						   "\n"
						   "function __wheelsmith_ask # topic\n"
						   "\tset -l typed (commandline -opc)\n"
						   "\t$typed[1] internal complete $argv[1] $typed[2..-1] 2>/dev/null\n"
						   "end\n"
						   "\n"
						   "# True when the commands on the line are these, and no others.\n"
						   "function __wheelsmith_at # words\n"
						   "\tset -l found\n"
						   "\tfor word in (commandline -opc)[2..-1]\n"
						   "\t\tcontains -- $word";

/* In '...': fish knows \' and \\ there. */
static void
add_quoted(const char *text, struct ws_buf *out)
{
	ws_buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\') {
			ws_buf_putc(out, '\\');
		}
		ws_buf_putc(out, *text);
	}
	ws_buf_putc(out, '\'');
}

static void
add_value(const struct ws_value *value, struct ws_buf *out)
{
	switch (value->kind) {
	case WS_VALUE_ANY:
		ws_buf_puts(out, " -x");
		break;
	case WS_VALUE_FILES:
		ws_buf_puts(out, " -r -F");
		break;
	case WS_VALUE_FOLDERS:
		ws_buf_puts(out, " -x -a '(__fish_complete_directories)'");
		break;
	case WS_VALUE_WORDS:
		ws_buf_printf(out, " -x -a '%s'", value->words);
		break;
	case WS_VALUE_ASK:
		ws_buf_printf(out, " -x -a '(__wheelsmith_ask %s)'", value->words);
		break;
	}
}

/* Words that are no options, after a command that takes them. */
static void
add_words(const struct ws_value *value, const char *start, struct ws_buf *out)
{
	if (value->kind == WS_VALUE_FILES) {
		ws_buf_printf(out, "%s -F\n", start);
	} else if (value->kind == WS_VALUE_ASK) {
		ws_buf_printf(out, "%s -a '(__wheelsmith_ask %s)'\n", start, value->words);
	}
}

static void
add_options(const struct ws_option *options, size_t count, const char *start, struct ws_arena *a,
	struct ws_buf *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct ws_option *option = &options[i];
		ws_buf_puts(out, start);
		if (option->letter) {
			ws_buf_printf(out, " -s %c", option->letter);
		}
		ws_buf_printf(out, " -l %s", option->name);
		if (option->argument) {
			struct ws_value value = ws_completion_value(option, a);
			add_value(&value, out);
		}
		ws_buf_puts(out, " -d ");
		add_quoted(option->help, out);
		ws_buf_putc(out, '\n');
	}
}

static void
add_command(const struct ws_completed *command, struct ws_arena *a, struct ws_buf *out)
{
	const char *start = ws_arena_printf(a, "complete -c wheelsmith -n '__wheelsmith_at%s%s'",
		command->name[0] ? " " : "", command->name);
	ws_buf_putc(out, '\n');
	for (size_t i = 0; i < command->part_count; i++) {
		const struct ws_command *part = &command->parts[i];
		ws_buf_printf(out, "%s -a %s", start, part->name);
		if (part->help) {
			ws_buf_puts(out, " -d ");
			add_quoted(part->help, out);
		}
		ws_buf_putc(out, '\n');
	}
	add_words(&command->words, start, out);
	add_options(command->options, command->option_count, start, a, out);
}

void
ws_completion_fish(const struct ws_completions *all, struct ws_arena *a, struct ws_buf *out)
{
	ws_buf_puts(out, head);
	for (size_t i = 0; i < all->at.len; i++) {
		for (size_t j = 0; j < all->at.at[i].part_count; j++) {
			ws_buf_printf(out, " %s", all->at.at[i].parts[j].name);
		}
	}
	ws_buf_puts(out, "; and set -a found $word\n\tend\n\ttest \"$found\" = \"$argv\"\nend\n");
	ws_buf_puts(out, "\ncomplete -c wheelsmith -f\n");
	ws_buf_puts(out, "complete -c wheelsmith -s h -l help -d 'what there is to say'\n");
	add_options(all->common, all->common_count, "complete -c wheelsmith", a, out);
	for (size_t i = 0; i < all->at.len; i++) {
		add_command(&all->at.at[i], a, out);
	}
}
