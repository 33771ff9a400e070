/* elf_probe.c - reads facts of real libraries for tests.
 *
 *     elf_probe take WHEEL MEMBER TO                 one file of a torch wheel on the index, by
 *                                                    range
 *     elf_probe abi FILE                             "c10 0", "module 1", "internals ..."
 *     elf_probe judge LIST PYTHON MODULE SIBLING...  findings, as verify prints them, and the
 *                                                    floor; libraries of this process are the
 *                                                    host's
 */
#include "archive/zip.h"
#include "base/fs.h"
#include "judge/verdict.h"
#include "net/index_config.h"
#include "net/range_source.h"

#include <link.h>

#define MEMBER_MOST ((size_t)64 << 20)

extern char **environ;

static bool
take(struct ws_http *http, const struct ws_index_list *list, char **argv, struct ws_arena *a,
	struct ws_err *err)
{
	struct ws_index *index = ws_index_open(http, a);
	const struct ws_index_file *file = ws_index_find(index, list, "torch", argv[2], NULL, err);
	struct ws_range_source remote;
	if (!file
		|| ws_range_source_open(http, file->url, 2 << 20, a, &remote, err) != WS_RANGES_OPEN) {
		return false;
	}
	WS_AUTO_BUF struct ws_buf bytes = {0};
	struct ws_zip_limits limits = {.tail_bytes = 2 << 20};
	struct ws_zip zip;
	bool done = ws_zip_open(&remote.source, &limits, a, &zip, err);
	const struct ws_zip_entry *entry = done ? ws_zip_find(&zip, argv[3]) : NULL;
	if (done && !entry) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' has no '%s'", argv[2], argv[3]);
	}
	done = entry && ws_zip_load(&zip, entry, MEMBER_MOST, &bytes, err)
		&& ws_fs_write(argv[4], bytes.data, bytes.len, 0644, err);
	printf("wire: %llu of %llu\n", (unsigned long long)remote.wire_bytes,
		(unsigned long long)remote.source.size);
	ws_range_source_close(&remote);
	return done;
}

static bool
take_here(char **argv, struct ws_arena *a, struct ws_err *err)
{
	struct ws_index_sources sources = {.env = {(const char *const *)environ, "", NULL}};
	struct ws_index_config config;
	if (!ws_index_config_read(&sources, a, &config, err)) {
		return false;
	}
	struct ws_http_config session = {.ca_path = config.ca_path, .netrc_path = config.netrc_path};
	struct ws_index_list list = ws_index_config_list(&config, NULL, a);
	struct ws_http *http = ws_http_open(&session, err);
	bool done = http && take(http, &list, argv, a, err);
	ws_http_close(http);
	return done;
}

static bool
print_abi(const char *path, struct ws_arena *a, struct ws_err *err)
{
	static const char *const words[] = {"silent", "0", "1", "mixed"};
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(path, a, err);
	if (!elf) {
		return false;
	}
	enum ws_cxx11abi abi = WS_CXX11ABI_SILENT;
	ws_cxx11abi_of_c10(elf, &abi, NULL);
	const char *internals = ws_pybind11_internals(elf, a);
	printf("c10 %s\nmodule %s\ninternals %s\n", words[abi], words[ws_cxx11abi_of_module(elf)],
		internals ? internals : "none");
	return true;
}

struct host {
	struct ws_arena *a;
	const struct ws_elf *libraries[64];
	size_t count;
};

static int
add_library(struct dl_phdr_info *info, size_t size WS_UNUSED, void *host)
{
	struct host *h = host;
	const struct ws_elf *elf = strchr(info->dlpi_name, '/') && h->count < WS_LEN(h->libraries)
		? ws_elf_open(info->dlpi_name, h->a, NULL)
		: NULL;
	if (elf) {
		h->libraries[h->count++] = elf;
	}
	return 0;
}

static void
print_finding(const struct ws_finding *finding)
{
	printf("%s %s\n", ws_finding_words[finding->verdict], finding->text);
	for (size_t i = 0; i < finding->evidence_count; i++) {
		printf("  %s\n", finding->evidence[i]);
	}
}

static bool
judge(int argc, char **argv, struct ws_arena *a, struct ws_err *err)
{
	struct host host = {.a = a};
	dl_iterate_phdr(add_library, &host);
	const char *list = argv[2];
	struct ws_load_place place = {.lists = &list,
		.list_count = 1,
		.python = argv[3],
		.libraries = host.libraries,
		.library_count = host.count};
	struct ws_subject_module *modules = WS_NEW_N(a, struct ws_subject_module, (size_t)argc);
	struct ws_subject subject = {.modules = modules};
	for (int i = 4; i < argc; i++) {
		const char *base = ws_path_base(argv[i]);
		modules[subject.count] = (struct ws_subject_module){
			.name = ws_arena_copy(a, base, strcspn(base, ".")),
			.elf = ws_elf_open(argv[i], a, err),
			.required = i == 4,
		};
		if (!modules[subject.count++].elf) {
			return false;
		}
	}
	struct ws_verdict verdict;
	if (!ws_judge(&subject, &place, a, &verdict, err)) {
		return false;
	}
	for (size_t i = 0; i < verdict.modules[0].finding_count; i++) {
		print_finding(&verdict.modules[0].findings[i]);
	}
	struct ws_floor floor = {0};
	ws_floor_add(&floor, modules[0].elf, NULL, 0, a);
	struct ws_finding finding = ws_floor_finding(&floor, a);
	print_finding(&finding);
	printf("archs %s\n", ws_arch_set_text(&verdict.modules[0].gpu.archs, a));
	return true;
}

int
main(int argc, char **argv)
{
	struct ws_arena *a = ws_arena_make();
	struct ws_err err = {0};
	bool done = false;
	if (argc == 5 && strcmp(argv[1], "take") == 0) {
		done = take_here(argv, a, &err);
	} else if (argc == 3 && strcmp(argv[1], "abi") == 0) {
		done = print_abi(argv[2], a, &err);
	} else if (argc >= 5 && strcmp(argv[1], "judge") == 0) {
		done = judge(argc, argv, a, &err);
	} else {
		ws_err_set(&err, WS_ERR_USAGE, "see the top of elf_probe.c");
	}
	char text[WS_ERR_PRINTED];
	if (!done) {
		fputs(ws_err_print(&err, text), stderr);
	}
	ws_arena_drop(a);
	return done ? 0 : 1;
}
