/* test_base_blake2b.c - lengths around the block's, in pieces of every size; expected from Python's hashlib. */
#include "test.h"

#include "base/blake2b.h"

static const struct {
	size_t len;
	const char *hex;
} cases[] = {
	{0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
	{1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"},
	{127, "1bb3d24376d0b5840955e640c6a8a4830cd69af0b7ad71a409d2a30c6a374abb"},
	{128, "9101ed0a248b57efc0c6070cfbf9cf316c182d125ad6191c1f7783c3d32b6346"},
	{129, "60f5e954d1a1775362ffd0762ed37bbe101ed5e88896dd793f1a889786fb3132"},
	{255, "9399bcd4acec0cc0e9dec7267671a6f2e65568dc917afb54791da24523a71b32"},
	{256, "45d503f4fc344944eeff959e1e2234c47884011023598cadbd934f08d4265016"},
	{257, "4ad285edc2490602fd02d61df8008d95887039bade83dae8a1e207ae1cac33ac"},
	{1000, "a494537cc57474059ebe7a7f7a76c03306551355abebb1967408ed04e7564fa9"},
	{65541, "51a7164b116d3f4354dcc52a38bb63e94dee5caae12c9c95178b151d76a9afef"},
};

WS_TEST(any_length_in_any_pieces)
{
	static const size_t steps[] = {1, 7, 127, 128, 129, 100000};
	unsigned char *bytes = ws_arena_alloc(a, 65541);
	for (size_t i = 0; i < 65541; i++) {
		bytes[i] = (unsigned char)(i * 7 % 251);
	}
	for (size_t i = 0; i < WS_LEN(cases) * WS_LEN(steps); i++) {
		size_t len = cases[i / WS_LEN(steps)].len, step = steps[i % WS_LEN(steps)];
		struct ws_blake2b b;
		unsigned char digest[WS_BLAKE2B_BYTES];
		ws_blake2b_begin(&b);
		for (size_t at = 0; at < len; at += step) {
			ws_blake2b_add(&b, bytes + at, len - at < step ? len - at : step);
		}
		ws_blake2b_finish(&b, digest);
		for (size_t byte = 0; byte < sizeof(digest); byte++) {
			char hex[3];
			snprintf(hex, sizeof(hex), "%02x", digest[byte]);
			assert_memory_equal(hex, cases[i / WS_LEN(steps)].hex + 2 * byte, 2);
		}
	}
}
