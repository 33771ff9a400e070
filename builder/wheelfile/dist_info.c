/* dist_info.c - fields into members, and file name, folder, WHEEL and METADATA beside each
 * other. */
#include "wheelfile/dist_info.h"

#include <strings.h>

#define LARGEST_FILE ((size_t)16 << 20) /* descriptions of 0.3 MB exist */
#define MOST_TAGS 4096                  /* of a compressed set; packaging refuses far fewer */

typedef WS_VEC(const char *) text_list;

/* A file of headers that is being read. */
struct reader {
	const char *file;   /* "METADATA" */
	struct ws_str rest; /* the unread text; after the last field the text that follows */
	unsigned line;      /* first line of the last field, from 1 */
	unsigned lines;     /* its number of lines */
	struct ws_arena *a;
	struct ws_map seen; /* fields that may stand once, in lower case */
	struct ws_wheel_info *wheel;
	text_list tags;
	struct ws_metadata_info *metadata;
	WS_VEC(struct ws_requirement) requires;
};

static bool
fail(const struct reader *r, struct ws_err *err, const char *what)
{
	return ws_err_set(err, WS_ERR_FETCH, "line %u of %s %s", r->line, r->file, what);
}

/* ---- any field: "Name: value" ---- */

/* A field with its continued lines, without its last line break. */
static struct ws_str
cut_field(struct reader *r)
{
	struct ws_str *rest = &r->rest;
	struct ws_str field = {rest->s, 0};
	for (r->lines = 1;; r->lines++) {
		const char *end = memchr(field.s + field.n, '\n', rest->n - field.n);
		if (!end) {
			field.n = rest->n;
			*rest = (struct ws_str){NULL, 0};
			return field;
		}
		field.n = (size_t)(end - field.s);
		if (field.n + 1 >= rest->n || (end[1] != ' ' && end[1] != '\t')) {
			rest->s += field.n + 1;
			rest->n -= field.n + 1;
			return field;
		}
		field.n++;
	}
}

static bool
is_at_end(struct ws_str rest)
{
	return rest.n == 0 || rest.s[0] == '\n'
		|| (rest.s[0] == '\r' && (rest.n == 1 || rest.s[1] == '\n'));
}

/* Readers disagree on where a line ends: some end it at a lone CR. */
static bool
is_plain(struct ws_str value)
{
	for (size_t i = 0; i < value.n;) {
		size_t len = ws_utf8_len(value.s + i, value.n - i);
		unsigned char c = (unsigned char)value.s[i];
		bool line_end = c == '\n' || (c == '\r' && i + 1 < value.n && value.s[i + 1] == '\n');
		if (len == 0 || c == 0x7f || (c < ' ' && c != '\t' && !line_end)) {
			return false;
		}
		i += len;
	}
	return true;
}

/* Passes each field to @take, with its name in lower case. */
static bool
read_fields(struct reader *r,
	bool (*take)(struct reader *r, const char *name, struct ws_str value, struct ws_err *err),
	struct ws_err *err)
{
	while (!is_at_end(r->rest)) {
		r->line += r->lines ? r->lines : 1;
		struct ws_str rest = cut_field(r), name = ws_str_cut(&rest, ':');
		struct ws_str value = ws_str_trim(rest);
		bool named = rest.s && name.n > 0;
		for (size_t i = 0; i < name.n; i++) {
			named = named && name.s[i] > ' ' && name.s[i] <= '~';
		}
		if (!named) {
			return fail(r, err, "is not \"Name: value\"");
		}
		if (!is_plain(value)) {
			return fail(r, err, "holds a control character, or is not UTF-8");
		}
		if (!take(r, ws_lower_all(ws_str_copy(name, r->a)), value, err)) {
			return false;
		}
	}
	ws_str_cut(&r->rest, '\n');
	return true;
}

/* A field that must not be repeated: readers would take the first or the last. */
static bool
once(struct reader *r, const char *name, struct ws_err *err)
{
	return ws_map_add(&r->seen, name, r->a)
		|| ws_err_set(err, WS_ERR_FETCH, "line %u of %s: '%s' is repeated", r->line, r->file, name);
}

static bool
has(const struct reader *r, const char *name, struct ws_err *err)
{
	return ws_map_get(&r->seen, name)
		|| ws_err_set(err, WS_ERR_FETCH, "%s has no '%s'", r->file, name);
}

/* "2.1" */
static bool
read_format(struct ws_str value, unsigned *major, unsigned *minor)
{
	uint64_t first = 0, second = 0;
	struct ws_str front = ws_str_cut(&value, '.');
	bool fine = front.n > 0 && front.n < 5 && ws_str_to_u64(front, &first) && value.n > 0
		&& value.n < 5 && ws_str_to_u64(value, &second);
	*major = (unsigned)first;
	*minor = (unsigned)second;
	return fine;
}

static const char *
first_line(struct ws_str value, struct ws_arena *a)
{
	return ws_str_copy(ws_str_trim(ws_str_cut(&value, '\n')), a);
}

/* ---- tags ---- */

/* A tag with sets for parts. */
struct tag_set {
	text_list pythons, abis, platforms;
};

/* False when a member is empty. */
static bool
split(struct ws_str set, struct ws_arena *a, text_list *members)
{
	while (set.s) {
		struct ws_str member = ws_str_cut(&set, '.');
		*ws_vec_push(members, a) = ws_str_copy(member, a);
		if (member.n == 0) {
			return false;
		}
	}
	return members->len > 0;
}

static bool
expand(const struct tag_set *set, text_list *tags, struct ws_arena *a)
{
	size_t made = set->pythons.len * set->abis.len * set->platforms.len;
	if (made > MOST_TAGS || tags->len > MOST_TAGS - made) {
		return false;
	}
	for (size_t i = 0; i < made; i++) {
		size_t rest = i / set->platforms.len;
		*ws_vec_push(tags, a) =
			ws_arena_printf(a, "%s-%s-%s", set->pythons.at[rest / set->abis.len],
				set->abis.at[rest % set->abis.len], set->platforms.at[i % set->platforms.len]);
	}
	return true;
}

/* ---- WHEEL ---- */

/* "py2.py3-none-any", expanded. */
static bool
add_tags(struct reader *r, struct ws_str value, struct ws_err *err)
{
	struct ws_arena *a = r->a;
	char *text = ws_lower_all(ws_str_copy(value, a));
	struct tag_set set = {0};
	text_list *const parts[] = {&set.pythons, &set.abis, &set.platforms};
	struct ws_str rest = ws_str_of(text);
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		if (!split(ws_str_cut(&rest, '-'), a, parts[i]) || (i < 2) != (rest.s != NULL)
			|| strpbrk(text, " \t\r\n")) {
			return fail(r, err, "is not a compatibility tag (cp311-cp311-linux_x86_64)");
		}
	}
	return expand(&set, &r->tags, a) || fail(r, err, "makes absurdly many tags");
}

static bool
read_wheel_field(struct reader *r, const char *name, struct ws_str value, struct ws_err *err)
{
	struct ws_wheel_info *info = r->wheel;
	if (strcmp(name, "tag") == 0) {
		return add_tags(r, value, err);
	}
	if (strcmp(name, "wheel-version") == 0) {
		return once(r, name, err)
			&& ((read_format(value, &info->major, &info->minor) && info->major == 1)
				|| fail(r, err, "gives a Wheel-Version that is not 1.x"));
	}
	if (strcmp(name, "root-is-purelib") == 0) {
		/* Some writers repeat it (setuptools with a subclass of bdist_wheel); all readers take
		 * the first. */
		const char *text = ws_str_copy(value, r->a);
		bool purelib = strcasecmp(text, "true") == 0;
		info->purelib_twice = !ws_map_add(&r->seen, name, r->a);
		info->purelib = info->purelib_twice ? info->purelib : purelib;
		return purelib || strcasecmp(text, "false") == 0
			|| fail(r, err, "gives a Root-Is-Purelib that is not true or false");
	}
	if (strcmp(name, "build") == 0) {
		info->build = first_line(value, r->a);
		return once(r, name, err);
	}
	if (strcmp(name, "generator") == 0) {
		info->generator = first_line(value, r->a);
	}
	return true;
}

bool
ws_wheel_info_read(
	struct ws_str text, struct ws_arena *a, struct ws_wheel_info *info, struct ws_err *err)
{
	*info = (struct ws_wheel_info){0};
	struct reader r = {.file = "WHEEL", .rest = text, .a = a, .wheel = info};
	if (!read_fields(&r, read_wheel_field, err) || !has(&r, "wheel-version", err)
		|| !has(&r, "root-is-purelib", err)) {
		return false;
	}
	if (ws_str_trim(r.rest).n > 0) {
		return fail(&r, err, "is followed by an empty line and more");
	}
	if (r.tags.len == 0) {
		return ws_err_set(err, WS_ERR_FETCH, "WHEEL has no 'tag'");
	}
	info->tags = r.tags.at;
	info->tag_count = ws_sort_once(r.tags.at, r.tags.len);
	return true;
}

/* ---- METADATA ---- */

/* PEP 508: letters and digits at both ends, ".", "-" and "_" between. The length of the name; 0:
 * none. */
static size_t
name_len(const char *text)
{
	size_t len = 0;
	for (; text[len]; len++) {
		char c = text[len];
		bool letter = ws_is_digit(c) || ws_is_letter(c);
		if (!letter && (len == 0 || (c != '.' && c != '-' && c != '_'))) {
			break;
		}
	}
	while (len > 0 && strchr(".-_", text[len - 1])) {
		len--;
	}
	return len;
}

/* "torch[opt]>=2.4 ; python_version < '3.12'" */
static bool
read_requirement(struct reader *r, struct ws_str value, struct ws_requirement *requirement)
{
	char *text = ws_str_copy(value, r->a);
	size_t len = name_len(text);
	*requirement = (struct ws_requirement){
		.text = text,
		.package = ws_package_normal(ws_arena_copy(r->a, text, len), r->a),
		.specifiers = "",
	};
	struct ws_str rest = ws_str_trim(ws_str_of(text + len));
	if (rest.n > 0 && rest.s[0] == '[') {
		ws_str_cut(&rest, ']');
		if (!rest.s) {
			return false;
		}
		rest = ws_str_trim(rest);
	}
	/* A URL may hold a semicolon: its marker begins behind a space. */
	bool url = rest.n > 0 && rest.s[0] == '@';
	const char *end = url ? memmem(rest.s, rest.n, " ;", 2) : memchr(rest.s, ';', rest.n);
	struct ws_str claim = rest;
	if (rest.n > 0 && end) {
		claim.n = (size_t)(end - rest.s);
		struct ws_str marker = {end, rest.n - claim.n};
		ws_str_cut(&marker, ';');
		requirement->marker = ws_str_copy(ws_str_trim(marker), r->a);
	}
	if (len == 0 || strchr(text, '\n') || (requirement->marker && !requirement->marker[0])) {
		return false;
	}
	claim = ws_str_trim(claim);
	if (url) {
		requirement->url =
			ws_str_copy(ws_str_trim((struct ws_str){claim.s + 1, claim.n - 1}), r->a);
		return requirement->url[0] != '\0';
	}
	if (claim.n > 0 && claim.s[0] == '(') {
		if (claim.s[claim.n - 1] != ')') {
			return false;
		}
		claim = ws_str_trim((struct ws_str){claim.s + 1, claim.n - 2});
	}
	requirement->specifiers = ws_str_copy(claim, r->a);
	return ws_specifiers_parse(requirement->specifiers, r->a) != NULL;
}

static bool
read_metadata_field(struct reader *r, const char *name, struct ws_str value, struct ws_err *err)
{
	static const char *const single[] = {"metadata-version", "name", "requires-python", "version"};
	struct ws_metadata_info *info = r->metadata;
	const char *text = ws_str_copy(value, r->a);
	if (ws_is_among(name, single, WS_LEN(single)) && !once(r, name, err)) {
		return false;
	}
	if (strcmp(name, "name") == 0) {
		info->name = text;
		info->package = ws_package_normal(text, r->a);
		return (text[0] && name_len(text) == value.n) || fail(r, err, "is not a package's name");
	}
	if (strcmp(name, "version") == 0) {
		return ws_version_parse(text, r->a, &info->version) || fail(r, err, "is not a version");
	}
	if (strcmp(name, "metadata-version") == 0) {
		return (read_format(value, &info->major, &info->minor) && info->major >= 1
				   && info->major <= 2)
			|| fail(r, err, "gives a Metadata-Version that is not 1.x or 2.x");
	}
	if (strcmp(name, "requires-python") == 0) {
		info->requires_python = text;
		return ws_specifiers_parse(text, r->a)
			|| fail(r, err, "is not a set of version specifiers");
	}
	if (strcmp(name, "requires-dist") == 0) {
		return read_requirement(r, value, ws_vec_push(&r->requires, r->a))
			|| fail(r, err, "is not a requirement");
	}
	if (strcmp(name, "summary") == 0) {
		info->summary = first_line(value, r->a);
	} else if (strcmp(name, "license-expression") == 0) {
		info->license = first_line(value, r->a);
	} else if (strcmp(name, "license") == 0 && !info->license) {
		info->license = first_line(value, r->a);
	}
	return true;
}

bool
ws_metadata_info_read(
	struct ws_str text, struct ws_arena *a, struct ws_metadata_info *info, struct ws_err *err)
{
	*info = (struct ws_metadata_info){0};
	struct reader r = {.file = "METADATA", .rest = text, .a = a, .metadata = info};
	bool fine = read_fields(&r, read_metadata_field, err);
	info->requires = r.requires.at;
	info->require_count = r.requires.len;
	return fine && has(&r, "metadata-version", err) && has(&r, "name", err)
		&& has(&r, "version", err);
}

/* ---- in an archive ---- */

const char *
ws_dist_info_folder(const struct ws_zip *zip, struct ws_arena *a, struct ws_err *err)
{
	static const char end[] = ".dist-info";
	const char *found = NULL;
	for (size_t i = 0; i < zip->count; i++) {
		const char *name = zip->entries[i].name;
		const char *slash = strchr(name, '/');
		size_t len = slash ? (size_t)(slash - name) : 0;
		if (len < strlen(end) || strncasecmp(slash - strlen(end), end, strlen(end)) != 0
			|| (found && strncmp(found, name, len) == 0 && !found[len])) {
			continue;
		}
		const char *folder = ws_arena_copy(a, name, len);
		if (found) {
			ws_err_set(
				err, WS_ERR_FETCH, "it has two dist-info folders, '%s' and '%s'", found, folder);
			return NULL;
		}
		found = folder;
	}
	if (!found) {
		ws_err_set(err, WS_ERR_FETCH, "it has no dist-info folder; is it a wheel?");
	}
	return found;
}

bool
ws_dist_info_load(struct ws_zip *zip, const char *folder, const char *name, struct ws_buf *text,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = ws_arena_printf(a, "%s/%s", folder, name);
	const struct ws_zip_entry *entry = ws_zip_find(zip, path);
	return entry ? ws_zip_load(zip, entry, LARGEST_FILE, text, err)
				 : ws_err_set(err, WS_ERR_FETCH, "it has no '%s'", path);
}

bool
ws_dist_info_read(
	struct ws_zip *zip, struct ws_arena *a, struct ws_dist_info *info, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf wheel = {0};
	WS_AUTO_BUF struct ws_buf metadata = {0};
	*info = (struct ws_dist_info){.folder = ws_dist_info_folder(zip, a, err)};
	return info->folder && ws_dist_info_load(zip, info->folder, "WHEEL", &wheel, err)
		&& ws_dist_info_load(zip, info->folder, "METADATA", &metadata, err)
		&& ws_wheel_info_read(ws_buf_str(&wheel), a, &info->wheel, err)
		&& ws_metadata_info_read(ws_buf_str(&metadata), a, &info->metadata, err);
}

/* ---- beside each other ---- */

struct comparison {
	struct ws_arena *a;
	text_list lines;
};

static void
compare(struct comparison *c, const char *what, const char *left, const char *left_value,
	const char *right, const char *right_value)
{
	if (strcmp(left_value, right_value) != 0) {
		*ws_vec_push(&c->lines, c->a) = ws_arena_printf(
			c->a, "%s: %s has '%s', %s has '%s'", what, left, left_value, right, right_value);
	}
}

/* "flash_attn-2.8.3.dist-info" beside the file name. */
static void
compare_folder(struct comparison *c, const struct ws_wheel_name *name, const char *folder)
{
	const char *dash = strrchr(folder, '-'); /* of ".dist-info" */
	struct ws_str front = {folder, dash ? strlen(folder) - strlen(".dist-info") : 0};
	const char *split_at = front.n ? memrchr(folder, '-', front.n) : NULL;
	struct ws_version version = {0};
	const char *text = split_at
		? ws_arena_copy(c->a, split_at + 1, front.n - (size_t)(split_at + 1 - folder))
		: "";
	if (!split_at || !ws_version_parse(text, c->a, &version)) {
		*ws_vec_push(&c->lines, c->a) =
			ws_arena_printf(c->a, "the folder '%s' is not NAME-VERSION.dist-info", folder);
		return;
	}
	const char *package =
		ws_package_normal(ws_arena_copy(c->a, folder, (size_t)(split_at - folder)), c->a);
	compare(c, "name", "the file name", name->distribution, "the dist-info folder", package);
	compare(
		c, "version", "the file name", name->version.text, "the dist-info folder", version.text);
}

/* Reports tags of @list that @other lacks: the first few by name. */
static void
report_lacking(struct comparison *c, const text_list *list, const text_list *other,
	const char *where, const char *elsewhere)
{
	size_t lacking = 0, named = 3;
	for (size_t i = 0; i < list->len; i++) {
		bool there = other->len > 0
			&& bsearch(&list->at[i], other->at, other->len, sizeof(*other->at), ws_cmp_strings);
		lacking += !there;
		if (!there && lacking <= named) {
			*ws_vec_push(&c->lines, c->a) = ws_arena_printf(
				c->a, "tag: %s has '%s', %s does not", where, list->at[i], elsewhere);
		}
	}
	if (lacking > named) {
		*ws_vec_push(&c->lines, c->a) =
			ws_arena_printf(c->a, "tag: and %zu more that only %s has", lacking - named, where);
	}
}

static void
compare_wheel(
	struct comparison *c, const struct ws_wheel_name *name, const struct ws_wheel_info *wheel)
{
	struct tag_set set = {
		{(const char **)(uintptr_t)name->pythons, name->python_count, 0},
		{(const char **)(uintptr_t)name->abis, name->abi_count, 0},
		{(const char **)(uintptr_t)name->platforms, name->platform_count, 0},
	};
	text_list named = {0};
	text_list inside = {(const char **)(uintptr_t)wheel->tags, wheel->tag_count, 0};
	if (!expand(&set, &named, c->a)) {
		*ws_vec_push(&c->lines, c->a) = "the file name makes absurdly many tags";
		return;
	}
	named.len = ws_sort_once(named.at, named.len);
	if (wheel->purelib_twice) {
		*ws_vec_push(&c->lines, c->a) = "WHEEL: 'Root-Is-Purelib' is repeated";
	}
	report_lacking(c, &named, &inside, "the file name", "WHEEL");
	report_lacking(c, &inside, &named, "WHEEL", "the file name");
	compare(c, "build tag", "the file name", name->build ? name->build : "none", "WHEEL",
		wheel->build ? wheel->build : "none");
}

const char *const *
ws_dist_info_disagreements(const struct ws_wheel_name *name, const char *folder,
	const struct ws_wheel_info *wheel, const struct ws_metadata_info *metadata, struct ws_arena *a,
	size_t *count)
{
	struct comparison c = {.a = a};
	if (metadata) {
		compare(&c, "name", "the file name", name->distribution, "METADATA", metadata->package);
		compare(
			&c, "version", "the file name", name->version.text, "METADATA", metadata->version.text);
	}
	if (folder) {
		compare_folder(&c, name, folder);
	}
	if (wheel) {
		compare_wheel(&c, name, wheel);
	}
	*count = c.lines.len;
	return c.lines.at;
}
