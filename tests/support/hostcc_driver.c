/* hostcc_driver.c - asks builder/kit/hostcc.h from a shell, for tests that need another
 * distribution around them or real headers.
 *
 *   hostcc_driver limits FILE             "gcc 13 clang 3..17"
 *   hostcc_driver list                    "gcc 12.2.0 /usr/bin/g++-12", a line each
 *   hostcc_driver choose FILE CUDA [MIN]  "/usr/bin/g++-12", or the error
 *   hostcc_driver open STORE              "/usr/bin/g++-12 FINGERPRINT 31 ms", a line each
 */
#include "base/fs.h"
#include "kit/hostcc/hostcc.h"
#include "sys/clock.h"

static ws_hostcc_list
list_here(struct ws_arena *a)
{
	ws_hostcc_list list = {0};
	ws_hostcc_list_all(NULL, "", getenv("PATH"), NULL, a, &list);
	return list;
}

static bool
read_limits(const char *path, struct ws_hostcc_limits *limits, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	return ws_fs_read_at_most(path, 1 << 20, &b, err)
		&& ws_hostcc_limits_parse(ws_buf_text(&b), limits, err);
}

static bool
print_limits(char *const *args, struct ws_arena *a WS_UNUSED, struct ws_err *err)
{
	struct ws_hostcc_limits limits;
	if (!read_limits(args[0], &limits, err)) {
		return false;
	}
	printf("gcc %u clang %u..%u\n", limits.gcc_max, limits.clang_min, limits.clang_max);
	return true;
}

static bool
print_list(char *const *args WS_UNUSED, struct ws_arena *a, struct ws_err *err WS_UNUSED)
{
	ws_hostcc_list list = list_here(a);
	for (size_t i = 0; i < list.len; i++) {
		printf("%s %s %s\n", list.at[i].kind == WS_HOSTCC_GCC ? "gcc" : "clang", list.at[i].version,
			list.at[i].path);
	}
	return true;
}

static bool
print_choice(char *const *args, struct ws_arena *a, struct ws_err *err)
{
	struct ws_version cuda;
	struct ws_hostcc_wish wish = {.cuda = &cuda};
	if (!ws_version_parse(args[1], a, &cuda) || !read_limits(args[0], &wish.limits, err)) {
		return false;
	}
	wish.gcc_min = args[2] ? (unsigned)atoi(args[2]) : 0;
	struct ws_host host = ws_host_read("", a);
	ws_hostcc_list list = list_here(a);
	struct ws_hostcc chosen;
	if (!ws_hostcc_choose(&list, &wish, &host, &chosen, err)) {
		return false;
	}
	puts(chosen.path);
	return true;
}

static bool
open_all(ws_hostcc_list *list, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err)
{
	for (size_t i = 0; i < list->len; i++) {
		int64_t since = ws_clock_ms();
		if (!ws_hostcc_open(&list->at[i], ledger, a, err)) {
			return false;
		}
		printf("%s %s %d ms\n", list->at[i].path, list->at[i].fingerprint,
			(int)(ws_clock_ms() - since));
		for (size_t k = 0; k < list->at[i].search_count; k++) {
			printf("  %s\n", list->at[i].search[k]);
		}
	}
	return true;
}

static bool
print_opened(char *const *args, struct ws_arena *a, struct ws_err *err)
{
	struct ws_store store;
	if (!ws_store_open(args[0], a, &store, err)) {
		return false;
	}
	struct ws_ledger *ledger = store.ledger;
	ws_hostcc_list list = list_here(a);
	bool opened = ledger && open_all(&list, ledger, a, err);
	ws_store_close(&store);
	return opened;
}

static const struct {
	const char *name;
	int args;
	bool (*run)(char *const *args, struct ws_arena *a, struct ws_err *err);
} commands[] = {
	{"limits", 1, print_limits},
	{"list", 0, print_list},
	{"choose", 2, print_choice},
	{"open", 1, print_opened},
};

int
main(int argc, char **argv)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (size_t i = 0; argc > 1 && i < WS_LEN(commands); i++) {
		if (strcmp(commands[i].name, argv[1]) != 0 || argc < commands[i].args + 2) {
			continue;
		}
		struct ws_err err = {0};
		if (commands[i].run(argv + 2, a, &err)) {
			return 0;
		}
		char text[WS_ERR_PRINTED];
		fputs(ws_err_print(&err, text), stderr);
		return ws_err_exit_code(err.kind);
	}
	fputs(
		"usage: hostcc_driver limits FILE | list | choose FILE CUDA [MIN] | open STORE\n", stderr);
	return 2;
}
