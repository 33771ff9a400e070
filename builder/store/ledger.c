/* ledger.c - three tables: runs, digests of outside files, answers of programs. Notes about
 * files are collected in memory and written together: single writes would cost a tenth of an
 * action that starts no process. The only user of SQLite (3.40 and later): a file shared by
 * processes (WAL). Durability is NORMAL: a power cut may lose the last second, which costs an
 * estimate; an fsync for each row would cost more. */
#include "store/ledger.h"

#include "sys/clock.h"

#include <sqlite3.h>

#include <errno.h>

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
#define MOST_STATEMENTS 12 /* different texts below */
#define BUSY_MS 10000
#define AGAIN_MS 10

/* The properties that show a change of a file, as one row. */
struct identity {
	int64_t size, mtime, ctime, inode, device;
};

struct note {
	struct identity id;
	struct ws_digest digest;
};

struct ws_ledger {
	sqlite3 *db;
	char *path;
	struct {
		const char *text;
		sqlite3_stmt *prepared;
	} statements[MOST_STATEMENTS];
	size_t count;
	struct ws_arena *a;  /* of unwritten notes; NULL: none */
	struct ws_map notes; /* path -> struct note */
};

/* ---- SQLite ---- */

static bool
set_sqlite_error(const struct ws_ledger *ledger, struct ws_err *err)
{
	/* SQLite reports "disk I/O error" if its log index finds no space. */
	int code = sqlite3_system_errno(ledger->db);
	if (sqlite3_errcode(ledger->db) == SQLITE_FULL || code == ENOSPC || code == EDQUOT) {
		errno = ENOSPC;
		return ws_err_sys(err, WS_ERR_IO, "the ledger '%s'", ledger->path);
	}
	return ws_err_set(
		err, WS_ERR_IO, "the ledger '%s': %s", ledger->path, sqlite3_errmsg(ledger->db));
}

static bool
try_open(struct ws_ledger *ledger)
{
	if (sqlite3_open_v2(ledger->path, &ledger->db,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)
		!= SQLITE_OK) {
		return false;
	}
	sqlite3_busy_timeout(ledger->db, BUSY_MS);
	/* A small page cache keeps the process small. */
	return sqlite3_exec(ledger->db,
			   "pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -512;",
			   NULL, NULL, NULL)
		== SQLITE_OK
		&& sqlite3_exec(ledger->db, schema, NULL, NULL, NULL) == SQLITE_OK;
}

/* While one process switches a new ledger to WAL, others get SQLITE_BUSY at once, without
 * busy_timeout, since waiting could deadlock. A damaged database is renamed to PATH.broken and
 * created again: its contents can be lost without harm. */
struct ws_ledger *
ws_ledger_open(const char *path, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_ledger *ledger = calloc(1, sizeof(*ledger));
	if (!ledger || !(ledger->path = strdup(path))) {
		abort();
	}
	int64_t end_ms = ws_clock_ms() + BUSY_MS;
	for (bool broken = false; !try_open(ledger);) {
		int code = ledger->db ? sqlite3_errcode(ledger->db) : SQLITE_NOMEM;
		bool damaged = code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
		if (broken || (code == SQLITE_BUSY ? ws_clock_ms() >= end_ms : !damaged)) {
			set_sqlite_error(ledger, err);
			ws_ledger_close(ledger);
			return NULL;
		}
		/* Closing removes the log of the database by name, so it comes before the rename. */
		sqlite3_close(ledger->db);
		ledger->db = NULL;
		if (damaged) {
			broken = true;
			rename(path, ws_arena_printf(a, "%s.broken", path));
		} else {
			nanosleep(&(struct timespec){0, AGAIN_MS * 1000000L}, NULL);
		}
	}
	return ledger;
}

/* Binds the values of @types, a letter for each `?`: 't' const char * (NULL is null), 'i' int64_t.
 * Statements stay prepared, so their texts are literals. */
static sqlite3_stmt *
bind(struct ws_ledger *ledger, struct ws_err *err, const char *text, const char *types,
	va_list values)
{
	size_t at = 0;
	while (at < ledger->count && strcmp(ledger->statements[at].text, text) != 0) {
		at++;
	}
	if (at == MOST_STATEMENTS) {
		abort();
	}
	sqlite3_stmt *s = ledger->statements[at].prepared;
	if (at < ledger->count) {
		sqlite3_reset(s);
	} else if (sqlite3_prepare_v3(ledger->db, text, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL)
		!= SQLITE_OK) {
		set_sqlite_error(ledger, err);
		return NULL;
	} else {
		ledger->statements[ledger->count].text = text;
		ledger->statements[ledger->count++].prepared = s;
	}
	for (int i = 0; types[i]; i++) {
		if (types[i] == 't') {
			sqlite3_bind_text(s, i + 1, va_arg(values, const char *), -1, SQLITE_TRANSIENT);
		} else {
			sqlite3_bind_int64(s, i + 1, va_arg(values, int64_t));
		}
	}
	return s;
}

static bool
run_sql(struct ws_ledger *ledger, struct ws_err *err, const char *text, const char *types, ...)
{
	va_list values;
	va_start(values, types);
	sqlite3_stmt *s = bind(ledger, err, text, types, values);
	va_end(values);
	if (!s) {
		return false;
	}
	int code = sqlite3_step(s);
	bool done = code == SQLITE_DONE || code == SQLITE_ROW || set_sqlite_error(ledger, err);
	sqlite3_reset(s);
	return done;
}

/* The rows of a select, reset when read; NULL on failure. One at a time for each text. */
static sqlite3_stmt *
select_rows(struct ws_ledger *ledger, const char *text, const char *types, ...)
{
	va_list values;
	va_start(values, types);
	sqlite3_stmt *s = bind(ledger, NULL, text, types, values);
	va_end(values);
	return s;
}

static const char *
text_at(sqlite3_stmt *rows, int column)
{
	const unsigned char *text = sqlite3_column_text(rows, column);
	return text ? (const char *)text : "";
}

/* ---- notes and costs ---- */

bool
ws_ledger_add(struct ws_ledger *ledger, const struct ws_ledger_run *run, struct ws_err *err)
{
	if (!run && !ledger->a) {
		return true;
	}
	int64_t at = ws_clock_ns(CLOCK_REALTIME) / 1000000;
	bool begun = run_sql(ledger, err, "begin immediate", "");
	bool done = begun
		&& (!run
			|| run_sql(ledger, err, "insert into runs values(?, ?, ?, ?, ?, ?, ?, ?)", "tttiiiii",
				run->unit, run->stage, run->variant, at, (int64_t)run->wall_ms,
				(int64_t)run->cpu_ms, (int64_t)run->rss_bytes, (int64_t)run->killed));
	for (size_t i = 0; i < ledger->notes.count && done; i++) {
		const struct ws_map_slot *slot = &ledger->notes.slots[i];
		const struct note *note = slot->value;
		const struct identity *id = &note->id;
		done = run_sql(ledger, err, "insert or replace into files values(?, ?, ?, ?, ?, ?, ?)",
			"tiiiiit", slot->key, id->size, id->mtime, id->ctime, id->inode, id->device,
			note->digest.hex);
	}
	done = done && run_sql(ledger, err, "commit", "");
	if (begun && !done) {
		run_sql(ledger, NULL, "rollback", "");
	}
	ws_arena_drop(ledger->a);
	ledger->a = NULL;
	ledger->notes = (struct ws_map){0};
	return done;
}

void
ws_ledger_close(struct ws_ledger *ledger)
{
	if (!ledger) {
		return;
	}
	ws_ledger_add(ledger, NULL, NULL);
	for (size_t i = 0; i < ledger->count; i++) {
		sqlite3_finalize(ledger->statements[i].prepared);
	}
	sqlite3_close(ledger->db);
	free(ledger->path);
	free(ledger);
}

/* Folds runs, newest first, into one estimate. */
static struct ws_estimate_of
fold(sqlite3_stmt *rows)
{
	struct ws_estimate_of sum = {0};
	uint64_t killed_bytes = 0;
	unsigned successes = 0;
	while (successes < 5 && rows && sqlite3_step(rows) == SQLITE_ROW) {
		uint64_t rss_bytes = (uint64_t)sqlite3_column_int64(rows, 2);
		if (sqlite3_column_int64(rows, 3)) {
			if (sum.wall_ms == 0 && rss_bytes > killed_bytes) {
				killed_bytes = rss_bytes;
			}
			continue;
		}
		if (successes++ == 0) {
			sum.wall_ms = (uint64_t)sqlite3_column_int64(rows, 0) + 1; /* 0 would mean "unknown" */
			sum.cpu_ms = (uint64_t)sqlite3_column_int64(rows, 1);
		}
		sum.rss_bytes = rss_bytes > sum.rss_bytes ? rss_bytes : sum.rss_bytes;
	}
	sqlite3_reset(rows); /* an open select would hide newer rows of other processes */
	if (killed_bytes * 2 > sum.rss_bytes) {
		sum.rss_bytes = killed_bytes * 2;
	}
	return sum;
}

struct ws_estimate_of
ws_ledger_estimate(
	struct ws_ledger *ledger, const char *unit, const char *stage, const char *variant)
{
	struct ws_estimate_of sum = fold(select_rows(ledger,
		"select wall_ms, cpu_ms, rss_bytes, killed from runs"
		" where unit = ? and stage = ? and variant = ? order by at desc limit 20",
		"ttt", unit, stage, variant));
	if (sum.rss_bytes > 0) {
		return sum;
	}
	return fold(select_rows(ledger,
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
	sqlite3_stmt *rows = select_rows(ledger,
		"select digest from files where path = ? and size = ? and mtime = ? and ctime = ?"
		" and inode = ? and device = ?",
		"tiiiii", path, id.size, id.mtime, id.ctime, id.inode, id.device);
	bool known =
		rows && sqlite3_step(rows) == SQLITE_ROW && ws_digest_parse(text_at(rows, 0), digest);
	sqlite3_reset(rows);
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
	sqlite3_stmt *rows =
		select_rows(ledger, "select answer, looks from answers where question = ?", "t", key);
	bool known =
		rows && sqlite3_step(rows) == SQLITE_ROW && ws_digest_parse(text_at(rows, 1), looks);
	if (known) {
		ws_buf_puts(answer, text_at(rows, 0));
	}
	sqlite3_reset(rows);
	return known;
}

void
ws_ledger_note_answer(
	struct ws_ledger *ledger, const char *key, const char *answer, const struct ws_digest *looks)
{
	run_sql(ledger, NULL, "insert or replace into answers values(?, ?, ?)", "ttt", key, answer,
		looks->hex);
}
