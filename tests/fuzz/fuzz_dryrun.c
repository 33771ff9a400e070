/* fuzz_dryrun.c - any text as what a dry run of nvcc prints: every input of a step is an output of
 * the one that it names, which comes before. */
#include "compile/nvcc_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
check_step(const ws_nvcc_steps *steps, size_t index)
{
	for (size_t i = 0; i < steps->at[index].inputs.len; i++) {
		const struct ws_nvcc_file *file = &steps->at[index].inputs.at[i];
		const struct ws_nvcc_step *maker = &steps->at[file->maker];
		bool made = false;
		for (size_t j = 0; file->maker < index && j < maker->outputs.len; j++) {
			made = made || strcmp(maker->outputs.at[j], file->name) == 0;
		}
		if (!made) {
			abort();
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_dryrun_commands commands = {0};
	ws_nvcc_steps steps = {0};
	const char *why = NULL;
	if (ws_dryrun_read(ws_arena_copy(a, (const char *)bytes, len), a, &commands, &why)
		&& ws_nvcc_steps_read(&commands, "tmp/", "unit.o", a, &steps, &why)) {
		for (size_t i = 0; i < steps.len; i++) {
			check_step(&steps, i);
		}
	} else if (!why) {
		abort();
	}
	return 0;
}
