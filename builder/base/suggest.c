/* suggest.c - optimal string alignment distance over three rows. Words over 63 bytes get no
 * suggestion: a typing error in those is seldom one letter. */
#include "base/suggest.h"

#include "base/str.h"

#include <string.h>

#define LONGEST 64

static unsigned
least(unsigned x, unsigned y, unsigned z)
{
	unsigned low = x < y ? x : y;
	return low < z ? low : z;
}

static unsigned
distance(const char *x, size_t n, const char *y, size_t m)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];
	for (size_t j = 0; j <= m; j++) {
		last[j] = (unsigned)j;
	}
	for (size_t i = 1; i <= n; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned differs = ws_lower(x[i - 1]) != ws_lower(y[j - 1]);
			row[j] = least(last[j] + 1, row[j - 1] + 1, last[j - 1] + differs);
			if (i > 1 && j > 1 && ws_lower(x[i - 1]) == ws_lower(y[j - 2])
				&& ws_lower(x[i - 2]) == ws_lower(y[j - 1]) && before[j - 2] + 1 < row[j]) {
				row[j] = before[j - 2] + 1;
			}
		}
		unsigned *spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[m];
}

const char *
ws_suggest(const char *word, const char *const *candidates, size_t count)
{
	size_t len = strlen(word);
	unsigned nearest = (unsigned)(len + 2) / 3 + 1;
	const char *best = NULL;
	if (len >= LONGEST) {
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		size_t other = strlen(candidates[i]);
		if (other >= LONGEST) {
			continue;
		}
		unsigned d = distance(word, len, candidates[i], other);
		if (d < nearest) {
			nearest = d;
			best = candidates[i];
		}
	}
	return best;
}
