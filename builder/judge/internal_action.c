#include "judge/internal_action.h"

#include "store/cas.h"

struct ws_action *
ws_internal_action(const char *name, const char *version, const char *program, struct ws_arena *a)
{
	static const char *const env[] = {"LANG=C", NULL};
	const char **argv = WS_NEW_N(a, const char *, 4);
	struct ws_token *self = WS_NEW(a, struct ws_token);
	struct ws_action *action = WS_NEW(a, struct ws_action);
	argv[0] = "wheelsmith";
	argv[1] = "internal";
	argv[2] = name;
	*self = (struct ws_token){"{self}", program};
	*action = (struct ws_action){
		.stage = name,
		.variant = "",
		.tool = {"wheelsmith", self->name, version},
		.argv = argv,
		.env = env,
		.tokens = self,
		.token_count = 1,
		.need = {.cpus = 1, .rss_bytes = 128 << 20},
	};
	return action;
}

bool
ws_internal_input(const struct ws_store *store, const struct ws_buf *text, const char *name,
	struct ws_input *input, struct ws_arena *a, struct ws_err *err)
{
	struct ws_digest digest;
	if (!store) {
		digest = ws_digest_bytes(ws_buf_text(text), text->len);
	} else if (!ws_cas_put(store, ws_buf_text(text), text->len, &digest, err)) {
		return false;
	}
	*input = (struct ws_input){.name = name, .digest = ws_arena_strdup(a, digest.hex)};
	return true;
}
