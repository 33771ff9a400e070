/* requirements.c - requirements files for pip --require-hashes: which wheels share a file, and how
 * each is named. */
#include "base/fs.h"
#include "dist/build_json.h"
#include "model/wheel_name.h"

#define HEADER "# pip install --require-hashes --no-deps --find-links . -r THIS\n"

const char *
ws_record_machine(const struct ws_record *record, struct ws_arena *a)
{
	struct ws_wheel_name name;
	const char *why;
	const struct ws_machine *machine =
		ws_wheel_name_parse(record->wheel, a, &name, &why) ? ws_wheel_name_machine(&name) : NULL;
	return machine ? machine->name : "";
}

/* pip uses the hashes of the first requirement of a name, so each one has markers of its own. */
static const char *
requirement_of(const struct ws_record *record, bool many_machines, struct ws_arena *a)
{
	const char *machine = many_machines ? ws_record_machine(record, a) : "";
	struct ws_version version, packed;
	WS_AUTO_BUF struct ws_buf text = {0};
	/* pip does not find a wheel whose METADATA has another version than its file name: name its
	 * path. */
	if (record->torch && record->metadata_version && ws_version_parse(record->version, a, &version)
		&& ws_version_parse(record->metadata_version, a, &packed)
		&& ws_version_cmp(&version, &packed) != 0) {
		ws_buf_printf(&text, "./%s", record->wheel);
	} else {
		ws_buf_printf(&text, "%s==%s", record->package, record->version);
	}
	if (record->python) {
		ws_buf_printf(&text, " ; python_version == \"%s\"", record->python);
	}
	if (machine[0]) {
		ws_buf_printf(
			&text, "%s platform_machine == \"%s\"", record->python ? " and" : " ;", machine);
	}
	ws_buf_printf(&text, " \\\n    --hash=sha256:%s\n", record->sha256);
	return ws_buf_copy(&text, a);
}

static void
write_once(struct ws_buf *text, const char *name, const char *line, struct ws_map *written,
	struct ws_arena *a)
{
	if (ws_map_add(written, ws_arena_printf(a, "%s\n%s", name, line), a)) {
		ws_buf_puts(text, line);
	}
}

bool
ws_requirements_write(
	const char *output, const ws_record_list *records, struct ws_arena *a, struct ws_err *err)
{
	/* The name of a file -> its struct ws_buf; several cells of one wheel are one requirement. */
	struct ws_map files = {0}, groups = {0}, written = {0}, machines = {0};
	bool done = true;
	for (size_t i = 0; i < records->len; i++) {
		const char *machine = ws_record_machine(&records->at[i], a);
		ws_map_add(&groups, records->at[i].group, a);
		if (machine[0]) {
			ws_map_add(&machines, machine, a);
		}
	}
	for (size_t i = 0; i < records->len; i++) {
		const struct ws_record *record = &records->at[i];
		const char *name =
			ws_arena_printf(a, "requirements%s.txt", groups.count > 1 ? record->group : "");
		struct ws_buf *text = ws_map_get(&files, name);
		if (!text) {
			text = WS_NEW(a, struct ws_buf);
			ws_map_put(&files, name, text, a);
			ws_buf_puts(text, HEADER);
		}
		/* A file is of one torch. Without a hash it is never downloaded for this: pip takes the one
		 * that is installed, or refuses. */
		if (record->torch) {
			const char *line = ws_arena_printf(
				a, "# that prebuilt wheels below were judged for:\ntorch==%s\n", record->torch);
			write_once(text, name, line, &written, a);
		}
		write_once(text, name, requirement_of(record, machines.count > 1, a), &written, a);
	}
	for (size_t i = 0; i < files.count; i++) {
		struct ws_buf *text = ws_map_get(&files, files.slots[i].key);
		const char *path = ws_path_join(a, output, files.slots[i].key, NULL);
		done = done && ws_fs_write_atomic(path, text->data, text->len, 0644, err);
		ws_buf_release(text);
	}
	/* Outdated files of other runs. Files of a person stay. */
	WS_AUTO_DIR DIR *dir = opendir(output);
	const struct dirent *entry;
	while (done && dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		const char *path = ws_path_join(a, output, name, NULL);
		WS_AUTO_BUF struct ws_buf text = {0};
		done = !ws_starts_with(name, "requirements") || !ws_ends_with(name, ".txt")
			|| ws_map_get(&files, name) || !ws_fs_read_at_most(path, 16 << 20, &text, NULL)
			|| !ws_starts_with(ws_buf_text(&text), HEADER) || ws_fs_remove(path, err);
	}
	return done;
}
