/* completion_bash.c - the script for bash: a table that is ours, and a few functions that read it. They
 * take the line as it was typed, because bash itself splits "flash-attn==2" at the signs. */
#include "cli/completion.h"

#include <string.h>

static const char head[] = "# bash completion for wheelsmith\n"
						   "# Made by `wheelsmith internal completion bash`; do not edit.\n"
						   "# shellcheck shell=bash\n"
						   "\n"
						   "# What $1 understands: options, parts (commands that come next), "
						   "words; and the value of option $2.\n"
						   "# Values and words: files, folders, ask:TOPIC, 'any', or the words "
						   "themselves; '' takes no value.\n"
						   "_wheelsmith_table() { # command, option\n"
						   "\toptions='' parts='' words='' value=''\n"
						   "\tcase $1 in\n";

static const char tail[] =
	"}\n"
	"\n"
	"# Adds what fits to COMPREPLY, as it would stand on the line.\n"
	"_wheelsmith_fill() { # kind, what was typed, what stands before it\n"
	"\tlocal word\n"
	"\twhile IFS= read -r word; do\n"
	"\t\t[[ $word == \"$2\"* ]] && COMPREPLY+=(\"$3$word\")\n"
	"\tdone < <(\n"
	"\t\tcase $1 in\n"
	"\t\tany) ;;\n"
	"\t\tfiles) compgen -f -- \"$2\" ;;\n"
	"\t\tfolders) compgen -d -- \"$2\" ;;\n"
	"\t\task:*) \"${typed[0]/#\\~/$HOME}\" internal complete \"${1#ask:}\" \"${typed[@]:1}\" "
	"2>/dev/null ;;\n"
	"\t\t*) printf '%s\\n' \"$1\" | tr ' ' '\\n' ;;\n"
	"\t\tesac\n"
	"\t)\n"
	"\t[[ $1 != files && $1 != folders ]] || compopt -o filenames 2>/dev/null\n"
	"}\n"
	"\n"
	"_wheelsmith() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} command='' option='' kind='' i\n"
	"\tlocal options parts words value\n"
	"\tlocal -a typed\n"
	"\tread -ra typed <<<\"$line\"\n"
	"\t[[ $line != *[[:space:]] ]] || typed+=('')\n"
	"\tlocal last=$((${#typed[@]} - 1))\n"
	"\tlocal word=${typed[last]}\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < last; i++)); do\n"
	"\t\tif [[ $option ]]; then\n"
	"\t\t\toption=''\n"
	"\t\t\tcontinue\n"
	"\t\tfi\n"
	"\t\t_wheelsmith_table \"$command\" \"${typed[i]}\"\n"
	"\t\tif [[ $value ]]; then\n"
	"\t\t\toption=${typed[i]} kind=$value\n"
	"\t\telif [[ \" $parts \" == *\" ${typed[i]} \"* ]]; then\n"
	"\t\t\tcommand+=${command:+ }${typed[i]}\n"
	"\t\tfi\n"
	"\tdone\n"
	"\t_wheelsmith_table \"$command\" \"${word%%=*}\"\n"
	"\tif [[ $option ]]; then\n"
	"\t\t_wheelsmith_fill \"$kind\" \"$word\" ''\n"
	"\telif [[ $word == --*=* ]]; then\n"
	"\t\t_wheelsmith_fill \"${value:-any}\" \"${word#*=}\" \"${word%%=*}=\"\n"
	"\telif [[ $word == -* ]]; then\n"
	"\t\t_wheelsmith_fill \"$options\" \"$word\" ''\n"
	"\telse\n"
	"\t\t_wheelsmith_fill \"${parts:-$words}\" \"$word\" ''\n"
	"\tfi\n"
	"\tif [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then\n"
	"\t\tCOMPREPLY=(\"${COMPREPLY[@]#\"${word%=*}=\"}\")\n"
	"\tfi\n"
	"}\n"
	"\n"
	"complete -F _wheelsmith wheelsmith\n";

static void
add_value(const struct ws_value *value, struct ws_buf *out)
{
	switch (value->kind) {
	case WS_VALUE_ANY:
		ws_buf_puts(out, "any");
		break;
	case WS_VALUE_FILES:
		ws_buf_puts(out, "files");
		break;
	case WS_VALUE_FOLDERS:
		ws_buf_puts(out, "folders");
		break;
	case WS_VALUE_WORDS:
		ws_buf_printf(out, "'%s'", value->words);
		break;
	case WS_VALUE_ASK:
		ws_buf_printf(out, "ask:%s", value->words);
		break;
	}
}

/* "-m --matrix", with @a between. */
static void
add_names(const struct ws_option *option, const char *between, struct ws_buf *out)
{
	if (option->letter) {
		ws_buf_printf(out, "-%c%s", option->letter, between);
	}
	ws_buf_printf(out, "--%s", option->name);
}

static void
add_list(const struct ws_option *options, size_t count, struct ws_buf *out)
{
	for (size_t i = 0; i < count; i++) {
		add_names(&options[i], " ", out);
		ws_buf_putc(out, ' ');
	}
}

static void
add_values(const struct ws_option *options, size_t count, struct ws_arena *a, struct ws_buf *out)
{
	bool any = false;
	for (size_t i = 0; i < count; i++) {
		if (options[i].argument) {
			struct ws_value value = ws_completion_value(&options[i], a);
			ws_buf_puts(out, any ? "" : "\t\tcase $2 in\n");
			any = true;
			ws_buf_puts(out, "\t\t");
			add_names(&options[i], " | ", out);
			ws_buf_puts(out, ") value=");
			add_value(&value, out);
			ws_buf_puts(out, " ;;\n");
		}
	}
	ws_buf_puts(out, any ? "\t\tesac\n" : "");
}

static void
add_command(const struct ws_completed *command, struct ws_arena *a, struct ws_buf *out)
{
	ws_buf_printf(out, "\t'%s')\n\t\toptions='", command->name);
	add_list(command->options, command->option_count, out);
	ws_buf_puts(out, "'\n");
	if (command->part_count > 0) {
		ws_buf_puts(out, "\t\tparts='");
		for (size_t i = 0; i < command->part_count; i++) {
			ws_buf_printf(out, "%s%s", i ? " " : "", command->parts[i].name);
		}
		ws_buf_puts(out, "'\n");
	} else if (command->words.kind != WS_VALUE_ANY) {
		ws_buf_puts(out, "\t\twords=");
		add_value(&command->words, out);
		ws_buf_putc(out, '\n');
	}
	add_values(command->options, command->option_count, a, out);
	ws_buf_puts(out, "\t\t;;\n");
}

void
ws_completion_bash(const struct ws_completions *all, struct ws_arena *a, struct ws_buf *out)
{
	ws_buf_puts(out, head);
	for (size_t i = 0; i < all->at.len; i++) {
		add_command(&all->at.at[i], a, out);
	}
	ws_buf_puts(out, "\tesac\n\toptions+='");
	add_list(all->common, all->common_count, out);
	ws_buf_puts(out, "-h --help'\n");
	add_values(all->common, all->common_count, a, out);
	ws_buf_puts(out, tail);
}
