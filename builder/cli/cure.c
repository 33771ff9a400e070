/* cure.c - the words for each code. When a cure applies is decided where the error is set. */
#include "cli/cure.h"

#include "cli/selecting.h"

#include <string.h>

/* What is the same for everybody, and where a command for the same selection follows. */
static const struct {
	const char *text;
	const char *command; /* NULL: none follows */
} texts[] = {
	[WS_CURE_FREE_SPACE] = {"free some space there, or take another folder: --store DIR, -o DIR",
		NULL},
	[WS_CURE_READ_ONLY] =
		{"that file system is read-only; take another folder: --store DIR, -o DIR", NULL},
	[WS_CURE_OUTPUT] = {"choose another folder: -o DIR", NULL},
	[WS_CURE_STORE] = {"name a folder for the store: --store DIR, or WHEELSMITH_STORE", NULL},
	[WS_CURE_DEBIAN_MIRROR] = {"name a Debian mirror:  --debian-mirror URL", NULL},
	[WS_CURE_KITS_ARCHIVE] =
		{"--kits archive assembles a complete one in the store; nothing is installed", NULL},
	[WS_CURE_FETCH] = {"fetch first, with a network:  ", "fetch"},
	[WS_CURE_LOCK] = {"if that release exists, add it to the lock:  ", "lock"},
	[WS_CURE_UNLOCKED] = {"or build without --locked", NULL},
	[WS_CURE_FIRST_SIGNATURE] =
		{"if its wheels are yours, sign it for the first time: --sign-unsigned", NULL},
	[WS_CURE_ACTION_TIMEOUT] = {"if that is how long it takes here: --action-timeout SECONDS",
		NULL},
};

/* A value for an axis: "name the architectures: --arch 8.6", or with the matrix's key. */
static const struct {
	const char *what, *key;
} axes[] = {
	[WS_CURE_TORCH] = {"torch release", "torch"},
	[WS_CURE_CUDA] = {"CUDA version", "cuda"},
	[WS_CURE_PYTHON] = {"Python", "python"},
	[WS_CURE_ARCH] = {"architectures", "arch"},
};

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
	if (code < WS_LEN(texts) && texts[code].text) {
		const char *follows = texts[code].command ? command(s, texts[code].command) : "";
		ws_err_cure(err, "%s%s", texts[code].text, follows);
	} else if (code < WS_LEN(axes) && axes[code].key) {
		ws_err_cure(err, matrix ? "name the %s: \"%s\": [\"%s\"]" : "name the %s: --%s %s",
			axes[code].what, axes[code].key, subject);
	} else if (code == WS_CURE_INDEX) {
		word_index(err, matrix, subject);
	} else if (code == WS_CURE_LOCK_UPDATE) {
		ws_err_cure(err, "if that is as it should be:  %s%s%s", command(s, "lock"),
			subject[0] ? " --update " : "", subject);
	} else if (code == WS_CURE_ASK_AGAIN) {
		ws_err_cure(err, "to ask them again:  %s --update %s", command(s, "lock"), subject);
	} else if (code == WS_CURE_RECIPE) {
		ws_err_cure(err, "draft one:  wheelsmith recipe new %s%s -o %s/", subject,
			strstr(subject, "==") ? "" : "==VERSION",
			s->globals.recipes ? s->globals.recipes : "recipes");
		ws_err_cure(err, "and build with it:  %s%s", command(s, "build"),
			s->globals.recipes ? "" : " --recipes recipes");
	} else if (code == WS_CURE_SYNC) {
		ws_err_cure(
			err, "publish to a folder, and copy that:  wheelsmith publish DIR... --to FOLDER");
		ws_err_cure(err,
			"aws s3 sync FOLDER %s --exclude '.*' --exclude '@*' --exclude 'current/*'", subject);
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
