/* wheel_name.c - parsing of wheel names, tags and labels, and the order of tags. */
#include "model/wheel_name.h"

/* NAME_MAX of Linux: a longer name cannot be a file's. */
#define LONGEST_NAME 255

static bool
refuse(const char **why, const char *line)
{
	*why = line;
	return false;
}

static char *
squash(const char *name, char separator, struct ws_arena *a)
{
	char *normal = ws_arena_alloc(a, strlen(name) + 1);
	size_t len = 0;
	for (const char *c = name; *c; c++) {
		if (*c != '-' && *c != '_' && *c != '.') {
			normal[len++] = ws_lower(*c);
		} else if (len == 0 || normal[len - 1] != separator) {
			normal[len++] = separator;
		}
	}
	return normal;
}

char *
ws_package_normal(const char *name, struct ws_arena *a)
{
	return squash(name, '-', a);
}

char *
ws_package_file_part(const char *name, struct ws_arena *a)
{
	return squash(name, '_', a);
}

/* Letters, digits, '_' and '.', but no two underscores together: PEP 427's escaped name. */
static bool
read_distribution(struct ws_str part, struct ws_arena *a, struct ws_wheel_name *name)
{
	for (size_t i = 0; i < part.n; i++) {
		char c = part.s[i];
		if (!ws_is_digit(c) && !ws_is_letter(c) && c != '_' && c != '.') {
			return false;
		}
		if (c == '_' && i > 0 && part.s[i - 1] == '_') {
			return false;
		}
	}
	name->distribution = ws_package_normal(ws_str_copy(part, a), a);
	return part.n > 0;
}

/* The members of a compressed set: "py2.py3". NULL when one is empty. */
static const char *const *
read_set(struct ws_str part, struct ws_arena *a, size_t *count)
{
	WS_VEC(const char *) members = {0};
	while (part.s) {
		struct ws_str member = ws_str_cut(&part, '.');
		if (member.n == 0) {
			return NULL;
		}
		*ws_vec_push(&members, a) = ws_lower_all(ws_str_copy(member, a));
	}
	*count = members.len;
	return members.at;
}

static bool
are_identifiers(const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (ws_is_digit(words[i][0])) {
			return false;
		}
		for (const char *c = words[i]; *c; c++) {
			if (!ws_is_digit(*c) && !ws_is_letter(*c) && *c != '_') {
				return false;
			}
		}
	}
	return true;
}

bool
ws_wheel_name_parse(
	const char *filename, struct ws_arena *a, struct ws_wheel_name *name, const char **why)
{
	struct ws_str rest = ws_str_of(filename);
	*name = (struct ws_wheel_name){0};
	bool plain = rest.n <= LONGEST_NAME;
	for (const char *c = filename; *c && plain; c++) {
		plain = *c >= ' ' && *c <= '~' && *c != '/' && *c != '\\';
	}
	if (!plain) {
		return refuse(why, "it is too long, or has characters that no wheel's name should have");
	}
	if (!ws_ends_with(filename, ".whl")) {
		return refuse(why, "it does not end in .whl");
	}
	rest.n -= strlen(".whl");
	struct ws_str parts[6];
	size_t count = 0;
	while (rest.s && count < WS_LEN(parts)) {
		parts[count++] = ws_str_cut(&rest, '-');
	}
	if (rest.s || count < 5) {
		return refuse(why, "it has not five or six parts between dashes");
	}
	if (!read_distribution(parts[0], a, name)) {
		return refuse(why, "its first part is not a package's name");
	}
	if (!ws_version_parse(ws_str_copy(parts[1], a), a, &name->version)) {
		return refuse(why, "its second part is not a version");
	}
	if (count == 6) {
		if (parts[2].n == 0 || !ws_is_digit(parts[2].s[0])) {
			return refuse(why, "its build tag does not start with a digit");
		}
		name->build = ws_str_copy(parts[2], a);
	}
	name->pythons = read_set(parts[count - 3], a, &name->python_count);
	name->abis = read_set(parts[count - 2], a, &name->abi_count);
	name->platforms = read_set(parts[count - 1], a, &name->platform_count);
	if (!name->pythons || !name->abis || !name->platforms) {
		return refuse(why, "it has an empty tag");
	}
	return are_identifiers(name->pythons, name->python_count)
		|| refuse(why, "its python tag is not an identifier");
}

/* Up to three digits without a leading zero; @a at moves behind them. */
static bool
read_small(const char **at, unsigned *number)
{
	const char *start = *at;
	*number = 0;
	while (ws_is_digit(**at) && *at - start < 3) {
		*number = *number * 10 + (unsigned)(**at - '0');
		++*at;
	}
	return *at > start && !(*start == '0' && *at - start > 1) && !ws_is_digit(**at);
}

bool
ws_python_tag_same(const struct ws_python_tag *x, const struct ws_python_tag *y)
{
	return x->major == y->major && x->minor == y->minor && x->free_threaded == y->free_threaded;
}

bool
ws_python_tag_parse(const char *text, struct ws_python_tag *tag)
{
	bool joined = ws_starts_with(text, "cp"); /* "cp311" */
	const char *at = text + (joined ? 2 : 0);
	struct ws_python_tag read = {.major = 3};
	unsigned patch;
	if (*at++ != '3' || (!joined && *at++ != '.') || !read_small(&at, &read.minor)) {
		return false;
	}
	if (*at == 't') {
		read.free_threaded = true;
		at++;
	} else if (!joined && *at == '.') {
		at++;
		if (!read_small(&at, &patch)) {
			return false;
		}
	}
	if (*at || (read.free_threaded && read.minor < 13)) {
		return false;
	}
	*tag = read;
	return true;
}

const char *
ws_python_tag_text(const struct ws_python_tag *tag, bool abi, struct ws_arena *a)
{
	const char *threads = abi && tag->free_threaded ? "t" : "";
	return ws_arena_printf(a, "cp%u%u%s", tag->major, tag->minor, threads);
}

const char *
ws_python_version_text(const struct ws_python_tag *tag, struct ws_arena *a)
{
	return ws_arena_printf(a, "%u.%u%s", tag->major, tag->minor, tag->free_threaded ? "t" : "");
}

/* The place of a tag that does not fit. */
#define NOWHERE (~0u)

/* The last minor of a glibc major that has ended is not known; packaging takes 50. */
#define LAST_GLIBC_MINOR 50

/* Names older than PEP 600; each comes directly after its manylinux_2_N. */
static const struct {
	const char *name;
	unsigned minor;
} legacy_platforms[] = {
	{"manylinux2014", 17},
	{"manylinux2010", 12},
	{"manylinux1", 5},
};

/* Platforms of glibc versions above @a major.minor, up to the host's, legacy names included. */
static unsigned
count_newer(unsigned major, unsigned minor, unsigned glibc_major, unsigned glibc_minor)
{
	unsigned count = 0;
	for (unsigned m = major; m <= glibc_major; m++) {
		unsigned from = m == major ? minor + 1 : 0;
		unsigned to = m == glibc_major ? glibc_minor : LAST_GLIBC_MINOR;
		count += to < from ? 0 : to - from + 1;
		for (size_t i = 0; m == 2 && i < WS_LEN(legacy_platforms); i++) {
			count += legacy_platforms[i].minor >= from && legacy_platforms[i].minor <= to;
		}
	}
	return count;
}

/* Place of a platform among those of the host, 0 the newest; *count says how many there are. */
static unsigned
place_of_platform(const char *tag, const struct ws_machine *machine, unsigned glibc_major,
	unsigned glibc_minor, unsigned *count)
{
	/* The oldest minor of glibc 2 that tags have (packaging._manylinux): of x86-64 PEP 513's. */
	unsigned oldest = machine->mark[0] ? 17 : 5;
	unsigned manylinux = count_newer(2, oldest - 1, glibc_major, glibc_minor);
	*count = manylinux + 1;
	if (ws_starts_with(tag, "linux_") && strcmp(tag + strlen("linux_"), machine->name) == 0) {
		return manylinux;
	}
	char again[64]; /* "manylinux_2_017_x86_64" is not a platform */
	unsigned major = 2, minor = 0;
	bool legacy = false; /* "manylinux2014", not "manylinux_2_17" */
	for (size_t i = 0; i < WS_LEN(legacy_platforms) && !legacy; i++) {
		snprintf(again, sizeof(again), "%s_%s", legacy_platforms[i].name, machine->name);
		legacy = strcmp(tag, again) == 0;
		minor = legacy_platforms[i].minor;
	}
	if (!legacy && sscanf(tag, "manylinux_%3u_%3u_", &major, &minor) != 2) {
		return NOWHERE;
	}
	snprintf(again, sizeof(again), "manylinux_%u_%u_%s", major, minor, machine->name);
	if ((!legacy && strcmp(tag, again) != 0) || major < 2 || (major == 2 && minor < oldest)
		|| major > glibc_major || (major == glibc_major && minor > glibc_minor)) {
		return NOWHERE;
	}
	return count_newer(major, minor, glibc_major, glibc_minor) + legacy;
}

/* The minor of "cp312" or "py312"; false for any other word. */
static bool
read_minor(const char *tag, const char *prefix, unsigned *minor)
{
	char again[16];
	if (strncmp(tag, prefix, 2) != 0 || tag[2] != '3' || sscanf(tag + 3, "%3u", minor) != 1) {
		return false;
	}
	snprintf(again, sizeof(again), "%s3%u", prefix, *minor);
	return strcmp(tag, again) == 0;
}

/* Place among py3N, py3, py3(N-1), ... py30. */
static unsigned
place_of_py(const char *tag, const struct ws_python_tag *python)
{
	unsigned minor;
	if (strcmp(tag, "py3") == 0) {
		return 1;
	}
	if (!read_minor(tag, "py", &minor) || minor > python->minor) {
		return NOWHERE;
	}
	return minor == python->minor ? 0 : 1 + python->minor - minor;
}

/* Place of "tag-abi" among those that are combined with every platform. */
static unsigned
place_of_pair(const char *tag, const char *abi, const struct ws_python_tag *python)
{
	const char *threads = python->free_threaded ? "t" : "";
	char own[16], stable[8];
	unsigned minor;
	snprintf(own, sizeof(own), "cp3%u%s", python->minor, threads);
	snprintf(stable, sizeof(stable), "abi3%s", threads);
	bool none = strcmp(abi, "none") == 0;
	if (!read_minor(tag, "cp", &minor)) {
		unsigned py = place_of_py(tag, python);
		return none && py != NOWHERE ? python->minor + 1 + py : NOWHERE;
	}
	if (minor == python->minor) {
		return strcmp(abi, own) == 0 ? 0 : strcmp(abi, stable) == 0 ? 1 : none ? 2 : NOWHERE;
	}
	if (minor > python->minor || minor < 2 || strcmp(abi, stable) != 0) {
		return NOWHERE;
	}
	return 2 + python->minor - minor;
}

static unsigned
lesser(unsigned x, unsigned y)
{
	return x < y ? x : y;
}

const struct ws_machine *
ws_wheel_name_machine(const struct ws_wheel_name *name)
{
	for (size_t i = 0; i < name->platform_count; i++) {
		for (const char *at = strchr(name->platforms[i], '_'); at; at = strchr(at + 1, '_')) {
			const struct ws_machine *machine = ws_machine_named(at + 1);
			if (machine) {
				return machine;
			}
		}
	}
	return NULL;
}

unsigned
ws_wheel_fit(const struct ws_wheel_name *name, const struct ws_python_tag *python,
	const struct ws_machine *machine, unsigned glibc_major, unsigned glibc_minor)
{
	if (python->major != 3 || python->minor < 2) {
		return 0;
	}
	unsigned platform = NOWHERE;
	unsigned platform_count = 1;
	bool has_any = false;
	for (size_t i = 0; i < name->platform_count; i++) {
		const char *text = name->platforms[i];
		platform = lesser(
			platform, place_of_platform(text, machine, glibc_major, glibc_minor, &platform_count));
		has_any = has_any || strcmp(text, "any") == 0;
	}
	unsigned pair = NOWHERE;
	unsigned any = NOWHERE;
	for (size_t i = 0; i < name->python_count * name->abi_count; i++) {
		const char *tag = name->pythons[i / name->abi_count];
		const char *abi = name->abis[i % name->abi_count];
		pair = lesser(pair, place_of_pair(tag, abi, python));
		unsigned minor, py = place_of_py(tag, python);
		if (strcmp(abi, "none") == 0 && read_minor(tag, "cp", &minor)) {
			any = minor == python->minor ? 0 : any;
		} else if (strcmp(abi, "none") == 0 && py != NOWHERE) {
			any = lesser(any, 1 + py);
		}
	}
	unsigned any_count = python->minor + 3;
	if (pair != NOWHERE && platform != NOWHERE) {
		unsigned pair_count = 2 * python->minor + 3;
		return any_count + (pair_count - pair) * platform_count - platform;
	}
	return has_any && any != NOWHERE ? any_count - any : 0;
}

/* The rest of a label. */
struct scan {
	const char *at;
	struct ws_arena *a;
};

static bool
read_word(struct scan *scan, const char *word)
{
	if (!ws_starts_with(scan->at, word)) {
		return false;
	}
	scan->at += strlen(word);
	return true;
}

static struct ws_str
read_digits(struct scan *scan)
{
	const char *start = scan->at;
	while (ws_is_digit(*scan->at)) {
		scan->at++;
	}
	return (struct ws_str){start, (size_t)(scan->at - start)};
}

/* "2.4" of "2.4", "24" of "24": digits, and behind a dot those of a second number. */
static const char *
read_number(struct scan *scan)
{
	const char *start = scan->at += *scan->at == '.';
	read_digits(scan);
	if (scan->at > start && *scan->at == '.' && ws_is_digit(scan->at[1])) {
		scan->at++;
		read_digits(scan);
	}
	return scan->at > start ? ws_arena_copy(scan->a, start, (size_t)(scan->at - start)) : NULL;
}

/* "2.4" of "2.4" and of "24", "2.10" of "210", "2.5" of "251", "2.11" of "2110": without dots a
 * minor that begins with 1 has two digits where there are two; torch 2.1.x, which that misreads,
 * was before such names. */
static const char *
torch_minor(const char *number, struct ws_arena *a)
{
	if (!number || strchr(number, '.') || strlen(number) < 2) {
		return number;
	}
	int digits = number[1] == '1' && number[2] ? 2 : 1;
	return ws_arena_printf(a, "%c.%.*s", number[0], digits, number + 1);
}

const char *
ws_wheel_label_cuda(const char *digits, struct ws_arena *a)
{
	size_t len = strlen(digits);
	size_t plain = strspn(digits, "0123456789");
	if (plain == len && len >= 3 && len <= 4) {
		return ws_arena_printf(a, "%.*s.%c", (int)len - 1, digits, digits[len - 1]);
	}
	bool major = plain == len && len >= 1 && len <= 2;
	bool dotted = plain >= 1 && plain <= 2 && digits[plain] == '.' && ws_is_digit(digits[plain + 1])
		&& strspn(digits + plain + 1, "0123456789") == len - plain - 1;
	return major || dotted ? digits : NULL;
}

/* "80.90ptx.90a", the numbers of our own labels, or "80sm90sm100". */
static struct ws_arch_set
read_archs(struct scan *scan)
{
	WS_VEC(struct ws_arch) archs = {0};
	do {
		scan->at += *scan->at == '.' && ws_is_digit(scan->at[1]);
		struct ws_str digits = read_digits(scan);
		if (digits.n == 0 || digits.n > 4) {
			break;
		}
		struct ws_arch *arch = ws_vec_push(&archs, scan->a);
		arch->number = (unsigned)strtoul(digits.s, NULL, 10);
		if (*scan->at == 'a' || *scan->at == 'f') {
			arch->suffix = *scan->at++;
		}
		arch->ptx = read_word(scan, "ptx");
	} while (read_word(scan, "sm") || (*scan->at == '.' && ws_is_digit(scan->at[1])));
	return ws_arch_set_of(archs.at, archs.len);
}

struct ws_wheel_label
ws_wheel_label_read(const char *local, struct ws_arena *a)
{
	struct ws_wheel_label label = {.cxx11abi = -1};
	struct scan scan = {local ? local : "", a};
	while (*scan.at) {
		if (read_word(&scan, "cxx11abi")) {
			scan.at += *scan.at == '.';
			bool is_one = read_word(&scan, "true") || read_word(&scan, "1");
			bool is_zero = !is_one && (read_word(&scan, "false") || read_word(&scan, "0"));
			label.cxx11abi = is_one ? 1 : is_zero ? 0 : -1;
		} else if (read_word(&scan, "tcu")) {
			const char *number = read_number(&scan);
			label.torch_cuda = number ? ws_wheel_label_cuda(number, a) : NULL;
		} else if (read_word(&scan, "torch") || read_word(&scan, "pt")) {
			const char *torch = label.torch = torch_minor(read_number(&scan), a);
			const char *dot = torch ? strchr(torch, '.') : NULL;
			label.torch_major = torch ? (unsigned)strtoul(torch, NULL, 10) : 0;
			label.torch_minor = dot ? (unsigned)strtoul(dot + 1, NULL, 10) : 0;
		} else if (read_word(&scan, "cuda") || read_word(&scan, "cu")) {
			const char *number = read_number(&scan);
			label.cuda = number ? ws_wheel_label_cuda(number, a) : NULL;
			const char *dot = label.cuda ? strchr(label.cuda, '.') : NULL;
			label.cuda_major = label.cuda ? (unsigned)strtoul(label.cuda, NULL, 10) : 0;
			label.cuda_minor = dot ? (int)strtol(dot + 1, NULL, 10) : -1;
		} else if (read_word(&scan, "sm")) {
			label.archs = read_archs(&scan);
		} else if (read_word(&scan, "cpu")) {
			label.cpu = true;
		} else {
			scan.at++;
		}
	}
	return label;
}
