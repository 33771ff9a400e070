/* servers.c - the server of shared results (with --remote: does it answer, what does it support,
 * how long is a round trip) and the configured indexes. */
#include "base/fs.h"
#include "doctor/doctor.h"
#include "net/url.h"
#include "remote/grpc_cache.h"
#include "sys/clock.h"

#define ASKED 7 /* times, for the median of the way there and back */

/* One call; false: it was not answered as it should be. */
struct asking {
	bool (*ask)(struct asking *asking);
	struct ws_doctor *d;
	const struct ws_server *server;
	struct ws_item how; /* the last */
	/* By gRPC, or by HTTP. */
	struct ws_rpc *rpc;
	struct ws_capabilities can;
	struct ws_remote_cache *cache;
};

static bool
ask_grpc(struct asking *asking)
{
	asking->how = (struct ws_item){0};
	return ws_capabilities_ask(asking->rpc, asking->server->config.instance, &asking->can,
			   &asking->how, asking->d->a)
		&& asking->how.came == WS_CAME_WHOLE;
}

/* Asks for a record that no server has. */
static bool
ask_http(struct asking *asking)
{
	asking->how =
		(struct ws_item){.key = "0000000000000000000000000000000000000000000000000000000000000000"};
	bool ran = asking->cache->get_messages(asking->cache, &asking->how, 1);
	ws_buf_release(&asking->how.bytes);
	return ran && (asking->how.came == WS_CAME_NOT || asking->how.came == WS_CAME_WHOLE);
}

static int
compare(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

/* The first call connects, and is not counted. */
static bool
measure(struct asking *asking, uint64_t *median_us)
{
	int64_t took[ASKED];
	bool answered = asking->ask(asking);
	for (int i = 0; i < ASKED && answered; i++) {
		int64_t began = ws_clock_ns(CLOCK_MONOTONIC);
		answered = asking->ask(asking);
		took[i] = (ws_clock_ns(CLOCK_MONOTONIC) - began) / 1000;
	}
	if (answered) {
		qsort(took, ASKED, sizeof(took[0]), compare);
		*median_us = (uint64_t)took[ASKED / 2];
	}
	return answered;
}

/* ---- what is said ---- */

/* A server that answered, but not with what it can: whose mistake is it? */
static const char *
cure_status(const struct asking *asking)
{
	const struct ws_user_remote *remote = asking->d->remote;
	switch ((int)asking->can.status) {
	case WS_RPC_UNAUTHENTICATED:
	case WS_RPC_DENIED:
		return remote->headers
			? ws_arena_printf(asking->d->a, "renew the token in %s", remote->headers)
			: "name a file with the server's token: \"remote\": {\"headers\": \"FILE\", ...}";
	case 3: /* INVALID_ARGUMENT */
	case WS_RPC_NOT_FOUND:
		return "correct the \"instance\" of \"remote\": ask its operator for the name";
	case WS_RPC_UNIMPLEMENTED:
		return "this server does not speak the Remote Execution API";
	default:
		return NULL;
	}
}

static void
say_capabilities(struct ws_doctor *d, const struct ws_capabilities *can)
{
	struct ws_rows *rows = &d->rows;
	ws_rows_add(rows, "remote", "API       {lowest}[ to {highest}]", "lowest %s highest %s",
		can->lowest, can->highest);
	ws_rows_add(rows, "remote", can->digest_count ? "digests   {digests}" : NULL, "digests %p %zu",
		(const void *)can->digests, can->digest_count);
	ws_rows_add(rows, "remote",
		!can->has_cache ? NULL
			: can->takes_records
			? "results   are shared, and taken from who asks[; batches of {batch_bytes:memory}]"
			: "results   are shared, and not taken from who asks[; batches of "
			  "{batch_bytes:memory}]",
		"cache %d takes_records %d batch_bytes %ju", can->has_cache, can->takes_records,
		(uintmax_t)can->batch_bytes);
	ws_rows_add(rows, "remote",
		can->executes ? "execution it runs actions: build --executor remote"
					  : "execution none: it is a cache, and compilations stay here",
		"executes %d", can->executes);
	if (!can->has_cache) {
		ws_rows_problem(rows, WS_PROBLEM_FAILS, NULL, "the server has no cache");
	} else if (!can->has_sha256 || (can->executes && !can->executes_sha256)) {
		ws_rows_problem(rows, WS_PROBLEM_FAILS,
			"ask for an instance with SHA-256: no other digest is supported",
			"the server does not know SHA-256");
	} else if (d->remote->access == WS_REMOTE_WRITE && !can->takes_records) {
		ws_rows_problem(rows, WS_PROBLEM_NOTE,
			"ask who runs it for the right to write, or set \"access\": \"read\"",
			"\"access\" is \"write\", and the server does not take results");
	}
}

/* Asks; whatever was opened is closed by the caller. */
static void
look(struct asking *asking)
{
	struct ws_doctor *d = asking->d;
	const struct ws_server *server = asking->server;
	uint64_t median_us = 0;
	bool answered = measure(asking, &median_us);
	ws_rows_add(&d->rows, "remote", "{endpoint}[, instance {instance}][; round trip of {.ms} ms]",
		"endpoint %s instance %s answers %d round_trip_us %ju .ms %s", server->shown,
		server->is_grpc && server->config.instance[0] ? server->config.instance : NULL, answered,
		(uintmax_t)median_us,
		answered ? ws_arena_printf(d->a, "%.1f", (double)median_us / 1e3) : NULL);
	if (!answered) {
		const char *text = asking->how.failure, *cure = NULL;
		if (asking->rpc && asking->can.status == WS_RPC_UNAVAILABLE) {
			text = asking->can.words;
		} else if (asking->rpc && asking->can.status != WS_RPC_OK) {
			text = ws_arena_printf(d->a, "the server refuses: %s (gRPC status %d)",
				asking->can.words, (int)asking->can.status);
		}
		if (strstr(text, "TLS with")) {
			const char *ca = d->indexes ? d->indexes->ca_path : NULL;
			cure = ca
				? ws_arena_printf(d->a, "add the server's CA to %s (%s)", ca, d->indexes->ca_from)
				: "let SSL_CERT_FILE name a file with the server's CA";
		} else if (strstr(text, "HTTP/2")) {
			cure = "grpcs:// is with TLS, grpc:// without; a cache by HTTP has http(s)://";
		} else if (asking->rpc) {
			cure = cure_status(asking);
		}
		ws_rows_problem(&d->rows, WS_PROBLEM_FAILS, cure, "%s", text);
	} else if (server->is_grpc) {
		say_capabilities(d, &asking->can);
	} else {
		ws_rows_note(&d->rows, "a cache by HTTP: it answers; what it takes is not known");
	}
}

void
ws_doctor_remote(struct ws_doctor *d)
{
	struct ws_err err = {0};
	if (!d->open_server) {
		return;
	}
	struct asking asking = {.ask = ask_grpc, .d = d, .server = d->open_server(d->self, &err)};
	if (asking.server && asking.server->is_grpc) {
		asking.rpc = ws_rpc_open(&asking.server->rpc);
	} else if (asking.server) {
		asking.ask = ask_http;
		asking.cache = ws_http_cache_open(asking.server, d->a, &err);
	}
	if (asking.rpc || asking.cache) {
		look(&asking);
	} else {
		ws_rows_problem_err(&d->rows, WS_PROBLEM_FAILS, &err);
	}
	ws_rpc_close(asking.rpc);
	if (asking.cache) {
		asking.cache->close(asking.cache);
	}
}

/* ---- package indexes ---- */

void
ws_doctor_indexes(struct ws_doctor *d)
{
	const char *ca = d->indexes ? d->indexes->ca_path : NULL;
	ws_rows_list(&d->rows, "indexes[]");
	struct ws_err none;
	for (size_t i = 0; d->indexes && i < d->indexes->count; i++) {
		const struct ws_index_choice *choice = &d->indexes->choices[i];
		for (size_t j = 0; j < choice->count; j++) {
			ws_rows_add(&d->rows, "indexes[]", "{role:9} {url}  ({from})", "role %s url %s from %s",
				choice->role, ws_url_shown(choice->urls[j], d->a), choice->from);
		}
	}
	if (!d->indexes) {
		ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, d->indexes_err);
	} else if (ws_index_config_list(d->indexes, NULL, d->a).count == 0) {
		ws_err_set(&none, WS_ERR_CONFIG, "no package index is configured");
		ws_err_cure_code(&none, WS_CURE_INDEX, NULL);
		ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, &none);
	}
	ws_rows_add(&d->rows, "",
		d->mirror ? "Debian    {debian_mirror}  ({debian_mirror_from})"
				  : "Debian    no mirror is configured; NVIDIA's own archives are used",
		"debian_mirror %s debian_mirror_from %s", d->mirror ? ws_url_shown(d->mirror, d->a) : NULL,
		d->mirror_from);
	if (d->redist) {
		ws_rows_note(&d->rows, "NVIDIA    %s  (\"redist\")", ws_url_shown(d->redist, d->a));
	}
	ws_rows_add(&d->rows, "",
		ca ? "CAs       {ca}  ({ca_from})" : "CAs       those that libcurl was built with",
		"ca %s ca_from %s", ca, ca ? d->indexes->ca_from : NULL);
	if (ca && !ws_fs_exists(ca)) {
		ws_rows_problem(&d->rows, WS_PROBLEM_NOTE,
			ws_arena_printf(d->a, "correct or unset %s", d->indexes->ca_from),
			"the certificates '%s' do not exist", ca);
	}
}
