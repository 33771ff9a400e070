/* wheel_driver.c - packs a wheel from a folder, for cli/wheel_pack.bats:
 *
 *     wheel_driver SOURCES OUT EPOCH PYTHON [reverse]
 *
 * SOURCES holds demo/ (the Python part), demo_cuda.so, LICENSE and README.md; PYTHON is "3.11", or
 * "any" for a wheel without the module. "reverse" hands the files over in the other order. */
#include "base/fs.h"
#include "wheel/wheel.h"

struct found {
	WS_VEC(struct ws_wheel_file) files;
	struct ws_arena *a;
};

static bool
note_file(void *self, const struct ws_fs_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct found *found = self;
	if (S_ISREG(entry->status.st_mode)) {
		*ws_vec_push(&found->files, found->a) = (struct ws_wheel_file){
			.path = ws_path_join(found->a, "demo", entry->name, NULL),
			.file = ws_arena_strdup(found->a, entry->path),
			.executable = (entry->status.st_mode & 0100) != 0,
		};
	}
	return true;
}

static void
reverse(struct ws_wheel_file *files, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct ws_wheel_file file = files[i];
		files[i] = files[count - 1 - i];
		files[count - 1 - i] = file;
	}
}

static struct ws_wheel_tags
tags_of(const char *python, struct ws_arena *a)
{
	struct ws_python_tag tag;
	if (!ws_python_tag_parse(python, &tag)) {
		return (struct ws_wheel_tags){"py3", "none", "any"};
	}
	return (struct ws_wheel_tags){ws_python_tag_text(&tag, false, a),
		ws_python_tag_text(&tag, true, a), "manylinux_2_34_x86_64.manylinux_2_35_x86_64"};
}

static const char *
sbom_of(const char *version, struct ws_arena *a)
{
	static const char sum[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
	const struct ws_sbom_part wheel = {.name = "demo-kernels",
		.version = version,
		.purl = ws_arena_printf(a, "pkg:pypi/demo-kernels@%s", version)};
	const struct ws_sbom_part parts[] = {
		{.name = "torch", .version = "2.5.1", .purl = "pkg:pypi/torch@2.5.1", .sha256 = sum},
		{.name = "gcc", .version = "12.2.0", .application = true},
		{.name = "demo", .version = "0123456789abcdef", .url = "https://example.org/demo.git"},
		{.name = "cuda-nvcc", .url = "https://example.org/nvcc.tar.xz", .sha256 = sum},
	};
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_sbom_write(&wheel, parts, WS_LEN(parts), &text);
	return ws_buf_copy(&text, a);
}

static bool
run(char **argv, bool reversed, struct ws_arena *a, struct ws_err *err)
{
	static const char *const licenses[] = {"LICENSE"};
	static const char *const requires[] = {"torch", "packaging>=20 ; python_version >= '3.8'"};
	static const char *const extras[] = {"Test_All", "pytest"};
	static const char *const classifiers[] = {"Programming Language :: Python :: 3"};
	const struct ws_metadata metadata = {
		.summary = "Straße, a demonstration",
		.home_page = "https://example.org/demo",
		.author = "Jane Doe",
		.license_expression = "BSD-3-Clause",
		.license_files = licenses,
		.license_file_count = WS_LEN(licenses),
		.requires_python = ">=3.8",
		.requires = requires,
		.require_count = WS_LEN(requires),
		.classifiers = classifiers,
		.classifier_count = WS_LEN(classifiers),
		.extras = extras,
		.extra_count = WS_LEN(extras),
		.description_file = "README.md",
	};
	struct found found = {.a = a};
	if (!ws_fs_walk(ws_path_join(a, argv[1], "demo", NULL), note_file, &found, err)) {
		return false;
	}
	if (reversed) {
		reverse(found.files.at, found.files.len);
	}
	bool pure = strcmp(argv[4], "any") == 0;
	const struct ws_wheel_module module = {
		.module = "demo_cuda", .file = ws_path_join(a, argv[1], "demo_cuda.so", NULL)};
	const char *version = pure ? "1.0" : "1.0+cu.12.4.torch.2.5.sm.80.90ptx";
	const struct ws_wheel_spec spec = {
		.distribution = "Demo.Kernels",
		.version = version,
		.tags = tags_of(argv[4], a),
		.torch = pure ? NULL : "torch==2.5.*",
		.metadata = &metadata,
		.source_dir = argv[1],
		.files = found.files.at,
		.file_count = found.files.len,
		.modules = &module,
		.module_count = pure ? 0 : 1,
		.facts_json = "{\"schema\": \"wheelsmith.wheel/1\"}\n",
		.sbom_json = sbom_of(version, a),
		.epoch = strtoll(argv[3], NULL, 10),
	};
	const char *name = ws_wheel_file_name(&spec, a);
	printf("%s\n", name);
	return ws_wheel_write(&spec, ws_path_join(a, argv[2], name, NULL), err);
}

int
main(int argc, char **argv)
{
	if (argc < 5) {
		fputs("usage: wheel_driver SOURCES OUT EPOCH PYTHON [reverse]\n", stderr);
		return 2;
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_err err;
	if (!run(argv, argc > 5, a, &err)) {
		char text[WS_ERR_PRINTED];
		fputs(ws_err_print(&err, text), stderr);
		return ws_err_exit_code(err.kind);
	}
	return 0;
}
