/* nvcc_steps.c - a table of programs, and one of flags that name outputs. */
#include "compile/nvcc_steps.h"

#include "base/fs.h"

#include <ctype.h>

const char *const ws_nvcc_stage_words[WS_NVCC_STAGES] = {
	[WS_NVCC_PREPROCESS] = "preprocess",
	[WS_NVCC_CUDAFE] = "cudafe++",
	[WS_NVCC_CICC] = "cicc",
	[WS_NVCC_PTXAS] = "ptxas",
	[WS_NVCC_FATBINARY] = "fatbinary",
	[WS_NVCC_HOST] = "host",
};

/* Flags whose value is an output; the value is the next argument, or follows "=". */
static const struct {
	enum ws_nvcc_stage stage;
	const char *flag;
} writes[] = {
	{WS_NVCC_PREPROCESS, "-o"},
	{WS_NVCC_CUDAFE, "--gen_c_file_name"},
	{WS_NVCC_CICC, "-o"},
	{WS_NVCC_CICC, "--gen_c_file_name"},
	{WS_NVCC_CICC, "--stub_file_name"},
	{WS_NVCC_CICC, "--gen_device_file_name"},
	{WS_NVCC_PTXAS, "-o"},
	{WS_NVCC_FATBINARY, "--create"},
	{WS_NVCC_FATBINARY, "--embedded-fatbin"},
	{WS_NVCC_HOST, "-o"},
};

/* The output that argument @a i of a step names; NULL: none. */
static const char *
written_at(const struct ws_nvcc_step *step, size_t i)
{
	const char *word = step->words.at[i];
	bool module_id = step->stage <= WS_NVCC_CICC
		&& ws_is_among("--gen_module_id_file", step->words.at, step->words.len)
		&& ws_same(word, "--module_id_file_name");
	bool next = i + 1 < step->words.len;
	if (module_id && next) {
		return step->words.at[i + 1];
	}
	for (size_t k = 0; k < WS_LEN(writes); k++) {
		size_t len = strlen(writes[k].flag);
		if (writes[k].stage != step->stage || !ws_starts_with(word, writes[k].flag)) {
			continue;
		}
		if (!word[len] && next) {
			return step->words.at[i + 1];
		}
		if (word[len] == '=') {
			return word + len + 1;
		}
	}
	return NULL;
}

static bool
is_output(const struct ws_nvcc_step *step, const char *name)
{
	return ws_is_among(name, step->outputs.at, step->outputs.len);
}

/* The last step before @a count that writes @a name; @a count: none. */
static size_t
find_maker(const ws_nvcc_steps *steps, size_t count, const char *name)
{
	for (size_t i = count; i-- > 0;) {
		if (is_output(&steps->at[i], name)) {
			return i;
		}
	}
	return count;
}

static void
add_input(struct ws_nvcc_step *step, const char *name, size_t maker, struct ws_arena *a)
{
	for (size_t i = 0; i < step->inputs.len; i++) {
		if (ws_same(step->inputs.at[i].name, name)) {
			return;
		}
	}
	*ws_vec_push(&step->inputs, a) = (struct ws_nvcc_file){name, maker};
}

/* Each file of @a folder in the step's arguments must be its output or that of an earlier step. */
static bool
find_inputs(
	ws_nvcc_steps *steps, size_t index, const char *folder, struct ws_arena *a, const char **why)
{
	struct ws_nvcc_step *step = &steps->at[index];
	for (size_t i = 1; i < step->words.len; i++) {
		const char *equals = strrchr(step->words.at[i], '=');
		const char *name = equals ? equals + 1 : step->words.at[i];
		if (!strstr(step->words.at[i], folder) || is_output(step, name)) {
			continue;
		}
		size_t maker = find_maker(steps, index, name);
		if (maker == index || !ws_starts_with(name, folder)) {
			*why = ws_arena_printf(
				a, "%s names '%s'", ws_nvcc_stage_words[step->stage], step->words.at[i]);
			return false;
		}
		add_input(step, name, maker, a);
	}
	return true;
}

/* The output of cudafe++ includes the stub by its base name, and the stub the images: the host
 * compiler finds both beside it. */
static bool
find_included(
	ws_nvcc_steps *steps, size_t index, const char *folder, struct ws_arena *a, const char **why)
{
	static const char *const flags[] = {"--stub_file_name", "--include_file_name"};
	static const enum ws_nvcc_stage stages[] = {WS_NVCC_CUDAFE, WS_NVCC_CICC};
	struct ws_nvcc_step *host = &steps->at[index];
	for (size_t k = 0; k < WS_LEN(flags); k++) {
		const char *name = NULL;
		for (size_t i = 0; i < index && !name; i++) {
			const ws_name_list *words = &steps->at[i].words;
			for (size_t j = 1; j + 1 < words->len && steps->at[i].stage == stages[k]; j++) {
				name = ws_same(words->at[j], flags[k]) ? words->at[j + 1] : name;
			}
		}
		name = ws_arena_printf(a, "%s%s", folder, name ? name : "");
		size_t maker = find_maker(steps, index, name);
		if (maker == index) {
			*why = ws_arena_printf(a, "no command writes '%s'", name);
			return false;
		}
		add_input(host, name, maker, a);
	}
	return true;
}

/* Removes outputs that no other step uses. */
static void
drop_unused(ws_nvcc_steps *steps, const char *last)
{
	for (size_t i = 0; i < steps->len; i++) {
		struct ws_nvcc_step *step = &steps->at[i];
		size_t kept = 0;
		for (size_t j = 0; j < step->outputs.len; j++) {
			bool used = ws_same(step->outputs.at[j], last);
			for (size_t k = i + 1; k < steps->len && !used; k++) {
				for (size_t n = 0; n < steps->at[k].inputs.len && !used; n++) {
					const struct ws_nvcc_file *input = &steps->at[k].inputs.at[n];
					used = input->maker == i && ws_same(input->name, step->outputs.at[j]);
				}
			}
			if (used) {
				step->outputs.at[kept++] = step->outputs.at[j];
			}
		}
		step->outputs.len = kept;
	}
}

static bool
add_step(const ws_dryrun_words *words, struct ws_arena *a, ws_nvcc_steps *steps, const char **why)
{
	struct ws_nvcc_step *step = ws_vec_push(steps, a);
	const char *program = words->at[0];
	bool stops = ws_is_among("-E", words->at, words->len), known;
	if (ws_same(program, "{cxx}")) {
		step->stage = stops ? WS_NVCC_PREPROCESS : WS_NVCC_HOST;
		known = stops != ws_is_among("-c", words->at, words->len);
	} else {
		step->stage = WS_NVCC_CUDAFE;
		while (step->stage < WS_NVCC_HOST
			&& !ws_same(ws_path_base(program), ws_nvcc_stage_words[step->stage])) {
			step->stage++;
		}
		known = step->stage < WS_NVCC_HOST;
	}
	if (!known) {
		*why = ws_arena_printf(a, "'%s' is not a command for a .cu file", program);
		return false;
	}
	ws_name_list_add(&step->words, words->at, words->len, a);
	for (size_t i = 1; i < words->len; i++) {
		const char *name = written_at(step, i);
		if (name) {
			*ws_vec_push(&step->outputs, a) = name;
		}
	}
	return true;
}

bool
ws_nvcc_steps_read(const ws_dryrun_commands *commands, const char *folder, const char *last,
	struct ws_arena *a, ws_nvcc_steps *steps, const char **why)
{
	for (size_t i = 0; i < commands->len; i++) {
		if (!add_step(&commands->at[i], a, steps, why) || !find_inputs(steps, i, folder, a, why)) {
			return false;
		}
		if (steps->at[i].stage == WS_NVCC_HOST && !find_included(steps, i, folder, a, why)) {
			return false;
		}
	}
	size_t count = steps->len;
	if (count == 0 || !is_output(&steps->at[count - 1], last)) {
		*why = ws_arena_printf(a, "the last command does not write '%s'", last);
		return false;
	}
	drop_unused(steps, last);
	for (size_t i = 0; i + 1 < count; i++) {
		if (steps->at[i].outputs.len == 0) {
			*why = ws_arena_printf(
				a, "no command reads what %s writes", ws_nvcc_stage_words[steps->at[i].stage]);
			return false;
		}
	}
	return true;
}

const char *
ws_nvcc_without_arch(const char *word, struct ws_arena *a)
{
	static const char *const marks[] = {".compute_", ".sm_"};
	WS_AUTO_BUF struct ws_buf out = {0};
	while (*word) {
		size_t len = 0;
		for (size_t i = 0; i < WS_LEN(marks); i++) {
			size_t mark = strlen(marks[i]), end = mark;
			if (!ws_starts_with(word, marks[i]) || !isdigit((unsigned char)word[mark])) {
				continue;
			}
			while (isdigit((unsigned char)word[end])) {
				end++;
			}
			end += word[end] == 'a' || word[end] == 'f';
			len = word[end] == '.' ? end : 0;
			break;
		}
		if (len == 0) {
			ws_buf_putc(&out, *word);
		}
		word += len ? len : 1;
	}
	return ws_buf_copy(&out, a);
}
