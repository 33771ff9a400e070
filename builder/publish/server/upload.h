/**
 * upload.h - wheels to a server of packages, by the upload API that all of them speak
 *
 * pypiserver, devpi and whoever else takes the forms of form.h. All wheels are read and judged
 * (admit.h), and compared with what the server's simple index has, before the first is sent. A
 * wheel that is there with the same SHA-256 is done; with another one it is an error. When a server
 * refuses a wheel because it has a file of this name, its index is asked again: the same SHA-256
 * there is a success. So a lost answer, or another publisher that was faster, is not a failure. A
 * file is streamed, and held against its SHA-256 meanwhile: of one that was changed the end is not
 * sent. The server makes each wheel visible at once, so an upload is not all or nothing; the error
 * says how many are there.
 */
#ifndef WS_PUBLISH_SERVER_UPLOAD_H
#define WS_PUBLISH_SERVER_UPLOAD_H

#include "net/http.h"
#include "publish/login.h"
#include "store/ledger.h"

struct ws_upload_order {
	const char *url;    /**< that takes the forms: "https://host/legacy/"; without a login */
	const char *simple; /**< its simple index; NULL: guessed from url */
	const struct ws_login *login; /**< what http sends there; never shown */
	const char *const *sources;   /**< folders with wheels, or wheels */
	size_t source_count;
	const char *const *gpu_checks; /**< as in publish.h */
	size_t gpu_check_count;
	bool force;               /**< send wheels that are wrong, too */
	struct ws_http *http;     /**< which knows the login (ws_http_login) */
	struct ws_ledger *ledger; /**< remembers digests; NULL: none does */
	struct ws_stop *stop;     /**< NULL: never */
	void (*warn)(void *self, const char *file, const char *wrong);
	void (*restricted)(
		void *self, const char *file, const char *licence);     /**< not for all; or NULL */
	void (*sent)(void *self, const char *file, bool was_there); /**< each, when it is done */
	void *self;
};

struct ws_upload_outcome {
	size_t sent, there; /**< wheels that were sent, and that the server had */
	uint64_t sent_bytes;
};

/** Errors are WS_ERR_PUBLISH. */
bool ws_index_upload(const struct ws_upload_order *order, struct ws_arena *a,
	struct ws_upload_outcome *outcome, struct ws_err *err);

#endif
