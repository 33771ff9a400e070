/* version.c - PEP 440, appendix B's grammar in one pass, and the clauses of specifiers. Each part
 * of a version is optional and unambiguous. */
#include "model/version.h"

#include "base/text.h"

#include <limits.h>
#include <strings.h>

/* str.isspace() of Python for ASCII. Wider than ws_str_trim. */
static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

/* One way to spell the letters of a part. A longer word stands before its own prefix. */
struct spelling {
	const char *word;
	int means;
};

static const struct spelling pre_words[] = {
	{"alpha", WS_PRE_A},
	{"a", WS_PRE_A},
	{"beta", WS_PRE_B},
	{"b", WS_PRE_B},
	{"preview", WS_PRE_RC},
	{"pre", WS_PRE_RC},
	{"c", WS_PRE_RC},
	{"rc", WS_PRE_RC},
};
static const struct spelling post_words[] = {{"post", 1}, {"rev", 1}, {"r", 1}};
static const struct spelling dev_words[] = {{"dev", 1}};

static const char *const pre_letters[] = {
	[WS_PRE_NONE] = "",
	[WS_PRE_A] = "a",
	[WS_PRE_B] = "b",
	[WS_PRE_RC] = "rc",
};

static bool
is_separator(char c)
{
	return c == '.' || c == '-' || c == '_';
}

/* Digits without leading zeros; NULL when there are none. */
static const char *
read_number(const char **at, struct ws_arena *a)
{
	const char *start = *at;
	while (ws_is_digit(**at)) {
		++*at;
	}
	if (*at == start) {
		return NULL;
	}
	while (*start == '0' && *at - start > 1) {
		start++;
	}
	return ws_arena_copy(a, start, (size_t)(*at - start));
}

/* [._-]? WORD [._-]? [0-9]*: what the word means, or 0 with nothing taken. */
static int
read_part(const char **at, const struct spelling *words, size_t count, struct ws_arena *a,
	const char **number)
{
	const char *word = *at + is_separator(**at);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(words[i].word);
		if (strncasecmp(word, words[i].word, len) != 0) {
			continue;
		}
		*at = word + len;
		*at += is_separator(**at);
		*number = read_number(at, a);
		*number = *number ? *number : "0";
		return words[i].means;
	}
	return 0;
}

/* The epoch and the numbers between dots. */
static bool
read_release(const char **at, struct ws_arena *a, struct ws_version *version)
{
	version->epoch = "0";
	const char *first = read_number(at, a);
	if (first && **at == '!') {
		++*at;
		version->epoch = first;
		first = read_number(at, a);
	}
	if (!first) {
		return false;
	}
	size_t most = 1;
	for (const char *c = *at; ws_is_digit(*c) || *c == '.'; c++) {
		most += *c == '.';
	}
	const char **release = WS_NEW_N(a, const char *, most);
	release[version->release_count++] = first;
	while (**at == '.' && ws_is_digit((*at)[1])) {
		++*at;
		release[version->release_count++] = read_number(at, a);
	}
	version->release = release;
	return true;
}

/* "+ubuntu-01": segments between separators, numbers without leading zeros, lower case. */
static bool
read_local(const char **at, struct ws_arena *a, struct ws_version *version)
{
	if (**at != '+') {
		return true;
	}
	WS_AUTO_BUF struct ws_buf label = {0};
	do {
		const char *start = ++*at;
		bool digits = true;
		while (ws_is_digit(**at) || ws_is_letter(**at)) {
			digits = digits && ws_is_digit(**at);
			++*at;
		}
		if (*at == start) {
			return false;
		}
		while (digits && *start == '0' && *at - start > 1) {
			start++;
		}
		if (label.len > 0) {
			ws_buf_putc(&label, '.');
		}
		for (; start < *at; start++) {
			ws_buf_putc(&label, ws_lower(*start));
		}
	} while (is_separator(**at));
	version->local = ws_buf_copy(&label, a);
	return true;
}

static const char *
number_at(const struct ws_version *version, size_t index)
{
	return index < version->release_count ? version->release[index] : "0";
}

/* UINT_MAX stands for every number that is larger. */
static unsigned
small_number(const struct ws_version *version, size_t index)
{
	uint64_t value;
	bool fits = ws_str_to_u64(ws_str_of(number_at(version, index)), &value) && value < UINT_MAX;
	return fits ? (unsigned)value : UINT_MAX;
}

/* The members that follow from the parsed ones. */
static void
fill_derived(struct ws_version *version, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	if (strcmp(version->epoch, "0") != 0) {
		ws_buf_printf(&b, "%s!", version->epoch);
	}
	for (size_t i = 0; i < version->release_count; i++) {
		ws_buf_puts(&b, i > 0 ? "." : "");
		ws_buf_puts(&b, version->release[i]);
	}
	if (version->pre_number) {
		ws_buf_printf(&b, "%s%s", pre_letters[version->pre], version->pre_number);
	}
	if (version->post_number) {
		ws_buf_printf(&b, ".post%s", version->post_number);
	}
	if (version->dev_number) {
		ws_buf_printf(&b, ".dev%s", version->dev_number);
	}
	version->public_text = ws_buf_copy(&b, a);
	version->text = version->local
		? ws_arena_printf(a, "%s+%s", version->public_text, version->local)
		: version->public_text;
	version->major = small_number(version, 0);
	version->minor = small_number(version, 1);
}

bool
ws_version_parse(const char *text, struct ws_arena *a, struct ws_version *version)
{
	const char *at = text;
	struct ws_version read = {0};
	while (is_space(*at)) {
		at++;
	}
	at += *at == 'v' || *at == 'V';
	if (!read_release(&at, a, &read)) {
		return false;
	}
	read.pre =
		(enum ws_version_pre)read_part(&at, pre_words, WS_LEN(pre_words), a, &read.pre_number);
	if (*at == '-' && ws_is_digit(at[1])) { /* "1.0-1": a post-release without its word */
		at++;
		read.post_number = read_number(&at, a);
	} else {
		read_part(&at, post_words, WS_LEN(post_words), a, &read.post_number);
	}
	read_part(&at, dev_words, WS_LEN(dev_words), a, &read.dev_number);
	if (!read_local(&at, a, &read)) {
		return false;
	}
	while (is_space(*at)) {
		at++;
	}
	if (*at) {
		return false;
	}
	fill_derived(&read, a);
	*version = read;
	return true;
}

/* Numbers of any length, without leading zeros: the longer is the larger. */
static int
cmp_numbers(const char *x, const char *y)
{
	size_t x_len = strlen(x);
	size_t y_len = strlen(y);
	return x_len == y_len ? strcmp(x, y) : (x_len > y_len) - (x_len < y_len);
}

/* dev alone < a < b < rc < none. */
static int
rank_of_pre(const struct ws_version *version)
{
	if (version->pre != WS_PRE_NONE) {
		return (int)version->pre;
	}
	return version->dev_number && !version->post_number ? 0 : WS_PRE_RC + 1;
}

/* A part that one side may lack; @a absent says whether lacking it makes a version less or more. */
static int
cmp_parts(const char *x, const char *y, int absent)
{
	if (x && y) {
		return cmp_numbers(x, y);
	}
	return x ? -absent : y ? absent : 0;
}

int
ws_version_cmp_public(const struct ws_version *x, const struct ws_version *y)
{
	size_t longer = x->release_count > y->release_count ? x->release_count : y->release_count;
	int order = cmp_numbers(x->epoch, y->epoch);
	for (size_t i = 0; i < longer && !order; i++) {
		order = cmp_numbers(number_at(x, i), number_at(y, i));
	}
	if (order || (order = rank_of_pre(x) - rank_of_pre(y))
		|| (order = cmp_parts(x->pre_number, y->pre_number, 0))
		|| (order = cmp_parts(x->post_number, y->post_number, -1))) {
		return order;
	}
	return cmp_parts(x->dev_number, y->dev_number, 1);
}

int
ws_version_cmp(const struct ws_version *x, const struct ws_version *y)
{
	int order = ws_version_cmp_public(x, y);
	const char *left = x->local, *right = y->local;
	/* By segment. Words sort by bytes and before numbers; numbers have no leading zeros. */
	while (left && right && !order) {
		size_t len = strcspn(left, "."), other = strcspn(right, ".");
		bool is_word = strspn(left, "0123456789") < len;
		bool is_other = strspn(right, "0123456789") < other;
		order = is_word != is_other   ? (is_word ? -1 : 1)
			: is_word || len == other ? memcmp(left, right, len < other ? len : other)
									  : 0;
		order = order ? order : (len > other) - (len < other);
		left = left[len] ? left + len + 1 : NULL;
		right = right[other] ? right + other + 1 : NULL;
	}
	return order ? order : (left != NULL) - (right != NULL);
}

bool
ws_version_in_series(const struct ws_version *version, const struct ws_version *of, size_t count)
{
	if (strcmp(version->epoch, of->epoch) != 0) {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (strcmp(number_at(version, i), number_at(of, i)) != 0) {
			return false;
		}
	}
	return true;
}

const char *
ws_version_minor(const struct ws_version *version, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s.%s", number_at(version, 0), number_at(version, 1));
}

bool
ws_version_is_prerelease(const struct ws_version *version)
{
	return version->pre != WS_PRE_NONE || version->dev_number;
}

/* A limit: sets come from index pages, and writing a set compares all pairs. */
#define MOST_CLAUSES 256

enum relation {
	OP_ARBITRARY,
	OP_COMPATIBLE,
	OP_EQUAL,
	OP_NOT_EQUAL,
	OP_AT_MOST,
	OP_AT_LEAST,
	OP_BELOW,
	OP_ABOVE,
};

/* In the order in which they are looked for: longer ones first. */
static const char *const operators[] = {
	[OP_ARBITRARY] = "===",
	[OP_COMPATIBLE] = "~=",
	[OP_EQUAL] = "==",
	[OP_NOT_EQUAL] = "!=",
	[OP_AT_MOST] = "<=",
	[OP_AT_LEAST] = ">=",
	[OP_BELOW] = "<",
	[OP_ABOVE] = ">",
};

/* One comparison: ">=2.3". */
struct clause {
	enum relation op;
	bool wildcard;             /* "==2.5.*" */
	const char *text;          /* operator and operand as written, without white space */
	const char *operand;       /* within text */
	struct ws_version version; /* of the operand; empty for OP_ARBITRARY when it is none */
	bool has_version;
};

struct ws_specifiers {
	const struct clause *clauses;
	size_t count;
	bool prereleases; /* a clause names a pre-release */
	const char *text;
};

static struct ws_str
trim(struct ws_str str)
{
	while (str.n > 0 && is_space(str.s[0])) {
		str.s++;
		str.n--;
	}
	while (str.n > 0 && is_space(str.s[str.n - 1])) {
		str.n--;
	}
	return str;
}

static bool
parse_clause(struct ws_str text, struct ws_arena *a, struct clause *clause)
{
	struct ws_version *v = &clause->version;
	size_t op = 0;
	while (op < WS_LEN(operators)
		&& (text.n < strlen(operators[op])
			|| memcmp(text.s, operators[op], strlen(operators[op])) != 0)) {
		op++;
	}
	if (op == WS_LEN(operators)) {
		return false;
	}
	size_t len = strlen(operators[op]);
	struct ws_str operand = trim((struct ws_str){text.s + len, text.n - len});
	clause->op = (enum relation)op;
	clause->text = ws_arena_printf(a, "%s%.*s", operators[op], WS_STR_ARGS(operand));
	clause->operand = clause->text + len;
	bool equality = clause->op == OP_EQUAL || clause->op == OP_NOT_EQUAL;
	if (clause->op == OP_ARBITRARY) { /* any text but white space, ';' and ')' */
		clause->has_version = ws_version_parse(clause->operand, a, v);
		return !strpbrk(clause->operand, " \t\n\v\f\r\x1c\x1d\x1e\x1f;)");
	}
	clause->has_version = true;
	clause->wildcard = equality && ws_ends_with(clause->operand, ".*");
	len = strlen(clause->operand) - (clause->wildcard ? 2 : 0);
	if (!ws_version_parse(ws_arena_copy(a, clause->operand, len), a, v)) {
		return false;
	}
	if (clause->wildcard) { /* "2.5.*": only an epoch and a release may precede the star */
		return v->pre == WS_PRE_NONE && !v->post_number && !v->dev_number && !v->local;
	}
	return (clause->op != OP_COMPATIBLE || v->release_count >= 2) && (equality || !v->local);
}

static int
cmp_clauses(const void *x, const void *y)
{
	const struct clause *left = x;
	const struct clause *right = y;
	return strcmp(left->text, right->text);
}

/* ==1.0 is ==1.0.0; but ~=1.0 is not ~=1.0.0, and neither are wildcards and "===". */
static bool
same_clause(const struct clause *x, const struct clause *y)
{
	if (x->op != y->op || x->wildcard != y->wildcard) {
		return false;
	}
	if (x->op == OP_ARBITRARY || x->wildcard) {
		return strcmp(x->operand, y->operand) == 0;
	}
	return x->op == OP_COMPATIBLE ? strcmp(x->version.text, y->version.text) == 0
								  : ws_version_cmp(&x->version, &y->version) == 0;
}

const struct ws_specifiers *
ws_specifiers_parse(const char *text, struct ws_arena *a)
{
	WS_VEC(struct clause) clauses = {0};
	struct ws_specifiers *set = WS_NEW(a, struct ws_specifiers);
	struct ws_str rest = ws_str_of(text);
	while (rest.s) {
		struct ws_str part = trim(ws_str_cut(&rest, ','));
		if (part.n == 0) {
			continue;
		}
		struct clause *clause = ws_vec_push(&clauses, a);
		if (clauses.len > MOST_CLAUSES || !parse_clause(part, a, clause)) {
			return NULL;
		}
		/* "!=" and wildcards do not ask for pre-releases by naming one. */
		set->prereleases = set->prereleases
			|| (clause->op != OP_NOT_EQUAL && !clause->wildcard && clause->has_version
				&& ws_version_is_prerelease(&clause->version));
	}
	if (clauses.len > 1) {
		qsort(clauses.at, clauses.len, sizeof(*clauses.at), cmp_clauses);
	}
	set->clauses = clauses.at;
	set->count = clauses.len;
	/* Each clause once. Equal ones need not be neighbours: "==1", "==1.1", "==1.0". */
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < clauses.len; i++) {
		size_t j = 0;
		while (j < i && !same_clause(&clauses.at[j], &clauses.at[i])) {
			j++;
		}
		if (j == i) {
			ws_buf_printf(&b, "%s%s", b.len > 0 ? "," : "", clauses.at[i].text);
		}
	}
	set->text = ws_buf_copy(&b, a);
	return set;
}

static bool
is_equal(const struct ws_version *version, const struct clause *clause)
{
	if (clause->wildcard) {
		return ws_version_in_series(version, &clause->version, clause->version.release_count);
	}
	return clause->version.local ? ws_version_cmp(version, &clause->version) == 0
								 : ws_version_cmp_public(version, &clause->version) == 0;
}

static bool
clause_holds(const struct clause *clause, const struct ws_version *version)
{
	const struct ws_version *limit = &clause->version;
	struct ws_version other;
	switch (clause->op) {
	case OP_ARBITRARY:
		return strcasecmp(version->text, clause->operand) == 0;
	case OP_COMPATIBLE:
		return ws_version_cmp(version, limit) >= 0
			&& ws_version_in_series(version, limit, limit->release_count - 1);
	case OP_EQUAL:
		return is_equal(version, clause);
	case OP_NOT_EQUAL:
		return !is_equal(version, clause);
	case OP_AT_MOST:
		return ws_version_cmp_public(version, limit) <= 0;
	case OP_AT_LEAST:
		return ws_version_cmp(version, limit) >= 0;
	case OP_BELOW:
		/* Below, and not a pre-release of the clause's version unless that is one itself. */
		other = *limit;
		other.dev_number = ws_version_is_prerelease(limit) ? other.dev_number : "0";
		return ws_version_cmp(version, &other) < 0;
	case OP_ABOVE:
		/* Above, and no post-release of the clause's version. Where that is a post- or development
		 * release itself, nothing stripped of both equals it. */
		other = *version;
		other.post_number = other.dev_number = NULL;
		return ws_version_cmp_public(version, limit) > 0
			&& ws_version_cmp_public(&other, limit) != 0;
	}
	return false;
}

bool
ws_specifiers_contain(
	const struct ws_specifiers *set, const struct ws_version *version, bool prereleases)
{
	if (ws_version_is_prerelease(version) && !prereleases && !set->prereleases) {
		return false;
	}
	for (size_t i = 0; i < set->count; i++) {
		if (!clause_holds(&set->clauses[i], version)) {
			return false;
		}
	}
	return true;
}

const char *
ws_specifiers_text(const struct ws_specifiers *set)
{
	return set->text;
}
