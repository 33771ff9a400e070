/* wheel_label.c - words of a label that are not known say nothing. */
#include "model/wheel_label.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* What is left of a label. */
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

static int
read_abi(struct scan *scan)
{
	scan->at += *scan->at == '.';
	if (read_word(scan, "true") || read_word(scan, "1")) {
		return 1;
	}
	return read_word(scan, "false") || read_word(scan, "0") ? 0 : -1;
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

static void
read_part(struct scan *scan, struct ws_wheel_label *label)
{
	if (read_word(scan, "cxx11abi")) {
		label->cxx11abi = read_abi(scan);
	} else if (read_word(scan, "tcu")) {
		const char *number = read_number(scan);
		label->torch_cuda = number ? ws_wheel_label_cuda(number, scan->a) : NULL;
	} else if (read_word(scan, "torch") || read_word(scan, "pt")) {
		label->torch = torch_minor(read_number(scan), scan->a);
	} else if (read_word(scan, "cuda") || read_word(scan, "cu")) {
		const char *number = read_number(scan);
		label->cuda = number ? ws_wheel_label_cuda(number, scan->a) : NULL;
	} else if (read_word(scan, "sm")) {
		label->archs = read_archs(scan);
	} else if (read_word(scan, "cpu")) {
		label->cpu = true;
	} else {
		scan->at++;
	}
}

struct ws_wheel_label
ws_wheel_label_read(const char *local, struct ws_arena *a)
{
	struct ws_wheel_label label = {.cxx11abi = -1};
	struct scan scan = {local ? local : "", a};
	while (*scan.at) {
		read_part(&scan, &label);
	}
	return label;
}
