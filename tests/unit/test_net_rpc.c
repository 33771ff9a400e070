/* test_net_rpc.c - calls that come and go over one connection, against a real server. */
#include "test.h"

#include "net/rpc.h"
#include "rpc_served.h"
#include "sys/clock.h"

#include <malloc.h>
#include <poll.h>

/* A call of one message, and what was heard. */
struct asked {
	struct ws_call call; /* first */
	struct ws_rpc *rpc;
	bool cancels; /* itself, when it receives data */
	unsigned begun, taken, ended;
	char reply[64];
	size_t len;
	struct asked *then; /* is started at its end */
};

static void
begin(struct ws_call *call)
{
	((struct asked *)call)->begun++;
}

static bool
take(struct ws_call *call, struct ws_str message)
{
	struct asked *asked = (struct asked *)call;
	asked->taken++;
	asked->len = message.n < sizeof(asked->reply) ? message.n : sizeof(asked->reply);
	memcpy(asked->reply, message.s, asked->len);
	if (asked->cancels) {
		ws_rpc_cancel(asked->rpc, call);
	}
	return true;
}

static void
end(struct ws_call *call)
{
	struct asked *asked = (struct asked *)call;
	asked->ended++;
	if (asked->then) {
		ws_rpc_start(asked->rpc, &asked->then->call);
	}
}

static struct asked
ask(struct ws_rpc *rpc, const char *method)
{
	return (struct asked){.call = {.method = method,
							  .message = ws_str_of("hello"),
							  .begin = begin,
							  .take = take,
							  .end = end},
		.rpc = rpc};
}

static struct ws_rpc *
connect_with(unsigned streams, unsigned quiet_ms, struct ws_arena *a)
{
	struct ws_rpc_config config = {.channel.peer = {.host = "127.0.0.1",
									   .port = ws_arena_printf(a, "%u", ws_rpc_serve(streams)),
									   .connect_ms = 5000},
		.quiet_ms = quiet_ms};
	return ws_rpc_open(&config);
}

static struct ws_rpc *
connect_to(unsigned streams, struct ws_arena *a)
{
	return connect_with(streams, 0, a);
}

static void
close_rpc(struct ws_rpc *const *rpc)
{
	ws_rpc_close(*rpc);
}

#define AUTO_RPC __attribute__((cleanup(close_rpc)))

static void
run_one(struct ws_rpc *rpc, struct asked *asked)
{
	struct ws_call *call = &asked->call;
	assert_true(ws_rpc_run(rpc, &call, 1));
	assert_int_equal(call->status, WS_RPC_OK);
}

static struct ws_rpc_seen
see(struct ws_rpc *rpc)
{
	struct ws_rpc_seen seen;
	struct asked asked = ask(rpc, "/t/Seen");
	run_one(rpc, &asked);
	assert_int_equal(asked.len, sizeof(seen));
	memcpy(&seen, asked.reply, sizeof(seen));
	return seen;
}

/* Turns until all have heard @a taken messages. */
static void
hear(struct ws_rpc *rpc, const struct asked *all, size_t count, unsigned taken)
{
	int64_t until = ws_clock_ms() + 20000;
	for (size_t i = 0; i < count;) {
		assert_true(ws_clock_ms() < until);
		ws_rpc_turn(rpc, 100);
		while (i < count && all[i].taken >= taken) {
			i++;
		}
	}
}

/* All have ended once, like this. */
static void
assert_ended(const struct asked *all, size_t count, enum ws_rpc_status status)
{
	for (size_t i = 0; i < count; i++) {
		assert_true(all[i].call.ended);
		assert_int_equal(all[i].ended, 1);
		assert_int_equal(all[i].call.status, status);
	}
}

/* Turns until all have ended, each once and like this. */
static void
end_all(struct ws_rpc *rpc, const struct asked *all, size_t count, enum ws_rpc_status status)
{
	int64_t until = ws_clock_ms() + 60000;
	for (size_t i = 0; i < count;) {
		assert_true(ws_clock_ms() < until);
		ws_rpc_turn(rpc, 100);
		while (i < count && all[i].call.ended) {
			i++;
		}
	}
	assert_ended(all, count, status);
}

static struct asked *
ask_many(struct ws_rpc *rpc, const char *method, size_t count, struct ws_arena *a)
{
	struct asked *all = WS_NEW_N(a, struct asked, count);
	for (size_t i = 0; i < count; i++) {
		all[i] = ask(rpc, method);
		ws_rpc_start(rpc, &all[i].call);
	}
	return all;
}

WS_TEST(a_call_is_answered_while_others_stay_open)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked *held = ask_many(rpc, "/t/Hold", 3, a);
	hear(rpc, held, 3, 1);
	struct asked echo = ask(rpc, "/t/Echo"), release = ask(rpc, "/t/Release");
	run_one(rpc, &echo);
	assert_int_equal(echo.taken, 1);
	assert_memory_equal(echo.reply, "hello", 5);
	assert_false(held[0].call.ended);
	run_one(rpc, &release);
	end_all(rpc, held, 3, WS_RPC_OK);
}

WS_TEST(an_answered_call_makes_room_for_others)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked *held = ask_many(rpc, "/t/Hold", 2048, a);
	hear(rpc, held, 2048, 1);
	struct asked *mute = ask_many(rpc, "/t/Mute", 500, a);
	for (int i = 0; i < 5; i++) {
		ws_rpc_turn(rpc, 100);
	}
	for (size_t i = 0; i < 500; i++) {
		ws_rpc_cancel(rpc, &mute[i].call);
	}
	assert_ended(mute, 500, WS_RPC_CANCELLED);
	struct ws_rpc_seen seen = see(rpc);
	assert_int_equal(seen.most_open, 2048 + 200);
	assert_int_equal(seen.most_mute, 200);
	assert_int_equal(seen.resets, 200);
	assert_int_equal(seen.open, 2048 + 1);
	assert_int_equal(seen.connections, 1);
}

WS_TEST(a_call_with_a_deadline_makes_room_at_its_end)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked *all = WS_NEW_N(a, struct asked, 500);
	for (size_t i = 0; i < 500; i++) {
		all[i] = ask(rpc, "/t/Hold");
		all[i].call.deadline_ms = 60000;
		ws_rpc_start(rpc, &all[i].call);
	}
	hear(rpc, all, 200, 1);
	for (int i = 0; i < 5; i++) {
		ws_rpc_turn(rpc, 20);
	}
	assert_int_equal(all[200].begun, 0);
	for (size_t i = 0; i < 500; i++) {
		ws_rpc_cancel(rpc, &all[i].call);
	}
	assert_int_equal(see(rpc).most_open, 200);
}

WS_TEST(the_limit_of_the_server_counts_them_all)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(40, a);
	struct asked *held = ask_many(rpc, "/t/Hold", 39, a);
	hear(rpc, held, 39, 1);
	struct asked *more = ask_many(rpc, "/t/Echo", 100, a);
	end_all(rpc, more, 100, WS_RPC_OK);
	assert_int_equal(see(rpc).most_open, 40);
}

WS_TEST(ends_start_others)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked *all = WS_NEW_N(a, struct asked, 1000);
	for (size_t i = 0; i < 1000; i++) {
		all[i] = ask(rpc, "/t/Echo");
		all[i].then = i < 999 ? &all[i + 1] : NULL;
	}
	run_one(rpc, &all[0]);
	end_all(rpc, all, 1000, WS_RPC_OK);
}

WS_TEST(a_descriptor_beside_others_is_enough)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	assert_int_equal(ws_rpc_fd(rpc), -1);
	struct asked *all = ask_many(rpc, "/t/Echo", 20, a);
	ws_rpc_turn(rpc, 0);
	assert_int_not_equal(ws_rpc_fd(rpc), -1);
	while (!all[19].call.ended) {
		struct pollfd fd = {ws_rpc_fd(rpc), POLLIN, 0};
		assert_int_equal(poll(&fd, 1, 5000), 1);
		ws_rpc_turn(rpc, 0);
	}
	assert_ended(all, 20, WS_RPC_OK);
}

WS_TEST(a_call_may_be_cancelled_at_any_time)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked early = ask(rpc, "/t/Echo");
	ws_rpc_start(rpc, &early.call);
	ws_rpc_cancel(rpc, &early.call);
	assert_ended(&early, 1, WS_RPC_CANCELLED);
	struct asked *held = ask_many(rpc, "/t/Hold", 3, a);
	held[1].cancels = true;
	hear(rpc, held, 3, 1);
	assert_ended(&held[1], 1, WS_RPC_CANCELLED);
	ws_rpc_cancel(rpc, &held[1].call);
	ws_rpc_cancel(rpc, &held[0].call);
	assert_ended(held, 2, WS_RPC_CANCELLED);
	assert_false(held[2].call.ended);
	struct ws_rpc_seen seen = see(rpc);
	assert_int_equal(seen.resets, 2);
	assert_int_equal(seen.open, 2);
}

/* One whose deadline has passed ends; the others, and the connection, stay. */
WS_TEST(a_deadline_ends_one_call)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked *held = ask_many(rpc, "/t/Hold", 2, a);
	hear(rpc, held, 2, 1);
	struct asked late = ask(rpc, "/t/Mute");
	struct ws_call *call = &late.call;
	call->deadline_ms = 200;
	assert_true(ws_rpc_run(rpc, &call, 1));
	assert_ended(&late, 1, WS_RPC_DEADLINE);
	assert_true(call->silent);
	assert_int_equal(see(rpc).open, 3);
	assert_int_equal(see(rpc).connections, 1);
}

WS_TEST(a_broken_call_is_started_again)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked broken = ask(rpc, "/t/Break"), left = ask(rpc, "/t/Leave");
	run_one(rpc, &broken);
	assert_int_equal(broken.begun, 4);
	assert_int_equal(broken.taken, 4);
	run_one(rpc, &left);
	assert_int_equal(left.begun, 4);
	assert_int_equal(see(rpc).connections, 4);
}

/* Paused calls are started again; none ends. */
WS_TEST(a_connection_that_breaks_ends_no_long_call)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked *held = ask_many(rpc, "/t/Hold", 300, a);
	hear(rpc, held, 300, 1);
	struct asked left = ask(rpc, "/t/Leave");
	run_one(rpc, &left);
	hear(rpc, held, 300, left.begun);
	assert_int_equal(see(rpc).open, 301);
	for (size_t i = 0; i < 300; i++) {
		assert_false(held[i].call.ended);
	}
}

WS_TEST(a_crowded_server_is_asked_for_less)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked *all = ask_many(rpc, "/t/Crowd", 300, a);
	end_all(rpc, all, 300, WS_RPC_OK);
}

/* 100 refusals at once lower the limit once: 40 calls still fit. */
WS_TEST(a_burst_of_refusals_halves_the_limit_once)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked *all = ask_many(rpc, "/t/Burst", 100, a);
	end_all(rpc, all, 100, WS_RPC_OK);
	struct asked *held = ask_many(rpc, "/t/Hold", 40, a);
	hear(rpc, held, 40, 1);
}

WS_TEST(a_server_that_restarts_ends_no_call)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	struct asked *held = ask_many(rpc, "/t/Hold", 3, a);
	hear(rpc, held, 3, 1);
	struct asked restart = ask(rpc, "/t/Restart");
	run_one(rpc, &restart);
	hear(rpc, held, 3, 2);
	for (size_t i = 0; i < 3; i++) {
		assert_false(held[i].call.ended);
	}
	assert_int_equal(see(rpc).connections, 2);
}

static void
count_turn(void *count)
{
	++*(unsigned *)count;
}

/* A long transfer must not starve the rest of the program. */
WS_TEST(other_work_goes_on_while_a_call_waits)
{
	unsigned count = 0;
	struct ws_rpc_config config = {.channel.peer = {.host = "127.0.0.1",
									   .port = ws_arena_printf(a, "%u", ws_rpc_serve(10)),
									   .connect_ms = 5000},
		.while_waiting = count_turn,
		.waiting_for = &count};
	AUTO_RPC struct ws_rpc *rpc = ws_rpc_open(&config);
	struct asked mute = ask(rpc, "/t/Mute");
	struct ws_call *call = &mute.call;
	mute.call.deadline_ms = 600;
	assert_true(ws_rpc_run(rpc, &call, 1));
	assert_true(count >= 3);
}

WS_TEST(a_missing_server_ends_all_waiting_calls)
{
	AUTO_RPC struct ws_rpc *rpc = NULL;
	struct ws_rpc_config config = {
		.channel.peer = {.host = "127.0.0.1", .port = "9", .connect_ms = 1000}};
	rpc = ws_rpc_open(&config);
	struct asked *all = ask_many(rpc, "/t/Echo", 3, a);
	struct asked then = ask(rpc, "/t/Echo");
	all[1].then = &then;
	ws_rpc_turn(rpc, 100);
	assert_ended(all, 3, WS_RPC_UNAVAILABLE);
	assert_true(all[0].call.silent);
	assert_false(then.call.ended);
	ws_rpc_turn(rpc, 100);
	assert_ended(&then, 1, WS_RPC_UNAVAILABLE);
}

/* Streams come and go for hours: what they took is given back. */
WS_TEST(an_ended_call_leaves_no_memory)
{
	AUTO_RPC struct ws_rpc *rpc = connect_to(5000, a);
	size_t before = 0;
	for (int i = 0; i < 20; i++) {
		WS_AUTO_ARENA struct ws_arena *round = ws_arena_make();
		struct asked *all = ask_many(rpc, "/t/Echo", 500, round);
		end_all(rpc, all, 500, WS_RPC_OK);
		before = i == 1 ? mallinfo2().uordblks : before;
	}
	assert_true(mallinfo2().uordblks < before + 100000);
}

/* With pings alone the server would close the connection. */
WS_TEST(a_quiet_call_stays_open)
{
	AUTO_RPC struct ws_rpc *rpc = connect_with(5000, 20, a);
	struct asked *held = ask_many(rpc, "/t/Hold", 1, a);
	hear(rpc, held, 1, 1);
	int64_t until = ws_clock_ms() + 1000;
	while (ws_clock_ms() < until) {
		ws_rpc_turn(rpc, 10);
	}
	assert_int_equal(held->begun, 1);
	struct ws_rpc_seen seen = see(rpc);
	assert_int_equal(seen.connections, 1);
	assert_true(seen.calls > 5);
}
