/* test_compile_nvcc_steps.c - dry runs as 11.8, 12.4 and 13.5 print them, shortened to what names
 * files. */
#include "test.h"

#include "compile/split.h"

/* Two archs and PTX. cicc of the last arch makes the module's id, and comes before the other. */
static const char cuda_11_8[] =
	"#$ \"{cxx}\" -D__CUDA_ARCH__=900 -E -x c++ \"src/x.cu\" -o \"tmp/x.compute_90.cpp1.ii\"\n"
	"#$ cicc --orig_src_file_name \"src/x.cu\" -arch compute_90 --include_file_name \"x.fatbin.c\" "
	"--gen_module_id_file --module_id_file_name \"tmp/x.module_id\" --gen_c_file_name "
	"\"tmp/x.compute_90.cudafe1.c\" --stub_file_name \"tmp/x.compute_90.cudafe1.stub.c\" "
	"--gen_device_file_name \"tmp/x.compute_90.cudafe1.gpu\" \"tmp/x.compute_90.cpp1.ii\" -o "
	"\"tmp/x.compute_90.ptx\"\n"
	"#$ \"{cxx}\" -D__CUDA_ARCH__=800 -E -x c++ \"src/x.cu\" -o \"tmp/x.compute_80.cpp1.ii\"\n"
	"#$ cicc -arch compute_80 --include_file_name \"x.fatbin.c\" --module_id_file_name "
	"\"tmp/x.module_id\" --gen_c_file_name \"tmp/x.compute_80.cudafe1.c\" --stub_file_name "
	"\"tmp/x.compute_80.cudafe1.stub.c\" \"tmp/x.compute_80.cpp1.ii\" -o \"tmp/x.compute_80.ptx\"\n"
	"#$ ptxas -arch=sm_80 \"tmp/x.compute_80.ptx\" -o \"tmp/x.compute_80.cubin\"\n"
	"#$ ptxas -arch=sm_90 \"tmp/x.compute_90.ptx\" -o \"tmp/x.compute_90.sm_90.cubin\"\n"
	"#$ fatbinary --create=\"tmp/x.fatbin\" -64 "
	"\"--image3=kind=elf,sm=80,file=tmp/x.compute_80.cubin\" "
	"\"--image3=kind=ptx,sm=90,file=tmp/x.compute_90.ptx\" "
	"\"--image3=kind=elf,sm=90,file=tmp/x.compute_90.sm_90.cubin\" "
	"--embedded-fatbin=\"tmp/x.fatbin.c\"\n"
	"#$ \"{cxx}\" -E -x c++ \"src/x.cu\" -o \"tmp/x.cpp4.ii\"\n"
	"#$ cudafe++ --gen_c_file_name \"tmp/x.compute_90.cudafe1.cpp\" --stub_file_name "
	"\"x.compute_90.cudafe1.stub.c\" --module_id_file_name \"tmp/x.module_id\" \"tmp/x.cpp4.ii\"\n"
	"#$ \"{cxx}\" -c -x c++ \"tmp/x.compute_90.cudafe1.cpp\" -o \"unit.o\"\n";

/* One arch: no name has it. cudafe++ makes the module's id. */
static const char cuda_13_5[] =
	"#$ \"{cxx}\" -D__CUDA_ARCH__=800 -E \"src/x.cu\" -o \"tmp/x.cpp1.ii\"\n"
	"#$ \"{cxx}\" -E \"src/x.cu\" -o \"tmp/x.cpp4.ii\"\n"
	"#$ cudafe++ --gen_c_file_name \"tmp/x.cudafe1.cpp\" --stub_file_name \"x.cudafe1.stub.c\" "
	"--gen_module_id_file --module_id_file_name \"tmp/x.module_id\" --simt-only \"tmp/x.cpp4.ii\"\n"
	"#$ \"$CICC_PATH/cicc\" -arch compute_80 --include_file_name \"x.fatbin.c\" "
	"--module_id_file_name \"tmp/x.module_id\" --gen_c_file_name \"tmp/x.cudafe1.c\" "
	"--stub_file_name \"tmp/x.cudafe1.stub.c\" --gen_device_file_name \"tmp/x.cudafe1.gpu\" "
	"\"tmp/x.cpp1.ii\" -o \"tmp/x.ptx\"\n"
	"#$ ptxas -arch=sm_80 \"tmp/x.ptx\" -o \"tmp/x.sm_80.cubin\"\n"
	"#$ fatbinary \"--image3=kind=elf,sm=80,file=tmp/x.sm_80.cubin\" "
	"--embedded-fatbin=\"tmp/x.fatbin.c\"\n"
	"#$ \"{cxx}\" -c -x c++ \"tmp/x.cudafe1.cpp\" -o \"unit.o\"\n";

/* "cicc: x.ii -> x.ptx". */
static const char *
described(const ws_nvcc_steps *steps, size_t index, struct ws_arena *a)
{
	const struct ws_nvcc_step *step = &steps->at[index];
	const char *text = ws_arena_printf(a, "%s:", ws_nvcc_stage_words[step->stage]);
	for (size_t i = 0; i < step->inputs.len; i++) {
		text = ws_arena_printf(
			a, "%s %s@%zu", text, step->inputs.at[i].name, step->inputs.at[i].maker);
	}
	text = ws_arena_printf(a, "%s ->", text);
	for (size_t i = 0; i < step->outputs.len; i++) {
		text = ws_arena_printf(a, "%s %s", text, step->outputs.at[i]);
	}
	return text;
}

static bool
read_steps(const char *printed, struct ws_arena *a, ws_nvcc_steps *steps, const char **why)
{
	ws_dryrun_commands commands = {0};
	return ws_dryrun_read(printed, a, &commands, why)
		&& ws_nvcc_steps_read(&commands, "tmp/", "unit.o", a, steps, why);
}

static void
assert_steps(const char *printed, const char *const *wanted, struct ws_arena *a)
{
	ws_nvcc_steps steps = {0};
	const char *why = NULL;
	if (!read_steps(printed, a, &steps, &why)) {
		fail_msg("%s", why);
	}
	size_t count = 0;
	for (; wanted[count]; count++) {
		assert_true(count < steps.len);
		assert_string_equal(described(&steps, count, a), wanted[count]);
	}
	assert_int_equal(count, steps.len);
}

WS_TEST(two_archs_of_11_8)
{
	static const char *const wanted[] = {
		"preprocess: -> tmp/x.compute_90.cpp1.ii",
		"cicc: tmp/x.compute_90.cpp1.ii@0 -> tmp/x.module_id tmp/x.compute_90.cudafe1.stub.c "
		"tmp/x.compute_90.ptx",
		"preprocess: -> tmp/x.compute_80.cpp1.ii",
		"cicc: tmp/x.module_id@1 tmp/x.compute_80.cpp1.ii@2 -> tmp/x.compute_80.ptx",
		"ptxas: tmp/x.compute_80.ptx@3 -> tmp/x.compute_80.cubin",
		"ptxas: tmp/x.compute_90.ptx@1 -> tmp/x.compute_90.sm_90.cubin",
		"fatbinary: tmp/x.compute_80.cubin@4 tmp/x.compute_90.ptx@1 "
		"tmp/x.compute_90.sm_90.cubin@5 -> tmp/x.fatbin.c",
		"preprocess: -> tmp/x.cpp4.ii",
		"cudafe++: tmp/x.module_id@1 tmp/x.cpp4.ii@7 -> tmp/x.compute_90.cudafe1.cpp",
		"host: tmp/x.compute_90.cudafe1.cpp@8 tmp/x.compute_90.cudafe1.stub.c@1 "
		"tmp/x.fatbin.c@6 -> unit.o",
		NULL,
	};
	assert_steps(cuda_11_8, wanted, a);
}

WS_TEST(one_arch_of_13_5)
{
	static const char *const wanted[] = {
		"preprocess: -> tmp/x.cpp1.ii",
		"preprocess: -> tmp/x.cpp4.ii",
		"cudafe++: tmp/x.cpp4.ii@1 -> tmp/x.cudafe1.cpp tmp/x.module_id",
		"cicc: tmp/x.module_id@2 tmp/x.cpp1.ii@0 -> tmp/x.cudafe1.stub.c tmp/x.ptx",
		"ptxas: tmp/x.ptx@3 -> tmp/x.sm_80.cubin",
		"fatbinary: tmp/x.sm_80.cubin@4 -> tmp/x.fatbin.c",
		"host: tmp/x.cudafe1.cpp@2 tmp/x.cudafe1.stub.c@3 tmp/x.fatbin.c@5 -> unit.o",
		NULL,
	};
	assert_steps(cuda_13_5, wanted, a);
}

WS_TEST(a_dry_run_that_is_not_fully_understood_is_refused)
{
	static const struct {
		const char *printed, *why;
	} cases[] = {
		{"#$ nvlink \"tmp/x.o\"\n", "'nvlink' is not a command for a .cu file"},
		{"#$ \"{cxx}\" \"tmp/x.ii\" -o \"unit.o\"\n", "'{cxx}' is not a command for a .cu file"},
		{"#$ ptxas \"tmp/x.ptx\" -o \"tmp/x.cubin\"\n", "ptxas names 'tmp/x.ptx'"},
		{"#$ ptxas -o \"tmp/x.cubin\" --new-flag \"tmp/x.report\"\n", "ptxas names 'tmp/x.report'"},
		{"#$ ptxas -o\n", "the last command does not write 'unit.o'"},
		{"#$ \"{cxx}\" -E x.cu -o \"tmp/x.ii\"\n", "the last command does not write 'unit.o'"},
		{"#$ \"{cxx}\" -E x.cu -o \"tmp/x.ii\"\n#$ \"{cxx}\" -c x.cpp -o \"unit.o\"\n",
			"no command writes 'tmp/'"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		ws_nvcc_steps steps = {0};
		const char *why = NULL;
		assert_false(read_steps(cases[i].printed, a, &steps, &why));
		assert_string_equal(why, cases[i].why);
	}
}

WS_TEST(names_lose_their_arch)
{
	static const struct {
		const char *word, *without;
	} cases[] = {
		{"tmp/x.compute_80.ptx", "tmp/x.ptx"},
		{"tmp/x.compute_100f.sm_103a.cubin", "tmp/x.cubin"},
		{"x.compute_90a.cudafe1.stub.c", "x.cudafe1.stub.c"},
		{"tmp/x.sm_75.cubin", "tmp/x.cubin"},
		{"tmp/x.compute_80", "tmp/x.compute_80"},
		{"tmp/x.compute_a.ptx", "tmp/x.compute_a.ptx"},
		{"-arch=sm_80", "-arch=sm_80"},
		{"", ""},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		assert_string_equal(ws_nvcc_without_arch(cases[i].word, a), cases[i].without);
	}
}
