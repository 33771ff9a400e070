/* test_model_wheel_label.c - labels as upstreams write them. */
#include "test.h"

#include "model/wheel_name.h"

struct row {
	const char *label; /* as in a file name */
	const char *torch, *cuda;
	int cxx11abi;
	const char *archs; /* "" none */
	bool cpu;
};

WS_TEST(labels_of_upstreams)
{
	static const struct row rows[] = {
		/* flash-attn 2.6.1, 2.8.3, causal-conv1d */
		{"cu123torch2.4cxx11abiFALSE", "2.4", "12.3", 0, "", false},
		{"cu12torch2.10cxx11abiTRUE", "2.10", "12", 1, "", false},
		{"cu118torch2.0cxx11abiFALSE", "2.0", "11.8", 0, "", false},
		{"cu12torch25.01cxx11abiTRUE", "25.01", "12", 1, "", false},
		/* flash-attention-prebuild-wheels */
		{"cu124torch2.5", "2.5", "12.4", -1, "", false},
		{"cu130torch2.10", "2.10", "13.0", -1, "", false},
		/* dotted; ours */
		{"cu.12.8.torch.2.11", "2.11", "12.8", -1, "", false},
		{"cu.12.4.torch.2.5.sm.80.90ptx", "2.5", "12.4", -1, "8.0;9.0+PTX", false},
		{"cu.12.4.torch.2.5.sm.90a.cxx11abi.1.tcu.12.1", "2.5", "12.4", 1, "9.0a", false},
		{"cu.12.sm.86", NULL, "12", -1, "8.6", false},
		/* torch's own, torch-scatter's, others */
		{"cu124", NULL, "12.4", -1, "", false},
		{"cpu", NULL, NULL, -1, "", true},
		{"pt24cu121", "2.4", "12.1", -1, "", false},
		{"pt210cu128", "2.10", "12.8", -1, "", false},
		{"pt21cu118", "2.1", "11.8", -1, "", false},
		{"cu124torch251", "2.5", "12.4", -1, "", false},
		{"cu130torch2110cxx11abitrue.0a1b2c.sm80sm89sm90sm100", "2.11", "13.0", 1,
			"8.0;8.9;9.0;10.0", false},
		{"sm.99999999999", NULL, NULL, -1, "", false},
		{"torch2.9.cu124", "2.9", "12.4", -1, "", false},
		{"d1234", NULL, NULL, -1, "", false},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		const char *file = ws_arena_printf(a, "demo-1.0+%s-py3-none-any.whl", rows[i].label);
		struct ws_wheel_name name;
		const char *why;
		assert_true(ws_wheel_name_parse(file, a, &name, &why));
		struct ws_wheel_label label = ws_wheel_label_read(name.version.local, a);
		if (!ws_same(label.torch, rows[i].torch) || !ws_same(label.cuda, rows[i].cuda)) {
			fail_msg("%s: torch %s, cuda %s", rows[i].label, label.torch, label.cuda);
		}
		assert_int_equal(label.cxx11abi, rows[i].cxx11abi);
		assert_string_equal(ws_arch_set_text(&label.archs, a), rows[i].archs);
		assert_int_equal(label.cpu, rows[i].cpu);
	}
}

WS_TEST(no_label_says_nothing)
{
	struct ws_wheel_label label = ws_wheel_label_read(NULL, a);
	assert_null(label.torch);
	assert_null(label.cuda);
	assert_int_equal(label.cxx11abi, -1);
	assert_false(label.cpu);
}

WS_TEST(cuda_as_names_write_it)
{
	static const char *const pairs[][2] = {{"118", "11.8"}, {"12", "12"}, {"12.4", "12.4"},
		{"130", "13.0"}, {"1210", "121.0"}, {"", NULL}, {"x", NULL}, {"12.", NULL}, {"12x", NULL},
		{"12345", NULL}};
	for (size_t i = 0; i < WS_LEN(pairs); i++) {
		const char *cuda = ws_wheel_label_cuda(pairs[i][0], a);
		assert_true(ws_same(cuda, pairs[i][1]));
	}
}

WS_TEST(a_label_tells_torchs_own_build)
{
	struct ws_wheel_label label =
		ws_wheel_label_read("cu.12.4.torch.2.5.sm.90a.cxx11abi.1.tcu.12.1", a);
	assert_string_equal(label.torch_cuda, "12.1");
	assert_string_equal(label.cuda, "12.4");
	assert_null(ws_wheel_label_read("cu.12.4.torch.2.5", a).torch_cuda);
}
