/* specifier.c - PEP 440's comparison clauses. Declared in version.h; comparing versions is
 * version.c's. */
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/space.h"
#include "model/version.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Far more than anyone writes; sets come from index pages, and writing one compares all pairs. */
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
	while (str.n > 0 && ws_is_space(str.s[0])) {
		str.s++;
		str.n--;
	}
	while (str.n > 0 && ws_is_space(str.s[str.n - 1])) {
		str.n--;
	}
	return str;
}

/* "===" takes any text but white space, ';' and ')'. */
static bool
is_arbitrary(const char *operand)
{
	for (const char *c = operand; *c; c++) {
		if (ws_is_space(*c) || *c == ';' || *c == ')') {
			return false;
		}
	}
	return true;
}

/* "2.5" of "2.5.*": nothing but an epoch and a release may stand before the star. */
static bool
parse_wildcard(struct clause *clause, struct ws_arena *a)
{
	const char *prefix = ws_arena_copy(a, clause->operand, strlen(clause->operand) - 2);
	clause->wildcard = true;
	const struct ws_version *v = &clause->version;
	return ws_version_parse(prefix, a, &clause->version) && v->pre == WS_PRE_NONE && !v->post_number
		&& !v->dev_number && !v->local;
}

static bool
parse_operand(struct clause *clause, struct ws_arena *a)
{
	bool equality = clause->op == OP_EQUAL || clause->op == OP_NOT_EQUAL;
	if (clause->op == OP_ARBITRARY) {
		clause->has_version = ws_version_parse(clause->operand, a, &clause->version);
		return is_arbitrary(clause->operand);
	}
	clause->has_version = true;
	if (equality && ws_ends_with(clause->operand, ".*")) {
		return parse_wildcard(clause, a);
	}
	if (!ws_version_parse(clause->operand, a, &clause->version)) {
		return false;
	}
	if (clause->op == OP_COMPATIBLE && clause->version.release_count < 2) {
		return false;
	}
	return equality || !clause->version.local;
}

static bool
parse_clause(struct ws_str text, struct ws_arena *a, struct clause *clause)
{
	for (size_t op = 0; op < WS_LEN(operators); op++) {
		size_t len = strlen(operators[op]);
		if (text.n < len || memcmp(text.s, operators[op], len) != 0) {
			continue;
		}
		struct ws_str operand = trim((struct ws_str){text.s + len, text.n - len});
		clause->op = (enum relation)op;
		clause->text = ws_arena_printf(a, "%s%.*s", operators[op], WS_STR_ARGS(operand));
		clause->operand = clause->text + len;
		return parse_operand(clause, a);
	}
	return false;
}

/* "!=" and wildcards do not ask for pre-releases by naming one. */
static bool
names_prerelease(const struct clause *clause)
{
	return clause->op != OP_NOT_EQUAL && !clause->wildcard && clause->has_version
		&& ws_version_is_prerelease(&clause->version);
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

/* Writes each clause once. Equal ones need not be neighbours: "==1", "==1.1", "==1.0". */
static const char *
write_set(const struct clause *clauses, size_t count, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < count; i++) {
		size_t j = 0;
		while (j < i && !same_clause(&clauses[j], &clauses[i])) {
			j++;
		}
		if (j == i) {
			ws_buf_puts(&b, b.len > 0 ? "," : "");
			ws_buf_puts(&b, clauses[i].text);
		}
	}
	return ws_buf_copy(&b, a);
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
		set->prereleases = set->prereleases || names_prerelease(clause);
	}
	if (clauses.len > 1) {
		qsort(clauses.at, clauses.len, sizeof(*clauses.at), cmp_clauses);
	}
	set->clauses = clauses.at;
	set->count = clauses.len;
	set->text = write_set(clauses.at, clauses.len, a);
	return set;
}

/* Above, and no post-release of the clause's version. Where that is a post- or development release
 * itself, nothing stripped of both equals it. */
static bool
is_above(const struct ws_version *version, const struct ws_version *limit)
{
	struct ws_version base = *version;
	base.post_number = NULL;
	base.dev_number = NULL;
	return ws_version_cmp_public(version, limit) > 0 && ws_version_cmp_public(&base, limit) != 0;
}

/* Below, and not a pre-release of the clause's version unless that is one itself. */
static bool
is_below(const struct ws_version *version, const struct ws_version *limit)
{
	struct ws_version floor = *limit;
	if (!ws_version_is_prerelease(limit)) {
		floor.dev_number = "0";
	}
	return ws_version_cmp(version, &floor) < 0;
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
		return is_below(version, limit);
	case OP_ABOVE:
		return is_above(version, limit);
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
