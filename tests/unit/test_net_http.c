/* test_net_http.c - every way in which a request can go wrong, against a real server. */
#include "test.h"

#include "base/fs.h"
#include "net/download.h"
#include "served.h"
#include "sys/clock.h"

#include <curl/curl.h>

#include <dlfcn.h>

static unsigned failing_starts; /* so many transfers cannot be started */

/* Stands before libcurl's own: what no server can bring about. */
CURLMcode
curl_multi_add_handle(CURLM *multi, CURL *easy)
{
	CURLMcode (*real)(CURLM *, CURL *);
	*(void **)&real = dlsym(RTLD_NEXT, "curl_multi_add_handle");
	return failing_starts > 0 && failing_starts-- ? CURLM_OUT_OF_MEMORY : real(multi, easy);
}

static struct ws_get document; /* of the last get() */
static struct ws_err err;

/* Gets a document; its text, or NULL with the error set. */
static const char *
get(struct ws_http *http, const char *url, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	document = (struct ws_get){.url = url, .limit_bytes = 1000000};
	return ws_get_text(http, &document, a, &text, &err) ? ws_buf_copy(&text, a) : NULL;
}

/* Faults that only the lack of patience ends get a session that has little. */
static struct ws_http *
http_for(const char *faults)
{
	struct ws_http_config hasty = ws_served_hasty();
	bool slow = strstr(faults, "silent") || strstr(faults, "stall") || strstr(faults, "slow");
	return ws_served_http(slow ? &hasty : NULL);
}

/* Gets DIR/x, 50 bytes, with these faults; must work. */
static void
assert_gets(const struct ws_served *s, const char *faults)
{
	WS_AUTO_HTTP struct ws_http *http = http_for(faults);
	const char *bytes = ws_served_put(s, "x", 50);
	const char *url = ws_served_url(s, ws_arena_printf(s->a, "/%s/x", faults));
	const char *text = get(http, url, s->a);
	assert_ok(text, err);
	assert_memory_equal(text, bytes, 50);
	assert_int_equal(document.reply.status, 200);
}

/* The same must fail, with @a part in the message; returns the status. */
static unsigned
assert_no_get(const struct ws_served *s, const char *faults, const char *part)
{
	WS_AUTO_HTTP struct ws_http *http = http_for(faults);
	ws_served_put(s, "x", 50);
	const char *url = ws_served_url(s, ws_arena_printf(s->a, "/%s/x", faults));
	assert_null(get(http, url, s->a));
	char text[WS_ERR_PRINTED];
	assert_contains(ws_err_print(&err, text), part);
	assert_int_equal(err.kind, WS_ERR_FETCH);
	return document.reply.status;
}

WS_TEST(a_document_comes_with_its_facts)
{
	struct ws_served s = ws_served_start(a);
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
	ws_served_put(&s, "x", 50);
	const char *url = ws_served_url(&s, "/~redirect=2/~type=Text%2FPlain/x");
	assert_ok(get(http, url, a), err);
	assert_string_equal(document.reply.type, "text/plain");
	assert_string_equal(document.final_url, ws_served_url(&s, "/~type=Text%2FPlain/x"));
	assert_true(document.reply.etag[0] == '"');
	assert_int_equal(ws_served_count(&s, "\"agent\": \"wheelsmith/"), 3);
	assert_int_equal(ws_served_count(&s, "\"encoding\": \"gzip\""), 3);
}

WS_TEST(a_temporary_error_is_retried)
{
	struct ws_served s = ws_served_start(a);
	assert_gets(&s, "~status=500:2");
	assert_int_equal(ws_served_count(&s, "500:2"), 3);
	assert_gets(&s, "~status=408:1");
	assert_gets(&s, "~status=429:1");
	assert_gets(&s, "~cut=10:2");
	assert_gets(&s, "~cut=0:1");
	assert_gets(&s, "~silent:1");
	assert_gets(&s, "~stall=10:1");
	assert_gets(&s, "~chunked,cut=10:1");
}

WS_TEST(unusual_but_allowed_answers_are_not_errors)
{
	struct ws_served s = ws_served_start(a);
	assert_gets(&s, "~gzip");
	assert_gets(&s, "~chunked");
	assert_gets(&s, "~close");
	assert_gets(&s, "~late=200");
	assert_gets(&s, "~redirect=5");
	assert_gets(&s, "~other");
	assert_int_equal(ws_served_count(&s, "500"), 0);
}

WS_TEST(retry_after_is_heeded)
{
	struct ws_served s = ws_served_start(a);
	int64_t before = ws_clock_ms();
	assert_gets(&s, "~status=503:1,retry=1");
	assert_true(ws_clock_ms() - before >= 1000);
	before = ws_clock_ms();
	assert_int_equal(assert_no_get(&s, "~status=503,retry=4000", "retry after 4000 s"), 503);
	assert_true(ws_clock_ms() - before < 1000);
}

WS_TEST(refusals_are_not_repeated)
{
	struct ws_served s = ws_served_start(a);
	assert_int_equal(assert_no_get(&s, "~status=404", "does not have it (404)"), 404);
	assert_int_equal(assert_no_get(&s, "~status=403", "denies access (403)"), 403);
	assert_int_equal(assert_no_get(&s, "~status=401", "machine 127.0.0.1 login"), 401);
	assert_int_equal(assert_no_get(&s, "~status=410", "(410)"), 410);
	assert_int_equal(assert_no_get(&s, "~status=501", "(501)"), 501);
	assert_int_equal(ws_served_count(&s, "\"status\""), 5);
}

WS_TEST(patience_ends)
{
	struct ws_served s = ws_served_start(a);
	assert_int_equal(assert_no_get(&s, "~status=500", "it was tried 4 times"), 500);
	assert_int_equal(ws_served_count(&s, "=500"), 4);
	assert_int_equal(assert_no_get(&s, "~silent", "no answer for 1 s"), 0);
	assert_no_get(&s, "~stall=10", "too slow: 10 bytes");
	assert_no_get(&s, "~slow=20", "too slow");
	assert_no_get(&s, "~cut=10", "did not finish the transfer");
}

WS_TEST(an_impatient_session_asks_a_silent_server_once)
{
	struct ws_served s = ws_served_start(a);
	struct ws_http_config config = ws_served_hasty();
	config.impatient = true;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	ws_served_put(&s, "x", 50);
	assert_non_null(get(http, ws_served_url(&s, "/~status=500:1/x"), a));
	assert_false(ws_http_is_silent(http, ws_served_url(&s, "/x")));
	/* Its redirect leads nowhere. */
	const char *url = ws_served_url(&s, "/~redirect=1,other/~silent/x");
	assert_null(get(http, url, a));
	assert_contains(err.text, "no answer for 1 s");
	assert_int_equal(ws_served_count(&s, "silent"), 2);
	assert_null(get(http, url, a));
	assert_contains(err.text, "cannot be reached: no response");
	assert_int_equal(ws_served_count(&s, "silent"), 2);
	assert_true(ws_http_is_silent(http, url));
	assert_null(get(http, ws_arena_printf(a, "http://127.0.0.1:%u/x", s.other), a));
}

/* One reset connection, as nginx gives when it reloads, must not end a session. */
WS_TEST(an_impatient_session_repeats_a_request_whose_connection_was_closed)
{
	struct ws_served s = ws_served_start(a);
	struct ws_http_config config = ws_served_hasty();
	config.impatient = true;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	ws_served_put(&s, "x", 50);
	assert_non_null(get(http, ws_served_url(&s, "/~hangup:1/x"), a));
	assert_false(ws_http_is_silent(http, ws_served_url(&s, "/x")));
	assert_null(get(http, ws_served_url(&s, "/~hangup/x"), a));
	assert_true(ws_http_is_silent(http, ws_served_url(&s, "/x")));
	assert_in_range(
		ws_served_count(&s, "hangup/x"), 2, 3); /* libcurl repeats on a reused connection */
}

WS_TEST(silent_servers_are_found_at_the_same_time)
{
	struct ws_served s = ws_served_start(a);
	struct ws_http_config config = ws_served_hasty();
	config.impatient = true;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	ws_served_put(&s, "x", 5000000);
	const char *const one[] = {ws_served_url(&s, "/~silent/x"), ws_served_url(&s, "/~silent/x")};
	assert_ok(ws_http_preconnect(http, one, 2, &err), err);
	assert_int_equal(ws_served_count(&s, ""), 0);
	/* localhost and 127.0.0.1 are two servers by name. */
	const char *const three[] = {ws_served_url(&s, "/~norange/x"),
		ws_arena_printf(a, "http://127.0.0.1:%u/~silent/x", s.other),
		ws_arena_printf(a, "http://localhost:%u/~silent/x", s.other), "not a URL"};
	int64_t before_ms = ws_clock_ms();
	assert_ok(ws_http_preconnect(http, three, 4, &err), err);
	assert_true(ws_clock_ms() - before_ms < 2 * config.first_byte_ms);
	assert_false(ws_http_is_silent(http, three[0]));
	assert_true(ws_http_is_silent(http, three[1]));
	assert_true(ws_http_is_silent(http, three[2]));
}

WS_TEST(redirects_have_limits)
{
	struct ws_served s = ws_served_start(a);
	assert_no_get(&s, "~loop", "redirects too often");
	assert_int_equal(ws_served_count(&s, "loop"), 11);
	assert_no_get(&s, "~redirect=11", "redirects too often");
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
	assert_null(get(http, ws_served_url(&s, "/~ftp/x"), a));
	assert_int_equal(err.kind, WS_ERR_FETCH);
	assert_contains(err.text, "redirects to 'ftp://127.0.0.1/x', which is not an http(s) URL");
}

WS_TEST(every_redirect_is_followed)
{
	struct ws_served s = ws_served_start(a);
	static const unsigned kinds[] = {301, 302, 303, 307, 308};
	for (size_t i = 0; i < WS_LEN(kinds); i++) {
		assert_gets(&s, ws_arena_printf(a, "~redirect=1,as=%u", kinds[i]));
		assert_int_equal(ws_served_count(&s, ws_arena_printf(a, "\"status\": %u", kinds[i])), 1);
	}
	/* 300 and 304 name no single other place. */
	assert_int_equal(assert_no_get(&s, "~redirect=1,as=300", "(300)"), 300);
	assert_int_equal(assert_no_get(&s, "~redirect=1,as=304", "(304)"), 304);
}

WS_TEST(a_url_with_a_wrong_scheme_ends_at_once)
{
	struct ws_stop stop = {.fd = -1, .deadline_ms = ws_clock_ms() + 2000};
	struct ws_http_config config = ws_served_config();
	config.stop = &stop;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	static const char *const urls[] = {"ftp://127.0.0.1/x", "http://", "x y", ""};
	for (size_t i = 0; i < WS_LEN(urls); i++) {
		assert_null(get(http, urls[i], a));
		assert_int_equal(err.kind, WS_ERR_CONFIG);
	}
}

WS_TEST(too_long_a_document_is_refused)
{
	struct ws_served s = ws_served_start(a);
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
	ws_served_put(&s, "x", 200000);
	document = (struct ws_get){.url = ws_served_url(&s, "/~chunked/x"), .limit_bytes = 100000};
	WS_AUTO_BUF struct ws_buf text = {0};
	assert_fails(ws_get_text(http, &document, a, &text, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "longer than 100000 bytes");
	/* 200000 zero bytes are some 200 of gzip: the limit is on what comes out. */
	document.url = ws_served_url(&s, "/~gzip/zeros");
	static const char zeros[200000];
	assert_ok(
		ws_fs_write(ws_path_join(a, s.dir, "zeros", NULL), zeros, sizeof(zeros), 0644, &err), err);
	assert_fails(ws_get_text(http, &document, a, &text, &err), err, WS_ERR_FETCH);
}

WS_TEST(a_login_goes_to_its_own_server_only)
{
	struct ws_served s = ws_served_start(a);
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
	ws_served_put(&s, "x", 50);
	const char *url =
		ws_arena_printf(a, "http://me:se%%63ret@127.0.0.1:%u/~auth=me:secret", s.port);
	assert_ok(get(http, ws_arena_printf(a, "%s/x", url), a), err);
	assert_int_equal(ws_served_count(&s, "\"auth\": \"Basic"), 1);
	assert_ok(get(http, ws_arena_printf(a, "%s,redirect=1/x", url), a), err);
	assert_int_equal(ws_served_count(&s, "\"auth\": \"Basic"), 3);
	assert_ok(get(http, ws_arena_printf(a, "%s,other/x", url), a), err);
	assert_int_equal(ws_served_count(&s, "\"port\": \"other\""), 1);
	assert_int_equal(ws_served_count(&s, "\"auth\": \"Basic"), 4);
	/* Wrong, and missing. No message shows what was sent. */
	url = ws_arena_printf(a, "http://me:wrong@127.0.0.1:%u/~auth=me:secret/x", s.port);
	assert_null(get(http, url, a));
	assert_contains(err.text, "refuses this login (401)");
	assert_null(strstr(err.text, "wrong"));
	assert_int_equal(document.reply.status, 401);
}

WS_TEST(netrc_is_read)
{
	struct ws_served s = ws_served_start(a);
	ws_served_put(&s, "x", 50);
	struct ws_http_config config = ws_served_config();
	static const char netrc[] = "machine 127.0.0.1 login me password secret\n";
	config.netrc_path = ws_path_join(a, ws_test_dir(a), "netrc", NULL);
	assert_ok(ws_fs_write(config.netrc_path, netrc, strlen(netrc), 0600, &err), err);
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	const char *url = ws_served_url(&s, "/~auth=me:secret/x");
	assert_ok(get(http, url, a), err);
	/* A login in the URL is preferred. */
	url = ws_arena_printf(a, "http://you:other@127.0.0.1:%u/~auth=you:other/x", s.port);
	assert_ok(get(http, url, a), err);
}

WS_TEST(certificates_are_checked)
{
	struct ws_served s = ws_served_start_tls(a);
	ws_served_put(&s, "x", 50);
	const char *url = ws_arena_printf(a, "https://localhost:%u/x", s.tls);
	{
		WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
		assert_null(get(http, url, a));
		assert_contains(err.text, "has a certificate that is not trusted");
		assert_contains(err.cure, "SSL_CERT_FILE");
		assert_null(strstr(err.cure, "tried"));
	}
	struct ws_http_config config = ws_served_config();
	config.ca_path = s.cert;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	assert_ok(get(http, url, a), err);
	/* Another name than the certificate's. */
	url = ws_arena_printf(a, "https://127.0.0.1:%u/x", s.tls);
	assert_null(get(http, url, a));
	assert_contains(err.text, "certificate");
	/* From https to http. */
	url = ws_arena_printf(a, "https://localhost:%u/~downgrade/x", s.tls);
	assert_null(get(http, url, a));
	assert_contains(err.text, "redirects from https to http");
	assert_int_equal(ws_served_count(&s, "\"port\": \"main\""), 0);
}

WS_TEST(a_bundle_that_is_not_there_is_named)
{
	struct ws_served s = ws_served_start_tls(a);
	struct ws_http_config config = ws_served_config();
	config.ca_path = "/nonexistent/bundle.pem";
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	const char *url = ws_arena_printf(a, "https://localhost:%u/x", s.tls);
	assert_null(get(http, url, a));
	assert_contains(err.text, "/nonexistent/bundle.pem");
	assert_contains(err.cure, "REQUESTS_CA_BUNDLE");
}

WS_TEST(proxies_are_used_and_their_refusal_is_reported)
{
	struct ws_served s = ws_served_start(a);
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
	const char *bytes = ws_served_put(&s, "x", 50);
	setenv("http_proxy", ws_served_url(&s, ""), 1);
	setenv("https_proxy", ws_served_url(&s, ""), 1);
	const char *text = get(http, "http://wheels.invalid/x", a);
	assert_ok(text, err);
	assert_memory_equal(text, bytes, 50);
	assert_null(get(http, "https://wheels.invalid/x", a));
	assert_contains(err.text, "the proxy refused");
	assert_contains(err.cure, "https_proxy");
	assert_int_equal(ws_served_count(&s, "CONNECT"), 1);
	unsetenv("http_proxy");
	unsetenv("https_proxy");
}

WS_TEST(a_proxys_login_is_never_shown)
{
	static const char *const proxies[] = {"http://me:sec/ret@h:3128", "htp://me:sec@127.0.0.1:1",
		"http://me:sec@127.0.0.1:99999", "http://me:sec@proxy.invalid:1",
		"http://me:sec@127.0.0.1:1"};
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
	for (size_t i = 0; i < WS_LEN(proxies); i++) {
		char text[WS_ERR_PRINTED];
		setenv("https_proxy", proxies[i], 1);
		assert_null(get(http, "https://wheels.invalid/x", a));
		ws_err_print(&err, text);
		assert_null(strstr(text, "me:"));
		assert_null(strstr(text, "sec"));
		assert_contains(text, "https_proxy");
	}
	unsetenv("https_proxy");
}

WS_TEST(no_server_listens_there)
{
	struct ws_served s = ws_served_start(a);
	const char *url = ws_served_url(&s, "/x");
	ws_served_kill();
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
	assert_null(get(http, url, a));
	assert_contains(err.text, "cannot be reached");
	assert_contains(err.cure, "is there a network?");
	assert_null(get(http, "http://wheels.invalid/x", a));
	assert_contains(err.text, "cannot be resolved");
}

WS_TEST(offline_says_what_is_missing)
{
	struct ws_served s = ws_served_start(a);
	struct ws_http_config config = ws_served_config();
	config.offline = true;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	assert_null(get(http, ws_served_url(&s, "/x"), a));
	assert_contains(err.text, "/x' is missing, and this run is offline");
	assert_cure(err, WS_CURE_FETCH, "");
	assert_int_equal(ws_served_count(&s, ""), 0);
}

WS_TEST(a_deadline_ends_a_transfer)
{
	struct ws_served s = ws_served_start(a);
	struct ws_stop stop = {.fd = -1, .deadline_ms = ws_clock_ms() + 200};
	struct ws_http_config config = ws_served_config();
	config.stop = &stop;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	int64_t before = ws_clock_ms();
	assert_null(get(http, ws_served_url(&s, "/~silent/x"), a));
	assert_int_equal(err.kind, WS_ERR_STOPPED);
	assert_true(ws_clock_ms() - before < 2000);
}

WS_TEST(a_signal_ends_a_transfer)
{
	struct ws_served s = ws_served_start(a);
	struct ws_stop stop;
	signal(SIGINT, SIG_DFL); /* a shell's & leaves the signal ignored, and then it has no handler */
	assert_ok(ws_stop_open(&stop, &err), err);
	struct ws_http_config config = ws_served_config();
	config.stop = &stop;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	raise(SIGINT);
	assert_null(get(http, ws_served_url(&s, "/~silent/x"), a));
	assert_int_equal(err.kind, WS_ERR_INTERRUPTED);
	close(stop.fd);
}

static bool
drop(struct ws_request *request WS_UNUSED, const void *bytes WS_UNUSED, size_t len WS_UNUSED,
	struct ws_err *why WS_UNUSED)
{
	return true;
}

/* As many fail as may run at once: were each to keep its place, the batch would never end. */
WS_TEST(a_request_that_cannot_start_takes_no_slot_of_a_batch)
{
	struct ws_served s = ws_served_start(a);
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(NULL);
	struct ws_request requests[5], *list[WS_LEN(requests)];
	struct ws_err failure;
	ws_served_put(&s, "x", 50);
	for (size_t i = 0; i < WS_LEN(requests); i++) {
		requests[i] = (struct ws_request){.url = ws_served_url(&s, "/x"), .body = drop};
		list[i] = &requests[i];
	}
	struct ws_batch batch = {.requests = list, .count = WS_LEN(list), .at_once = 2, .each = true};
	failing_starts = 2;
	alarm(30);
	assert_ok(ws_http_run(http, &batch, &err), err);
	alarm(0);
	for (size_t i = 0; i < WS_LEN(requests); i++) {
		assert_int_equal(requests[i].reply.status, i < 2 ? 0 : 200);
	}
	/* A request made once is not repeated. */
	requests[0] =
		(struct ws_request){.url = ws_served_url(&s, "/~status=500/x"), .body = drop, .once = true};
	requests[1].url = requests[0].url;
	assert_ok(ws_http_run(http, &batch, &err), err);
	assert_int_equal(requests[0].attempts, 1);
	assert_int_equal(requests[1].attempts, 5);
	/* A fatal error ends the batch with libcurl's message. */
	requests[0].failure = &failure;
	failing_starts = 1;
	assert_fails(ws_http_run(http, &batch, &err), err, WS_ERR_INTERNAL);
	assert_contains(err.text, "libcurl: ");
}
