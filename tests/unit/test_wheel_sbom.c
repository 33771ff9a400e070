/* test_wheel_sbom.c - the bill of materials, to the byte. */
#include "test.h"

#include "wheel/wheel.h"

WS_TEST(parts_are_sorted_and_nothing_varies)
{
	static const struct ws_sbom_part wheel = {
		.name = "demo", .version = "1.0+cu.12.4", .purl = "pkg:pypi/demo@1.0%2Bcu.12.4"};
	static const char sum[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
	const struct ws_sbom_part parts[] = {
		{.name = "torch", .version = "2.5.1", .purl = "pkg:pypi/torch@2.5.1", .sha256 = sum},
		{.name = "gcc", .version = "12.2.0", .application = true, .sha256 = ""},
		{.name = "demo", .version = "0123456789abcdef", .url = "https://example.org/demo.git"},
		{.name = "cuda", .url = "https://example.org/nvcc.tar.xz", .sha256 = sum},
	};
	const struct ws_sbom_part mixed[] = {parts[2], parts[0], parts[3], parts[1]};
	WS_AUTO_BUF struct ws_buf one = {0};
	WS_AUTO_BUF struct ws_buf two = {0};
	ws_sbom_write(&wheel, parts, WS_LEN(parts), &one);
	ws_sbom_write(&wheel, mixed, WS_LEN(mixed), &two);
	assert_string_equal(ws_buf_text(&one), ws_buf_text(&two));
	const char *text = ws_buf_text(&one);
	assert_contains(text, "\"bomFormat\": \"CycloneDX\"");
	assert_contains(text, "\"specVersion\": \"1.5\"");
	assert_contains(text, "\"name\": \"wheelsmith\"");
	assert_contains(text, "\"purl\": \"pkg:pypi/demo@1.0%2Bcu.12.4\"");
	assert_null(strstr(text, "timestamp"));
	assert_null(strstr(text, "serialNumber"));
	const char *cuda = strstr(text, "\"name\": \"cuda\"");
	const char *demo = strstr(text, "\"version\": \"0123456789abcdef\"");
	const char *gcc = strstr(text, "\"name\": \"gcc\"");
	const char *torch = strstr(text, "\"name\": \"torch\"");
	assert_true(cuda && cuda < demo && demo < gcc && gcc < torch);
	assert_contains(cuda, "\"type\": \"distribution\"");
	assert_contains(demo, "\"type\": \"vcs\"");
	assert_contains(torch, sum);
	assert_null(memmem(gcc, (size_t)(torch - gcc), "hashes", 6));
}

WS_TEST(a_wheel_of_nothing_has_an_empty_list)
{
	static const struct ws_sbom_part wheel = {.name = "demo", .version = "1.0"};
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_sbom_write(&wheel, NULL, 0, &text);
	assert_contains(ws_buf_text(&text), "\"components\": []");
}
