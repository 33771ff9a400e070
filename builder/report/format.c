/* format.c - rounding and units. */
#include "report/format.h"

#include <stdio.h>

typedef unsigned long long wide;

const char *
ws_format_clock(uint64_t ms, char text[WS_FORMAT_BYTES])
{
	uint64_t s = (ms + 999) / 1000;
	if (s >= 3600) {
		snprintf(text, WS_FORMAT_BYTES, "%llu:%02llu:%02llu", (wide)(s / 3600), (wide)(s / 60 % 60),
			(wide)(s % 60));
	} else {
		snprintf(text, WS_FORMAT_BYTES, "%llu:%02llu", (wide)(s / 60), (wide)(s % 60));
	}
	return text;
}

const char *
ws_format_duration(uint64_t ms, char text[WS_FORMAT_BYTES])
{
	uint64_t s = ms / 1000;
	if (s < 10) {
		snprintf(text, WS_FORMAT_BYTES, "%llu.%llu s", (wide)s, (wide)(ms % 1000 / 100));
	} else if (s < 60) {
		snprintf(text, WS_FORMAT_BYTES, "%llu s", (wide)s);
	} else if (s < 3600) {
		snprintf(text, WS_FORMAT_BYTES, "%llu m %llu s", (wide)(s / 60), (wide)(s % 60));
	} else {
		snprintf(text, WS_FORMAT_BYTES, "%llu h %llu m", (wide)(s / 3600), (wide)(s / 60 % 60));
	}
	return text;
}

const char *
ws_format_memory(uint64_t bytes, char text[WS_FORMAT_BYTES])
{
	double mib = (double)bytes / (1 << 20);
	if (mib < 1000) {
		snprintf(text, WS_FORMAT_BYTES, "%.0f MiB", mib);
	} else {
		snprintf(text, WS_FORMAT_BYTES, "%.1f GiB", mib / 1024);
	}
	return text;
}

const char *
ws_format_size(uint64_t bytes, char text[WS_FORMAT_BYTES])
{
	double size = (double)bytes;
	if (bytes < 1000) {
		snprintf(text, WS_FORMAT_BYTES, "%llu B", (wide)bytes);
	} else if (size < 999.5e3) {
		snprintf(text, WS_FORMAT_BYTES, "%.0f kB", size / 1e3);
	} else if (size < 999.95e6) {
		snprintf(text, WS_FORMAT_BYTES, "%.1f MB", size / 1e6);
	} else {
		snprintf(text, WS_FORMAT_BYTES, "%.2f GB", size / 1e9);
	}
	return text;
}
