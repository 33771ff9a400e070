/* test_publish_path_wheels.c - which wheels answer in which path. */
#include "test.h"

#include "publish/catalog.h"

/* A wheel: what it is, when it was published, its file name; its place is the label. */
struct wheel {
	enum ws_index_kind kind;
	int day;
	const char *file;
};

static struct ws_index_catalog
catalog_of(const struct wheel *wheels, size_t count, struct ws_arena *a)
{
	struct ws_index_catalog catalog = {0};
	for (size_t i = 0; i < count; i++) {
		struct ws_index_entry *entry = ws_vec_push(&catalog.entries, a);
		const char *why, **labels = WS_NEW(a, const char *);
		entry->file = wheels[i].file;
		entry->kind = wheels[i].kind;
		entry->uploaded = ws_arena_printf(a, "2026-11-%02dT00:00:00.000000Z", wheels[i].day);
		assert_true(ws_index_entry_complete(entry, a, &why));
		if (entry->kind != WS_INDEX_NONE) {
			labels[0] = entry->name.version.local;
			entry->labels = labels;
			entry->place_count = 1;
		}
		assert_true(ws_index_entry_complete(entry, a, &why));
	}
	ws_index_catalog_sort(&catalog);
	return catalog;
}

/* "PATH: LABEL-PYTHON ...", a line for each path. */
static const char *
answers(const struct wheel *wheels, size_t count, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_index_catalog catalog = catalog_of(wheels, count, a);
	size_t path_count;
	const struct ws_index_path *paths = ws_index_paths(&catalog, a, &path_count);
	for (size_t i = 0; i < path_count; i++) {
		ws_buf_printf(&text, "%s:", paths[i].path);
		for (size_t j = 0; j < paths[i].count; j++) {
			const struct ws_wheel_name *name = &paths[i].entries[j]->name;
			ws_buf_printf(
				&text, " %s-%s-%s", name->distribution, name->version.text, name->pythons[0]);
		}
		ws_buf_putc(&text, '\n');
	}
	return ws_buf_copy(&text, a);
}

#define B WS_INDEX_BOUND
#define S WS_INDEX_STABLE
#define C WS_INDEX_C_ABI
#define N WS_INDEX_NONE

WS_TEST(bound_wheels_answer_where_their_label_says)
{
	static const struct wheel wheels[] = {
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.86-cp312-cp312-linux_x86_64.whl"},
		{B, 1, "d-1+cu.12.4.torch.2.10.sm.86-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.86.cxx11abi.1-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.86.tcu.12.1-cp311-cp311-linux_x86_64.whl"},
		{WS_INDEX_UNPLACED, 1, "x-1+cu12torch2.5-cp311-cp311-linux_x86_64.whl"},
	};
	assert_string_equal(answers(wheels, WS_LEN(wheels), a),
		"cu124-torch2.10: d-1+cu.12.4.torch.2.10.sm.86-cp311\n"
		"cu124-torch2.10-sm86: d-1+cu.12.4.torch.2.10.sm.86-cp311\n"
		"cu124-torch2.5: d-1+cu.12.4.torch.2.5.sm.86-cp311 d-1+cu.12.4.torch.2.5.sm.86-cp312\n"
		"cu124-torch2.5-abi1: d-1+cu.12.4.torch.2.5.sm.86.cxx11abi.1-cp311\n"
		"cu124-torch2.5-abi1-sm86: d-1+cu.12.4.torch.2.5.sm.86.cxx11abi.1-cp311\n"
		"cu124-torch2.5-sm86: d-1+cu.12.4.torch.2.5.sm.86-cp311"
		" d-1+cu.12.4.torch.2.5.sm.86-cp312\n"
		"cu124-torch2.5-tcu121: d-1+cu.12.4.torch.2.5.sm.86.tcu.12.1-cp311\n"
		"cu124-torch2.5-tcu121-sm86: d-1+cu.12.4.torch.2.5.sm.86.tcu.12.1-cp311\n");
}

WS_TEST(a_wheel_that_depends_on_more_goes_before_one_that_depends_on_less)
{
	static const struct wheel wheels[] = {
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl"},
		{S, 1, "d-1+cu.12.4.torch.2.6.sm.86-py3-none-linux_x86_64.whl"},
		{C, 1, "d-1+cu.12.sm.86-py3-none-linux_x86_64.whl"},
		{N, 1, "d-1-py3-none-any.whl"},
		{N, 1, "d-2-py3-none-any.whl"},
		{B, 1, "e-1+cu.13.0.torch.2.11.sm.90-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "e-1+cu.14.0.torch.2.15.sm.90-cp311-cp311-linux_x86_64.whl"},
	};
	assert_string_equal(answers(wheels, WS_LEN(wheels), a),
		"cu12: d-1+cu.12.sm.86-py3 d-2-py3\n"
		"cu12-sm86: d-1+cu.12.sm.86-py3 d-2-py3\n"
		"cu124-torch2.5: d-1+cu.12.4.torch.2.5.sm.86-cp311 d-2-py3\n"
		"cu124-torch2.5-sm86: d-1+cu.12.4.torch.2.5.sm.86-cp311 d-2-py3\n"
		"cu124-torch2.6: d-1+cu.12.4.torch.2.6.sm.86-py3 d-2-py3\n"
		"cu124-torch2.6-sm86: d-1+cu.12.4.torch.2.6.sm.86-py3 d-2-py3\n"
		"cu130-torch2.11: d-1+cu.12.sm.86-py3 d-2-py3 e-1+cu.13.0.torch.2.11.sm.90-cp311\n"
		"cu130-torch2.11-sm86: d-1+cu.12.sm.86-py3 d-2-py3\n"
		"cu130-torch2.11-sm90: d-1-py3 d-2-py3 e-1+cu.13.0.torch.2.11.sm.90-cp311\n"
		"cu140-torch2.15: d-1-py3 d-2-py3 e-1+cu.14.0.torch.2.15.sm.90-cp311\n"
		"cu140-torch2.15-sm90: d-1-py3 d-2-py3 e-1+cu.14.0.torch.2.15.sm.90-cp311\n");
}

WS_TEST(of_the_stable_abi_the_newest_torch_that_is_not_too_new)
{
	static const struct wheel wheels[] = {
		{S, 1, "s-1+cu.12.4.torch.2.9.sm.86-cp310-abi3-linux_x86_64.whl"},
		{S, 1, "s-1+cu.12.4.torch.2.10.sm.86-cp310-abi3-linux_x86_64.whl"},
		{S, 1, "s-1+cu.12.8.torch.2.10.sm.86-cp310-abi3-linux_x86_64.whl"},
		{B, 1, "d-1+cu.12.4.torch.2.11.sm.86-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "d-1+cu.12.8.torch.2.8.sm.86-cp311-cp311-linux_x86_64.whl"},
	};
	assert_string_equal(answers(wheels, WS_LEN(wheels), a),
		"cu124-torch2.10: s-1+cu.12.4.torch.2.10.sm.86-cp310\n"
		"cu124-torch2.10-sm86: s-1+cu.12.4.torch.2.10.sm.86-cp310\n"
		"cu124-torch2.11: d-1+cu.12.4.torch.2.11.sm.86-cp311"
		" s-1+cu.12.4.torch.2.10.sm.86-cp310\n"
		"cu124-torch2.11-sm86: d-1+cu.12.4.torch.2.11.sm.86-cp311"
		" s-1+cu.12.4.torch.2.10.sm.86-cp310\n"
		"cu124-torch2.9: s-1+cu.12.4.torch.2.9.sm.86-cp310\n"
		"cu124-torch2.9-sm86: s-1+cu.12.4.torch.2.9.sm.86-cp310\n"
		"cu128-torch2.10: s-1+cu.12.8.torch.2.10.sm.86-cp310\n"
		"cu128-torch2.10-sm86: s-1+cu.12.8.torch.2.10.sm.86-cp310\n"
		"cu128-torch2.8: d-1+cu.12.8.torch.2.8.sm.86-cp311\n"
		"cu128-torch2.8-sm86: d-1+cu.12.8.torch.2.8.sm.86-cp311\n");
}

/* Published at once, no set has the plain path; a package whose one wheel runs everywhere is in
 * each, and none is where it does not run. */
WS_TEST(sets_of_architectures_part_a_path)
{
	static const struct wheel wheels[] = {
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.90-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.90-cp312-cp312-linux_x86_64.whl"},
		{B, 1, "e-1+cu.12.4.torch.2.5.sm.80.90-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "f-1+cu.12.4.torch.2.5.sm.80-cp311-cp311-linux_x86_64.whl"},
	};
	assert_string_equal(answers(wheels, WS_LEN(wheels), a),
		"cu124-torch2.5: d-1+cu.12.4.torch.2.5.sm.90-cp312"
		" e-1+cu.12.4.torch.2.5.sm.80.90-cp311 f-1+cu.12.4.torch.2.5.sm.80-cp311\n"
		"cu124-torch2.5-sm80: e-1+cu.12.4.torch.2.5.sm.80.90-cp311"
		" f-1+cu.12.4.torch.2.5.sm.80-cp311\n"
		"cu124-torch2.5-sm86: d-1+cu.12.4.torch.2.5.sm.86-cp311"
		" e-1+cu.12.4.torch.2.5.sm.80.90-cp311 f-1+cu.12.4.torch.2.5.sm.80-cp311\n"
		"cu124-torch2.5-sm90: d-1+cu.12.4.torch.2.5.sm.90-cp311"
		" d-1+cu.12.4.torch.2.5.sm.90-cp312 e-1+cu.12.4.torch.2.5.sm.80.90-cp311\n");
}

WS_TEST(the_first_wheel_keeps_the_plain_path)
{
	static const struct wheel wheels[] = {
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.90-cp311-cp311-linux_x86_64.whl"},
		{B, 2, "d-1+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl"},
		{B, 3, "d-1+cu.12.4.torch.2.5.sm.86.dbg.line-cp311-cp311-linux_x86_64.whl"},
	};
	assert_string_equal(answers(wheels, WS_LEN(wheels), a),
		"cu124-torch2.5: d-1+cu.12.4.torch.2.5.sm.90-cp311\n"
		"cu124-torch2.5-sm86: d-1+cu.12.4.torch.2.5.sm.86-cp311\n"
		"cu124-torch2.5-sm90: d-1+cu.12.4.torch.2.5.sm.90-cp311\n");
}

/* Among architectures: a wheel with code for this one only, then with code for it, then one that
 * runs on it. */
WS_TEST(in_the_path_of_an_architecture_the_best_code_for_it_answers)
{
	static const struct wheel wheels[] = {
		{B, 1, "d-1+cu.12.4.torch.2.5.sm.80-cp311-cp311-linux_x86_64.whl"},
		{B, 2, "d-1+cu.12.4.torch.2.5.sm.80.86.90-cp311-cp311-linux_x86_64.whl"},
		{B, 3, "d-1+cu.12.4.torch.2.5.sm.90a-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "f-1+cu.12.4.torch.2.5.sm.80ptx-cp311-cp311-linux_x86_64.whl"},
		{B, 1, "g-1+cu.12.4.torch.2.5.sm.90a-cp311-cp311-linux_x86_64.whl"},
	};
	const char *all = answers(wheels, WS_LEN(wheels), a);
	static const char *const lines[] = {
		"cu124-torch2.5-sm80: d-1+cu.12.4.torch.2.5.sm.80-cp311 "
		"f-1+cu.12.4.torch.2.5.sm.80ptx-cp311\n",
		"cu124-torch2.5-sm86: d-1+cu.12.4.torch.2.5.sm.80.86.90-cp311"
		" f-1+cu.12.4.torch.2.5.sm.80ptx-cp311\n",
		"cu124-torch2.5-sm90: d-1+cu.12.4.torch.2.5.sm.90a-cp311"
		" f-1+cu.12.4.torch.2.5.sm.80ptx-cp311 g-1+cu.12.4.torch.2.5.sm.90a-cp311\n",
	};
	for (size_t i = 0; i < WS_LEN(lines); i++) {
		assert_non_null(strstr(all, lines[i]));
	}
}

/* Random indexes: at most one answer, and only wheels that fit the path. */
WS_TEST(every_path_has_at_most_one_answer)
{
	static const char *const labels[] = {"cu.12.4.torch.2.5.sm.86", "cu.12.4.torch.2.5.sm.90",
		"cu.12.4.torch.2.6.sm.86", "cu.12.sm.86", "cu.11.sm.80", "cu.12.8.torch.2.5.sm.86.90ptx",
		"cu.12.4.torch.2.5.sm.86.zip.size"};
	static const char *const tags[] = {"cp311-cp311-linux_x86_64", "cp312-cp312-linux_x86_64",
		"py3-none-linux_x86_64", "cp310-abi3-manylinux_2_28_x86_64"};
	unsigned seed = 1;
	for (unsigned round = 0; round < 300; round++) {
		struct wheel wheels[12];
		for (size_t i = 0; i < WS_LEN(wheels); i++) {
			size_t label = (size_t)rand_r(&seed) % WS_LEN(labels);
			enum ws_index_kind kind =
				strstr(labels[label], "torch") ? (rand_r(&seed) % 2 ? B : S) : C;
			wheels[i] = (struct wheel){kind, 1 + rand_r(&seed) % 3,
				ws_arena_printf(
					a, "d-1+%s-%s.whl", labels[label], tags[(size_t)rand_r(&seed) % 4])};
		}
		struct ws_index_catalog catalog = catalog_of(wheels, WS_LEN(wheels), a);
		size_t count;
		const struct ws_index_path *paths = ws_index_paths(&catalog, a, &count);
		assert_true(count > 0);
		for (size_t i = 0; i < count; i++) {
			uint64_t answered = 0;
			const char *arch = strstr(paths[i].path, "-sm");
			for (size_t j = 0; j < paths[i].count; j++) {
				const char *file = paths[i].entries[j]->file;
				/* Code for sm_86, without PTX, in the path of sm_90: what an installer must not
				 * get. */
				assert_false(arch && strcmp(arch, "-sm90") == 0 && strstr(file, ".sm.86-"));
				assert_false(arch && strcmp(arch, "-sm86") == 0 && strstr(file, ".sm.90-"));
				assert_true((answered & paths[i].entries[j]->pythons) == 0);
				answered |= paths[i].entries[j]->pythons;
			}
		}
	}
}
