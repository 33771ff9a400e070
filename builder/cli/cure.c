/* cure.c - the words for each code. When a cure applies is decided where the error is set. */
#include "cli/cure.h"

#include "cli/selecting.h"

#include <string.h>

/* A value for an axis: "name the architectures: --arch 8.6", or with the matrix's key. */
static void
word_axis(struct ws_err *err, bool matrix, const char *what, const char *key, const char *value)
{
	ws_err_cure(
		err, matrix ? "name the %s: \"%s\": [\"%s\"]" : "name the %s: --%s %s", what, key, value);
}

static void
word_index(struct ws_err *err, bool matrix, const char *role)
{
	if (!role[0]) {
		ws_err_cure(err, "name an index or a mirror: --index URL");
	} else if (matrix) {
		ws_err_cure(err, "name an index with other builds: \"indexes\": {\"%s\": [URL]}", role);
	} else {
		ws_err_cure(err, "name an index with other builds: --index %s=URL", role);
	}
}

/* A command for the same selection, in words where there is none. */
static const char *
command(const struct ws_session *s, const char *name)
{
	return s->selecting ? ws_selecting_command(s, s->selecting, name)
						: ws_arena_printf(s->a, "wheelsmith %s", name);
}

static void
word(const struct ws_session *s, enum ws_cure code, const char *subject, struct ws_err *err)
{
	bool matrix = s->selecting && s->selecting->options.matrix;
	const char *recipes = s->globals.recipes ? s->globals.recipes : "recipes";
	switch (code) {
	case WS_CURE_FREE_SPACE:
		ws_err_cure(err, "free some space there, or take another folder: --store DIR, -o DIR");
		break;
	case WS_CURE_READ_ONLY:
		ws_err_cure(err, "that file system is read-only; take another folder: --store DIR, -o DIR");
		break;
	case WS_CURE_OUTPUT:
		ws_err_cure(err, "choose another folder: -o DIR");
		break;
	case WS_CURE_STORE:
		ws_err_cure(err, "name a folder for the store: --store DIR, or WHEELSMITH_STORE");
		break;
	case WS_CURE_TORCH:
		word_axis(err, matrix, "torch release", "torch", subject);
		break;
	case WS_CURE_CUDA:
		word_axis(err, matrix, "CUDA version", "cuda", subject);
		break;
	case WS_CURE_PYTHON:
		word_axis(err, matrix, "Python", "python", subject);
		break;
	case WS_CURE_ARCH:
		word_axis(err, matrix, "architectures", "arch", subject);
		break;
	case WS_CURE_INDEX:
		word_index(err, matrix, subject);
		break;
	case WS_CURE_DEBIAN_MIRROR:
		ws_err_cure(err, "name a Debian mirror:  --debian-mirror URL");
		break;
	case WS_CURE_KITS_ARCHIVE:
		ws_err_cure(
			err, "--kits archive assembles a complete one in the store; nothing is installed");
		break;
	case WS_CURE_FETCH:
		ws_err_cure(err, "fetch first, with a network:  %s", command(s, "fetch"));
		break;
	case WS_CURE_LOCK:
		ws_err_cure(err, "if that release exists, add it to the lock:  %s", command(s, "lock"));
		break;
	case WS_CURE_LOCK_UPDATE:
		ws_err_cure(err, "if that is as it should be:  %s%s%s", command(s, "lock"),
			subject[0] ? " --update " : "", subject);
		break;
	case WS_CURE_ASK_AGAIN:
		ws_err_cure(err, "to ask them again:  %s --update %s", command(s, "lock"), subject);
		break;
	case WS_CURE_UNLOCKED:
		ws_err_cure(err, "or build without --locked");
		break;
	case WS_CURE_RECIPE:
		ws_err_cure(err, "draft one:  wheelsmith recipe new %s%s -o %s/", subject,
			strstr(subject, "==") ? "" : "==VERSION", recipes);
		ws_err_cure(err, "and build with it:  %s%s", command(s, "build"),
			s->globals.recipes ? "" : " --recipes recipes");
		break;
	case WS_CURE_FIRST_SIGNATURE:
		ws_err_cure(err, "if its wheels are yours, sign it for the first time: --sign-unsigned");
		break;
	case WS_CURE_SYNC:
		ws_err_cure(
			err, "publish to a folder, and copy that:  wheelsmith publish DIR... --to FOLDER");
		ws_err_cure(err,
			"aws s3 sync FOLDER %s --exclude '.*' --exclude '@*' --exclude 'current/*'", subject);
		break;
	case WS_CURE_ACTION_TIMEOUT:
		ws_err_cure(err, "if that is how long it takes here: --action-timeout SECONDS");
		break;
	}
}

void
ws_cures_word(const struct ws_session *s, struct ws_err *err)
{
	for (size_t i = 0; i < err->cure_count; i++) {
		word(s, err->cures[i].code, err->cures[i].subject, err);
	}
	err->cure_count = 0;
}
