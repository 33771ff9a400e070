/* shared_results_driver.c - puts and gets many records: ENDPOINT KEY STORE COUNT put|get [BYTES]
 * With BYTES each has a file of that size. */
#include "remote/shared_results.h"
#include "store/cas.h"
#include "sys/clock.h"

#include <sys/resource.h>

/* A file of the store, another for each number. */
static void
add_file(const struct ws_store *store, struct ws_shared_record *record, size_t number, size_t bytes,
	struct ws_arena *a)
{
	struct ws_shared_file *file = WS_NEW(a, struct ws_shared_file);
	struct ws_digest digest;
	struct ws_err err;
	char *text = calloc(1, bytes);
	if (!text) {
		abort();
	}
	memcpy(text, &number, sizeof(number));
	if (!ws_cas_put(store, text, bytes, &digest, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	free(text);
	file->digest = ws_arena_strdup(a, digest.hex);
	record->files = file;
	record->file_count = 1;
}

/* The entries that arrived with all their files; all are requested at once. */
static size_t
get_files(
	struct ws_shared *shared, const struct ws_shared_record *all, size_t count, struct ws_arena *a)
{
	struct ws_shared_file *files = WS_NEW_N(a, struct ws_shared_file, count);
	size_t came = 0, asked = 0;
	for (size_t i = 0; i < count; i++) {
		if (all[i].file_count == 1) {
			files[asked++] = all[i].files[0];
		}
	}
	shared->get_files(shared, files, asked);
	for (size_t i = 0; i < asked; i++) {
		came += files[i].here;
	}
	return came;
}

int
main(int argc, char **argv)
{
	struct ws_arena *a = ws_arena_make();
	struct ws_store store;
	struct ws_events events = {0};
	struct ws_err err = {0};
	if (argc < 6 || argc > 7 || !ws_store_open(argv[3], a, &store, &err)) {
		fprintf(stderr, "shared_results_driver ENDPOINT KEY STORE COUNT put|get [BYTES]: %s\n",
			err.text);
		return 2;
	}
	struct ws_server_config place = {.endpoint = argv[1], .instance = "main"};
	struct ws_server *server = ws_server_open(&place, a, &err);
	struct ws_shared_results_config config = {
		.server = server, .write = true, .key = argv[2], .store = &store, .events = &events};
	struct ws_shared_results *records = server ? ws_shared_results_open(&config, a, &err) : NULL;
	if (!records) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	size_t count = strtoul(argv[4], NULL, 10), found = 0;
	size_t bytes = argc == 7 ? strtoul(argv[6], NULL, 10) : 0;
	struct ws_shared_record *all = WS_NEW_N(a, struct ws_shared_record, count);
	for (size_t i = 0; i < count; i++) {
		struct ws_digest key = ws_digest_bytes(&i, sizeof(i));
		all[i] = (struct ws_shared_record){.kind = "result", .key = ws_arena_strdup(a, key.hex)};
	}
	struct ws_shared *shared = ws_shared_results_interface(records);
	int64_t began = ws_clock_ms();
	if (strcmp(argv[5], "put") == 0) {
		for (size_t i = 0; i < count; i++) {
			ws_buf_printf(&all[i].text, "wheelsmith.result/1\nout %zu\n", i);
			if (bytes > 0) {
				add_file(&store, &all[i], i, bytes, a);
			}
		}
		shared->put(shared, all, count);
		found = shared->writes ? count : 0;
	} else {
		shared->get_records(shared, all, count, a);
		for (size_t i = 0; i < count; i++) {
			found += all[i].text.len > 0;
		}
		found = bytes > 0 ? get_files(shared, all, count, a) : found;
	}
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	double cpu_ms = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3
		+ (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
	printf("%zu of %zu in %lld ms, %.3f ms of CPU each, %ld KiB\n", found, count,
		(long long)(ws_clock_ms() - began), cpu_ms / (double)count, u.ru_maxrss);
	for (size_t i = 0; i < count; i++) {
		ws_buf_release(&all[i].text);
	}
	ws_shared_results_close(records);
	ws_store_close(&store);
	ws_arena_drop(a);
	return found == count ? 0 : 1;
}
