/* test_net_send.c - requests with a body: streamed, repeated whole, refused, not taken; against a
 * real server. */
#include "test.h"

#include "base/crypto.h"
#include "base/fs.h"
#include "served.h"

static struct ws_err err;

static bool
ignore(struct ws_request *request WS_UNUSED, const void *bytes WS_UNUSED, size_t len WS_UNUSED,
	struct ws_err *why WS_UNUSED)
{
	return true;
}

/* Sends 16,000,000 bytes of a file, starting at its second byte. */
struct sending {
	struct ws_request request;
	struct ws_body body;
	const char *digest; /* of all of it */
	char refusal[200];
};

#define FILE_BYTES 16000000 /* more than a connection buffers */

static struct sending *
make(const struct ws_served *s, const char *method, const char *path)
{
	struct sending *x = WS_NEW(s->a, struct sending);
	const char *file = ws_path_join(s->a, s->dir, "big", NULL);
	const char *bytes = ws_served_put(s, "big", FILE_BYTES + 1);
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add(h, bytes + 1, FILE_BYTES);
	x->digest = ws_arena_strdup(s->a, ws_hasher_finish(h).hex);
	x->body = (struct ws_body){.path = file, .offset = 1, .length_bytes = FILE_BYTES};
	x->request = (struct ws_request){
		.url = ws_served_url(s, path),
		.subject = "big",
		.method = method,
		.sends = &x->body,
		.body = ignore,
	};
	return x;
}

static bool
run(struct sending *x, bool hasty)
{
	WS_AUTO_BUF struct ws_buf refusal = {0};
	struct ws_http_config impatient = ws_served_hasty();
	impatient.first_byte_ms = 2000; /* libcurl sends after a second without '100 Continue' */
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(hasty ? &impatient : NULL);
	struct ws_request *const only = &x->request;
	struct ws_batch batch = {.requests = &only, .count = 1};
	x->request.refusal = &refusal;
	bool done = ws_http_run(http, &batch, &err);
	snprintf(x->refusal, sizeof(x->refusal), "%s", ws_buf_text(&refusal));
	return done;
}

static void
assert_sent(const struct ws_served *s, const char *method, const char *path, bool hasty)
{
	struct sending *x = make(s, method, path);
	assert_ok(run(x, hasty), err);
	assert_int_equal(x->request.reply.status, 200);
	assert_true(ws_served_count(s, x->digest) >= 1);
	assert_true(ws_served_count(s, ws_arena_printf(s->a, "\"method\": \"%s\"", method)) >= 1);
}

static struct sending *
assert_not_sent(const struct ws_served *s, const char *path, bool hasty, const char *part)
{
	struct sending *x = make(s, "POST", path);
	char text[WS_ERR_PRINTED];
	assert_false(run(x, hasty));
	assert_contains(ws_err_print(&err, text), part);
	assert_contains(text, "cannot upload 'big'");
	return x;
}

WS_TEST(a_part_of_a_file_arrives_whole)
{
	struct ws_served s = ws_served_start(a);
	assert_sent(&s, "POST", "/a", false);
	assert_sent(&s, "PUT", "/b", false);
	assert_int_equal(ws_served_count(&s, "\"length\": 16000000"), 2);
}

WS_TEST(after_a_temporary_error_the_whole_body_is_sent_again)
{
	struct ws_served s = ws_served_start(a);
	struct sending *x = make(&s, "POST", "/");
	assert_sent(&s, "POST", "/~status=503:2/a", false);
	assert_sent(&s, "PUT", "/~lost:1/a", false);
	assert_sent(&s, "PUT", "/~silent:1/a", true);
	assert_int_equal(ws_served_count(&s, x->digest), 7);
}

WS_TEST(a_server_that_does_not_take_it)
{
	struct ws_served s = ws_served_start(a);
	struct sending *x =
		assert_not_sent(&s, "/~early=413/a", false, "does not take a file of this size (413)");
	assert_string_equal(x->refusal, "no, thank you\n");
	assert_int_equal(x->request.attempts, 1);
	assert_not_sent(&s, "/~early=403/a", false, "denies access (403)");
	assert_not_sent(&s, "/~status=409/a", false, "has a file of this name already (409)");
	assert_not_sent(&s, "/~status=507/a", false, "has no space left (507)");
	x = assert_not_sent(&s, "/~status=500/a", false, "it was tried 4 times");
	assert_string_equal(x->refusal, "sorry\n");
	assert_not_sent(&s, "/~auth=u:p/a", false, "requires a login (401)");
}

WS_TEST(a_server_that_stalls)
{
	struct ws_served s = ws_served_start(a);
	assert_not_sent(&s, "/~deaf/a", true, "too slow: ");
	assert_not_sent(&s, "/~silent/a", true, "no answer for 2 s");
}

WS_TEST(a_login_is_the_servers_own_and_no_redirect_gets_a_body)
{
	struct ws_served s = ws_served_start(a);
	struct ws_http_config config = ws_served_config();
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	struct sending *x = make(&s, "POST", "/~auth=u:p/a");
	struct ws_request *const only = &x->request;
	struct ws_batch batch = {.requests = &only, .count = 1};
	assert_ok(ws_http_login(http, ws_served_url(&s, "/"), "u", "p", &err), err);
	assert_ok(ws_http_run(http, &batch, &err), err);
	assert_not_sent(&s, "/~redirect=1/a", false, "redirects, which is not followed");
	assert_false(ws_http_login(http, "ftp://x/", "u", "secret", &err));
	assert_null(strstr(err.text, "secret"));
}

WS_TEST(a_signed_request_is_not_redirected)
{
	struct ws_served s = ws_served_start(a);
	ws_served_put(&s, "a", 10);
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
	const char *const header = "x-amz-security-token: sesame";
	struct ws_request request = {
		.url = ws_served_url(&s, "/~other/a"),
		.signing = "aws:amz:us-east-1:s3",
		.headers = &header,
		.header_count = 1,
		.body = ignore,
	};
	struct ws_request *const only = &request;
	struct ws_batch batch = {.requests = &only, .count = 1};
	assert_ok(ws_http_login(http, request.url, "key", "secret", &err), err);
	assert_false(ws_http_run(http, &batch, &err));
	assert_contains(err.text, "redirects, which is not followed");
	assert_contains(err.text, "cannot fetch '");
}

WS_TEST(a_file_that_shrinks_or_goes)
{
	struct ws_served s = ws_served_start(a);
	struct sending *x = make(&s, "POST", "/a");
	x->body.length_bytes = FILE_BYTES + 1;
	assert_false(run(x, false));
	assert_contains(err.text, "became unreadable");
	assert_int_equal(x->request.attempts, 1);
	x->body.path = "/nowhere";
	assert_false(run(x, false));
	assert_contains(err.text, "became unreadable");
}
