/* words.c - rounding and units. */
#include "report/words.h"

#include <stdio.h>

typedef unsigned long long wide;

const char *
ws_words_clock(uint64_t ms, char text[WS_WORDS])
{
	uint64_t s = (ms + 999) / 1000;
	if (s >= 3600) {
		snprintf(text, WS_WORDS, "%llu:%02llu:%02llu", (wide)(s / 3600), (wide)(s / 60 % 60),
			(wide)(s % 60));
	} else {
		snprintf(text, WS_WORDS, "%llu:%02llu", (wide)(s / 60), (wide)(s % 60));
	}
	return text;
}

const char *
ws_words_duration(uint64_t ms, char text[WS_WORDS])
{
	uint64_t s = ms / 1000;
	if (s < 10) {
		snprintf(text, WS_WORDS, "%llu.%llu s", (wide)s, (wide)(ms % 1000 / 100));
	} else if (s < 60) {
		snprintf(text, WS_WORDS, "%llu s", (wide)s);
	} else if (s < 3600) {
		snprintf(text, WS_WORDS, "%llu m %llu s", (wide)(s / 60), (wide)(s % 60));
	} else {
		snprintf(text, WS_WORDS, "%llu h %llu m", (wide)(s / 3600), (wide)(s / 60 % 60));
	}
	return text;
}

const char *
ws_words_memory(uint64_t bytes, char text[WS_WORDS])
{
	double mib = (double)bytes / (1 << 20);
	if (mib < 1000) {
		snprintf(text, WS_WORDS, "%.0f MiB", mib);
	} else {
		snprintf(text, WS_WORDS, "%.1f GiB", mib / 1024);
	}
	return text;
}

const char *
ws_words_size(uint64_t bytes, char text[WS_WORDS])
{
	double size = (double)bytes;
	if (bytes < 1000) {
		snprintf(text, WS_WORDS, "%llu B", (wide)bytes);
	} else if (size < 999.5e3) {
		snprintf(text, WS_WORDS, "%.0f kB", size / 1e3);
	} else if (size < 999.95e6) {
		snprintf(text, WS_WORDS, "%.1f MB", size / 1e6);
	} else {
		snprintf(text, WS_WORDS, "%.2f GB", size / 1e9);
	}
	return text;
}
