/* test_net_index_config.c - whose word counts, and how pip and uv write theirs. */
#include "test.h"

#include "base/fs.h"
#include "net/index_config.h"

static void
put(const char *root, const char *path, const char *text, struct ws_arena *a)
{
	struct ws_err err;
	const char *full = ws_arena_printf(a, "%s%s", root, path);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, full), &err), err);
	assert_ok(ws_fs_write(full, text, strlen(text), 0644, &err), err);
}

/* "a b c" of a role's list. */
static const char *
joined(struct ws_index_list list, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < list.count; i++) {
		ws_buf_printf(&b, "%s%s", i ? " " : "", list.urls[i]);
	}
	return ws_arena_strdup(a, ws_buf_text(&b));
}

WS_TEST(the_nearest_source_of_a_role_counts)
{
	const char *const options[] = {
		"https://o1/simple", "torch=https://t1/whl", "https://o2/simple"};
	const char *const matrix_urls[] = {"https://m/simple"};
	const struct ws_index_role matrix[] = {
		{"default", matrix_urls, 1}, {"torch", matrix_urls, 1}, {"cuda", matrix_urls, 1}};
	const char *const vars[] = {"WHEELSMITH_INDEX=https://w/simple\n kernels=https://k/simple",
		"PIP_INDEX_URL=https://p/", NULL};
	struct ws_index_sources sources = {
		.options = options,
		.options_from = "--index",
		.option_count = 3,
		.matrix = matrix,
		.matrix_count = 3,
		.env = {vars, ws_test_dir(a), NULL},
	};
	struct ws_index_config config;
	struct ws_err err;
	assert_ok(ws_index_config_read(&sources, a, &config, &err), err);
	struct ws_index_list list = ws_index_config_list(&config, NULL, a);
	assert_string_equal(joined(list, a), "https://o1/simple https://o2/simple");
	assert_false(list.all);
	list = ws_index_config_list(&config, "torch", a);
	assert_string_equal(joined(list, a), "https://t1/whl https://o1/simple https://o2/simple");
	assert_true(list.all);
	list = ws_index_config_list(&config, "cuda", a);
	assert_string_equal(joined(list, a), "https://m/simple https://o1/simple https://o2/simple");
	list = ws_index_config_list(&config, "kernels", a);
	assert_string_equal(joined(list, a), "https://k/simple https://o1/simple https://o2/simple");
	list = ws_index_config_list(&config, "unheard-of", a);
	assert_int_equal(list.count, 2);
	assert_string_equal(config.choices[0].from, "--index");
}

static struct ws_index_config
read_from(const char *root, const char *const *vars, struct ws_arena *a)
{
	struct ws_index_sources sources = {.env = {vars, root, NULL}};
	struct ws_index_config config;
	struct ws_err err;
	assert_ok(ws_index_config_read(&sources, a, &config, &err), err);
	return config;
}

/* The default role with these variables and the present files. */
static const char *
default_with(const char *root, const char *const *vars, const char **from, struct ws_arena *a)
{
	struct ws_index_config config = read_from(root, vars, a);
	*from = config.choices[0].from;
	return joined(ws_index_config_list(&config, "default", a), a);
}

WS_TEST(each_source_gives_way_to_the_one_before)
{
	const char *root = ws_test_dir(a);
	const char *from;
	const char *vars[] = {"HOME=/home/me", "UV_DEFAULT_INDEX=https://u/",
		"PIP_EXTRA_INDEX_URL=https://e/", "PIP_INDEX_URL=https://p/", "WHEELSMITH_INDEX=https://w/",
		NULL};
	assert_string_equal(default_with(root, vars, &from, a), "https://w/");
	assert_string_equal(from, "WHEELSMITH_INDEX");
	vars[4] = NULL;
	assert_string_equal(default_with(root, vars, &from, a), "https://p/ https://e/");
	assert_string_equal(from, "PIP_INDEX_URL");
	vars[3] = NULL;
	assert_string_equal(
		default_with(root, vars, &from, a), ws_arena_printf(a, "%s https://e/", WS_DEFAULT_INDEX));
	assert_string_equal(from, "PIP_EXTRA_INDEX_URL");
	vars[2] = NULL;
	assert_string_equal(default_with(root, vars, &from, a), "https://u/");
	vars[1] = NULL;
	assert_string_equal(default_with(root, vars, &from, a), WS_DEFAULT_INDEX);
	assert_string_equal(from, "pip's default");
}

WS_TEST(our_own_sources_must_be_urls)
{
	const char *const options[] = {"file:///srv/wheels"};
	const char *const none[] = {NULL};
	struct ws_index_sources sources = {.options = options,
		.options_from = "--index",
		.option_count = 1,
		.env = {none, ws_test_dir(a), NULL}};
	struct ws_index_config config;
	struct ws_err err;
	assert_fails(ws_index_config_read(&sources, a, &config, &err), err, WS_ERR_CONFIG);
	assert_string_equal(
		err.text, "index from --index: 'file:///srv/wheels' is not an http or https URL");
	/* folders as indexes are left to pip. */
	const char *const vars[] = {
		"PIP_INDEX_URL=/srv/wheels", "PIP_EXTRA_INDEX_URL=file:///x https://e/", NULL};
	const char *from;
	assert_string_equal(default_with(ws_test_dir(a), vars, &from, a), "https://e/");
}

WS_TEST(prebuilt_wheels_may_lie_in_a_folder)
{
	const char *dir = ws_test_dir(a);
	const char *typed = ws_arena_printf(a, "prebuilt=%s/.", dir);
	const char *const options[] = {typed, "prebuilt=https://p/simple"};
	const char *const none[] = {NULL};
	struct ws_index_sources sources = {
		.options = options, .options_from = "--index", .option_count = 2, .env = {none, dir, NULL}};
	struct ws_index_config config;
	struct ws_err err;
	assert_ok(ws_index_config_read(&sources, a, &config, &err), err);
	assert_null(ws_index_config_choice(&config, "torch"));
	const struct ws_index_choice *choice = ws_index_config_choice(&config, "prebuilt");
	assert_int_equal(choice->count, 2);
	assert_string_equal(choice->urls[0], dir);
	assert_true(ws_index_place_is_folder(choice->urls[0]));
	assert_false(ws_index_place_is_folder(choice->urls[1]));
	const char *const nowhere[] = {"prebuilt=/none/of/it"};
	sources.options = nowhere;
	sources.option_count = 1;
	assert_fails(ws_index_config_read(&sources, a, &config, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "index from --index: cannot find the folder of prebuilt wheels");
}

/* cli/net_oracle.bats compares the same with pip's own parser. */
WS_TEST(pip_files_override_in_pips_order)
{
	static const struct {
		const char *path, *text; /* a file that is written first; NULL: none */
		const char *variable;    /* NULL: none */
		const char *wanted, *from, *cert;
	} steps[] = {
		{"/xdg1/pip/pip.conf", "[global]\nindex-url = https://xdg1/\n", NULL, "https://xdg1/",
			"/xdg1/pip/pip.conf", NULL},
		{"/xdg2/pip/pip.conf", "[global]\nindex-url = https://xdg2/\n", NULL, "https://xdg2/",
			"/xdg2/pip/pip.conf", NULL},
		{"/etc/pip.conf", "[global]\nindex-url = https://etc/\ncert = /etc/ca.pem\n", NULL,
			"https://etc/", "/etc/pip.conf", "/etc/ca.pem"},
		{"/home/me/.pip/pip.conf", "[global]\nindex-url = https://old/\n", NULL, "https://old/",
			"/home/me/.pip/pip.conf", "/etc/ca.pem"},
		{"/home/me/.config/pip/pip.conf", "[global]\nindex-url = https://new/\n", NULL,
			"https://new/", "/home/me/.config/pip/pip.conf", "/etc/ca.pem"},
		{"/venv/pip.conf", "[global]\nindex-url = https://venv/\n", "VIRTUAL_ENV=/venv",
			"https://venv/", "/venv/pip.conf", "/etc/ca.pem"},
		/* A section of the command beats [global], wherever it stands. */
		{"/xdg1/pip/pip.conf", "[install]\nindex-url = https://install/\n", "VIRTUAL_ENV=/venv",
			"https://install/", "/xdg1/pip/pip.conf", "/etc/ca.pem"},
		{"/xdg1/pip/pip.conf", "", NULL, "https://new/", "/home/me/.config/pip/pip.conf",
			"/etc/ca.pem"},
		/* A named file comes last, and its being there hides the user's. */
		{"/named", "[global]\ncert = /named.pem\n", "PIP_CONFIG_FILE=/named", "https://etc/",
			"/etc/pip.conf", "/named.pem"},
		{NULL, NULL, "PIP_CONFIG_FILE=/nonexistent", "https://new/",
			"/home/me/.config/pip/pip.conf", "/etc/ca.pem"},
		{NULL, NULL, "PIP_CONFIG_FILE=/dev/null", WS_DEFAULT_INDEX, "pip's default", NULL},
		{NULL, NULL, "XDG_CONFIG_HOME=/elsewhere", "https://old/", "/home/me/.pip/pip.conf",
			"/etc/ca.pem"},
		{NULL, NULL, "PIP_INDEX_URL=https://env/", "https://env/", "PIP_INDEX_URL", "/etc/ca.pem"},
		{NULL, NULL, "PIP_INDEX_URL=", "https://new/", "/home/me/.config/pip/pip.conf",
			"/etc/ca.pem"},
	};
	const char *root = ws_test_dir(a);
	for (size_t i = 0; i < WS_LEN(steps); i++) {
		const char *const vars[] = {
			"HOME=/home/me", "XDG_CONFIG_DIRS=/xdg1:/xdg2", steps[i].variable, NULL};
		if (steps[i].path) {
			put(root, steps[i].path, steps[i].text, a);
		}
		struct ws_index_config config = read_from(root, vars, a);
		assert_string_equal(config.choices[0].urls[0], steps[i].wanted);
		assert_string_equal(config.choices[0].from, steps[i].from);
		assert_true(ws_same(config.ca_path, steps[i].cert));
	}
}

WS_TEST(pip_files_are_configparsers)
{
	const char *root = ws_test_dir(a);
	put(root, "/etc/pip.conf",
		"# a comment\n"
		"index-url = https://nowhere/\n"
		"[global]\n"
		"; another\n"
		"Index_URL : https://me:pw@a/simple\n"
		"timeout = 3\n"
		"   index-url = https://continued/\n"
		"extra-index-url =\n"
		"    https://b/\n"
		"  # comment within\n"
		"\n"
		"    https://c/ https://d/\n"
		"[download]\r\n"
		"index-url = https://other/\n"
		"cert=/x\n",
		a);
	struct ws_index_config config = read_from(root, NULL, a);
	assert_string_equal(joined(ws_index_config_list(&config, NULL, a), a),
		"https://me:pw@a/simple https://b/ https://c/ https://d/");
	assert_string_equal(config.choices[0].from, "/etc/pip.conf");
	assert_null(config.ca_path);
}

WS_TEST(uv_is_asked_by_its_variables)
{
	const char *root = ws_test_dir(a);
	const char *from;
	const char *vars[] = {
		"HOME=/home/me", "UV_INDEX=pytorch=https://t/ https://u/?a=b", NULL, NULL, NULL};
	assert_string_equal(default_with(root, vars, &from, a),
		ws_arena_printf(a, "https://t/ https://u/?a=b %s", WS_DEFAULT_INDEX));
	assert_string_equal(from, "UV_INDEX");
	vars[2] = "UV_INDEX_URL=https://v/";
	assert_string_equal(default_with(root, vars, &from, a), "https://t/ https://u/?a=b https://v/");
	vars[3] = "UV_DEFAULT_INDEX=main=https://d/";
	assert_string_equal(default_with(root, vars, &from, a), "https://t/ https://u/?a=b https://d/");
	vars[1] = "UV_EXTRA_INDEX_URL=https://x1/ https://x2/";
	assert_string_equal(default_with(root, vars, &from, a), "https://x1/ https://x2/ https://d/");
	assert_string_equal(from, "UV_EXTRA_INDEX_URL");
	vars[1] = "UV_INDEX_URL=https://v/";
	assert_string_equal(default_with(root, vars, &from, a), "https://d/");
	assert_string_equal(from, "UV_DEFAULT_INDEX");
}

/* Its index is not asked, and that is said when it could matter. */
WS_TEST(a_uv_toml_is_not_read)
{
	const char *root = ws_test_dir(a);
	const char *vars[] = {"HOME=/home/me", NULL, NULL};
	struct ws_index_config config = read_from(root, vars, a);
	assert_null(config.unread);
	put(root, "/etc/uv/uv.toml", "index = [{url = \"https://inline/\", default = true}]\n", a);
	config = read_from(root, vars, a);
	assert_string_equal(config.unread, "/etc/uv/uv.toml");
	assert_string_equal(config.choices[0].urls[0], WS_DEFAULT_INDEX);
	put(root, "/home/me/.config/uv/uv.toml", "", a);
	config = read_from(root, vars, a);
	assert_string_equal(config.unread, "/home/me/.config/uv/uv.toml");
	static const char *const others[] = {
		"UV_NO_CONFIG=1", "UV_DEFAULT_INDEX=https://u/", "PIP_INDEX_URL=https://p/"};
	for (size_t i = 0; i < WS_LEN(others); i++) {
		vars[1] = others[i];
		config = read_from(root, vars, a);
		assert_null(config.unread);
	}
}

WS_TEST(broken_files_end)
{
	static const char *const texts[] = {"[", "[[index]", "url", "=",
		"index-url = ", "index-url = \"", "extra-index-url = [", "extra-index-url = ['",
		"extra-index-url = [1, 2", "[[index]]\nurl = [", "#",
		"\n\n=\n=", "extra-index-url = [ [ ["};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		const char *root = ws_test_dir(a);
		put(root, "/etc/pip.conf", texts[i], a);
		read_from(root, NULL, a);
	}
}

WS_TEST(trust_is_what_pip_and_curl_would_trust)
{
	const char *root = ws_test_dir(a);
	put(root, "/etc/pip.conf", "[global]\ncert = /pip.pem\n", a);
	const char *vars[] = {"SSL_CERT_DIR=/certs", NULL, NULL, NULL, NULL, NULL, NULL};
	static const char *const steps[][3] = {
		{"CURL_CA_BUNDLE=/c", "/c", "CURL_CA_BUNDLE"},
		{"SSL_CERT_FILE=/s", "/s", "SSL_CERT_FILE"},
		{"REQUESTS_CA_BUNDLE=/r", "/r", "REQUESTS_CA_BUNDLE"},
		{"PIP_CERT=/p", "/p", "PIP_CERT"},
	};
	struct ws_index_config config = read_from(root, vars, a);
	assert_string_equal(config.ca_path, "/pip.pem");
	assert_string_equal(config.ca_from, "/etc/pip.conf");
	assert_null(config.netrc_path);
	for (size_t i = 0; i < WS_LEN(steps); i++) {
		vars[i + 1] = steps[i][0];
		config = read_from(root, vars, a);
		assert_string_equal(config.ca_path, steps[i][1]);
		assert_string_equal(config.ca_from, steps[i][2]);
	}
	const char *const plain[] = {"SSL_CERT_DIR=/certs", "NETRC=/n", NULL};
	config = read_from(ws_test_dir(a), plain, a);
	assert_string_equal(config.ca_path, "/certs");
	assert_string_equal(config.netrc_path, "/n");
}

WS_TEST(where_debians_certificates_are_not_the_distributions_are_trusted)
{
	const char *root = ws_test_dir(a);
	const char *const vars[] = {NULL};
	struct ws_index_config config = read_from(root, vars, a);
	assert_null(config.ca_path);
	put(root, "/etc/pki/tls/certs/ca-bundle.crt", "", a);
	config = read_from(root, vars, a);
	assert_string_equal(
		config.ca_path, ws_arena_printf(a, "%s/etc/pki/tls/certs/ca-bundle.crt", root));
	put(root, "/etc/ssl/certs/ca-certificates.crt", "", a);
	config = read_from(root, vars, a);
	assert_null(config.ca_path);
}
