#include "archive/members.h"

#include "base/fs.h"

#define NAME_MOST 1024
#define RATIO_FLOOR ((uint64_t)64 << 20)

struct ws_members
ws_members_begin(const char *archive, uint64_t archive_bytes, const struct ws_member_limits *limits,
	struct ws_arena *a)
{
	struct ws_members m = {.a = a, .archive = archive, .archive_bytes = archive_bytes};
	m.limits = limits ? *limits : (struct ws_member_limits){0};
	m.limits.members = m.limits.members ? m.limits.members : 200000;
	m.limits.total_bytes = m.limits.total_bytes ? m.limits.total_bytes : (uint64_t)16 << 30;
	m.limits.ratio = m.limits.ratio ? m.limits.ratio : 200;
	return m;
}

bool
ws_members_refuse(struct ws_members *m, struct ws_err *err, const char *rule, const char *name,
	const char *format, ...)
{
	char detail[400];
	va_list values;
	va_start(values, format);
	vsnprintf(detail, sizeof(detail), format, values);
	va_end(values);
	return name ? ws_err_set(err, WS_ERR_FETCH, "'%s' breaks the archive rule '%s' at '%.250s': %s",
			   m->archive, rule, name, detail)
				: ws_err_set(err, WS_ERR_FETCH, "'%s' breaks the archive rule '%s': %s", m->archive,
					rule, detail);
}

char *
ws_member_plain_name(const char *name, struct ws_arena *a)
{
	while (name[0] == '.' && name[1] == '/') {
		name += 2 + strspn(name + 2, "/");
	}
	size_t len = strlen(name);
	while (len > 1 && name[len - 1] == '/') {
		len--;
	}
	if (len == 0 || (len == 1 && name[0] == '.')) {
		return NULL;
	}
	return ws_arena_copy(a, name, len);
}

static const char *const kind_words[] = {"a file", "a link", "a hard link", "a folder"};

/* Lets in the folders above @a name that no member announced. */
static bool
enter_parents(struct ws_members *m, const char *name, struct ws_err *err)
{
	char folder[NAME_MOST + 1];
	for (const char *slash = name; (slash = strchr(slash, '/')); slash++) {
		memcpy(folder, name, (size_t)(slash - name));
		folder[slash - name] = '\0';
		struct ws_member_seen *seen = ws_map_get(&m->seen, folder);
		if (seen && seen->kind != WS_MEMBER_FOLDER) {
			return ws_members_refuse(
				m, err, "through", name, "'%s' is %s", folder, kind_words[seen->kind]);
		}
		if (!seen) {
			seen = WS_NEW(m->a, struct ws_member_seen);
			seen->kind = WS_MEMBER_FOLDER;
			ws_map_put(&m->seen, ws_arena_strdup(m->a, folder), seen, m->a);
		}
	}
	return true;
}

struct ws_member_seen *
ws_members_enter(struct ws_members *m, const struct ws_member *member, struct ws_err *err)
{
	const char *name = member->name;
	if (++m->count > m->limits.members) {
		ws_members_refuse(
			m, err, "amount", name, "it has more than %ju members", (uintmax_t)m->limits.members);
		return NULL;
	}
	if (strlen(name) > NAME_MOST) {
		ws_members_refuse(m, err, "name-text", name, "it has %zu bytes", strlen(name));
		return NULL;
	}
	if (ws_has_control(name)) {
		ws_members_refuse(m, err, "name-text", name, "it holds a control character");
		return NULL;
	}
	if (!ws_path_is_inside(name)) {
		ws_members_refuse(m, err, "name-path", name,
			"it is absolute, leaves the folder or is not in its plain form");
		return NULL;
	}
	struct ws_member_seen *seen = ws_map_get(&m->seen, name);
	if (seen && seen->kind != member->kind) {
		ws_members_refuse(m, err, "duplicate", name, "it was %s before, now %s",
			kind_words[seen->kind], kind_words[member->kind]);
		return NULL;
	}
	if (seen) {
		seen->again = true;
		bool same = seen->executable == member->executable && ws_same(seen->target, member->target);
		return same
				|| ws_members_refuse(
					m, err, "duplicate", name, "its mode or target was another one before")
			? seen
			: NULL;
	}
	if (!enter_parents(m, name, err)) {
		return NULL;
	}
	seen = WS_NEW(m->a, struct ws_member_seen);
	seen->kind = member->kind;
	seen->executable = member->executable;
	seen->target = ws_arena_strdup(m->a, member->target);
	ws_map_put(&m->seen, ws_arena_strdup(m->a, name), seen, m->a);
	return seen;
}

bool
ws_members_check_link(struct ws_members *m, const struct ws_member *member, struct ws_err *err)
{
	if (member->kind == WS_MEMBER_LINK && !ws_path_link_is_inside(member->name, member->target)) {
		return ws_members_refuse(m, err, "link", member->name,
			"its target '%s' is absolute, leaves the folder or is not in its plain form",
			member->target);
	}
	if (member->kind == WS_MEMBER_HARD_LINK) {
		const struct ws_member_seen *hard_link = ws_map_get(&m->seen, member->target);
		if (!hard_link || hard_link->kind != WS_MEMBER_FILE || !hard_link->taken) {
			return ws_members_refuse(m, err, "link", member->name,
				"it is a hard link to '%s', which is not an earlier file", member->target);
		}
	}
	return true;
}

bool
ws_members_add_bytes(struct ws_members *m, const char *name, uint64_t bytes, struct ws_err *err)
{
	if (bytes > m->limits.total_bytes - m->total_bytes) {
		return ws_members_refuse(m, err, "amount", name, "its contents are larger than %ju bytes",
			(uintmax_t)m->limits.total_bytes);
	}
	m->total_bytes += bytes;
	if (m->archive_bytes > 0 && m->total_bytes > RATIO_FLOOR
		&& m->total_bytes / m->limits.ratio > m->archive_bytes) {
		return ws_members_refuse(m, err, "amount", name,
			"its contents are more than %ju times as large as the archive",
			(uintmax_t)m->limits.ratio);
	}
	return true;
}
