/* ledger.c - three tables: runs, digests of outside files, answers of programs. Notes about
 * files are collected in memory and written together: single writes would cost a tenth of an
 * action that starts no process. */
#include "store/ledger.h"

#include "store/sql.h"

#include <time.h>

static const char schema[] =
	"create table if not exists runs(unit text not null, stage text not null, variant text not "
	"null,"
	" at integer not null, wall_ms integer not null, cpu_ms integer not null,"
	" rss_bytes integer not null, killed integer not null);"
	"create index if not exists runs_by_unit on runs(unit, stage, variant, at);"
	"create table if not exists files(path text primary key, size integer, mtime integer,"
	" ctime integer, inode integer, device integer, digest text) without rowid;"
	"create table if not exists answers(question text primary key, answer text not null,"
	" looks text not null) without rowid;";

#define MOST_NOTES 512

/* The properties that show a change of a file, as one row. */
struct identity {
	int64_t size, mtime, ctime, inode, device;
};

struct note {
	struct identity id;
	struct ws_digest digest;
};

struct ws_ledger {
	struct ws_sql *sql;
	struct ws_arena *a;  /* of unwritten notes; NULL: none */
	struct ws_map notes; /* path -> struct note */
};

struct ws_ledger *
ws_ledger_open(const char *path, struct ws_err *err)
{
	struct ws_ledger *ledger = calloc(1, sizeof(*ledger));
	if (!ledger) {
		abort();
	}
	ledger->sql = ws_sql_open(path, schema, err);
	if (!ledger->sql) {
		free(ledger);
		return NULL;
	}
	return ledger;
}

bool
ws_ledger_add(struct ws_ledger *ledger, const struct ws_ledger_run *run, struct ws_err *err)
{
	struct ws_sql *sql = ledger->sql;
	if (!run && !ledger->a) {
		return true;
	}
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	int64_t at = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	bool begun = ws_sql_run(sql, err, "begin immediate", "");
	bool done = begun
		&& (!run
			|| ws_sql_run(sql, err, "insert into runs values(?, ?, ?, ?, ?, ?, ?, ?)", "tttiiiii",
				run->unit, run->stage, run->variant, at, (int64_t)run->wall_ms,
				(int64_t)run->cpu_ms, (int64_t)run->rss_bytes, (int64_t)run->killed));
	for (size_t i = 0; i < ledger->notes.count && done; i++) {
		const struct ws_map_slot *slot = &ledger->notes.slots[i];
		const struct note *note = slot->value;
		const struct identity *id = &note->id;
		done = ws_sql_run(sql, err, "insert or replace into files values(?, ?, ?, ?, ?, ?, ?)",
			"tiiiiit", slot->key, id->size, id->mtime, id->ctime, id->inode, id->device,
			note->digest.hex);
	}
	done = done && ws_sql_run(sql, err, "commit", "");
	if (begun && !done) {
		ws_sql_run(sql, NULL, "rollback", "");
	}
	ws_arena_drop(ledger->a);
	ledger->a = NULL;
	ledger->notes = (struct ws_map){0};
	return done;
}

void
ws_ledger_close(struct ws_ledger *ledger)
{
	if (ledger) {
		ws_ledger_add(ledger, NULL, NULL);
		ws_sql_close(ledger->sql);
		free(ledger);
	}
}

/* Folds runs, newest first, into one estimate. */
static struct ws_estimate_of
fold(struct ws_sql_rows *rows)
{
	struct ws_estimate_of sum = {0};
	uint64_t killed_bytes = 0;
	unsigned successes = 0;
	while (successes < 5 && rows && ws_sql_next(rows)) {
		uint64_t rss_bytes = (uint64_t)ws_sql_int(rows, 2);
		if (ws_sql_int(rows, 3)) {
			if (sum.wall_ms == 0 && rss_bytes > killed_bytes) {
				killed_bytes = rss_bytes;
			}
			continue;
		}
		if (successes++ == 0) {
			sum.wall_ms = (uint64_t)ws_sql_int(rows, 0) + 1; /* 0 would mean "unknown" */
			sum.cpu_ms = (uint64_t)ws_sql_int(rows, 1);
		}
		sum.rss_bytes = rss_bytes > sum.rss_bytes ? rss_bytes : sum.rss_bytes;
	}
	if (rows) {
		ws_sql_done(rows); /* an open select would hide newer rows of other processes */
	}
	if (killed_bytes * 2 > sum.rss_bytes) {
		sum.rss_bytes = killed_bytes * 2;
	}
	return sum;
}

struct ws_estimate_of
ws_ledger_estimate(
	struct ws_ledger *ledger, const char *unit, const char *stage, const char *variant)
{
	struct ws_estimate_of sum = fold(ws_sql_select(ledger->sql, NULL,
		"select wall_ms, cpu_ms, rss_bytes, killed from runs"
		" where unit = ? and stage = ? and variant = ? order by at desc limit 20",
		"ttt", unit, stage, variant));
	if (sum.rss_bytes > 0) {
		return sum;
	}
	return fold(ws_sql_select(ledger->sql, NULL,
		"select wall_ms, cpu_ms, rss_bytes, killed from runs"
		" where unit = ? and stage = ? order by at desc limit 20",
		"tt", unit, stage));
}

static struct identity
identity_of(const struct stat *status)
{
	return (struct identity){
		.size = (int64_t)status->st_size,
		.mtime = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec,
		.ctime = (int64_t)status->st_ctim.tv_sec * 1000000000 + status->st_ctim.tv_nsec,
		.inode = (int64_t)status->st_ino,
		.device = (int64_t)status->st_dev,
	};
}

void
ws_ledger_note(struct ws_ledger *ledger, const char *path, const struct stat *status,
	const struct ws_digest *digest)
{
	if (!ledger->a) {
		ledger->a = ws_arena_make();
	}
	struct note *note = ws_map_get(&ledger->notes, path);
	if (!note) {
		note = WS_NEW(ledger->a, struct note);
		ws_map_put(&ledger->notes, ws_arena_strdup(ledger->a, path), note, ledger->a);
	}
	*note = (struct note){identity_of(status), *digest};
	if (ledger->notes.count >= MOST_NOTES) {
		ws_ledger_add(ledger, NULL, NULL);
	}
}

bool
ws_ledger_recall(
	struct ws_ledger *ledger, const char *path, const struct stat *status, struct ws_digest *digest)
{
	struct identity id = identity_of(status);
	const struct note *note = ws_map_get(&ledger->notes, path);
	if (note && memcmp(&note->id, &id, sizeof(id)) == 0) {
		*digest = note->digest;
		return true;
	}
	struct ws_sql_rows *rows = ws_sql_select(ledger->sql, NULL,
		"select digest from files where path = ? and size = ? and mtime = ? and ctime = ?"
		" and inode = ? and device = ?",
		"tiiiii", path, id.size, id.mtime, id.ctime, id.inode, id.device);
	bool known = rows && ws_sql_next(rows) && ws_digest_parse(ws_sql_text(rows, 0), digest);
	if (rows) {
		ws_sql_done(rows);
	}
	return known;
}

bool
ws_ledger_file_digest(struct ws_ledger *ledger, const char *path, struct ws_digest *digest)
{
	struct stat status;
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode)) {
		return false;
	}
	if (ws_ledger_recall(ledger, path, &status, digest)) {
		return true;
	}
	if (!ws_digest_file(path, digest, NULL, NULL)) {
		return false;
	}
	time_t written_s = status.st_mtim.tv_sec, changed_s = status.st_ctim.tv_sec;
	if ((written_s > changed_s ? written_s : changed_s) + 2 < time(NULL)) {
		ws_ledger_note(ledger, path, &status, digest);
	}
	return true;
}

bool
ws_ledger_answer(
	struct ws_ledger *ledger, const char *key, struct ws_buf *answer, struct ws_digest *looks)
{
	struct ws_sql_rows *rows = ws_sql_select(
		ledger->sql, NULL, "select answer, looks from answers where question = ?", "t", key);
	bool known = rows && ws_sql_next(rows) && ws_digest_parse(ws_sql_text(rows, 1), looks);
	if (known) {
		ws_buf_puts(answer, ws_sql_text(rows, 0));
	}
	if (rows) {
		ws_sql_done(rows);
	}
	return known;
}

void
ws_ledger_note_answer(
	struct ws_ledger *ledger, const char *key, const char *answer, const struct ws_digest *looks)
{
	ws_sql_run(ledger->sql, NULL, "insert or replace into answers values(?, ?, ?)", "ttt", key,
		answer, looks->hex);
}
