/* policy.c - the names are model/matrix.c's. */
#include "config/policy.h"

#include "config/values.h"
#include "model/matrix.h"

static bool
read_policy(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *words[WS_POLICY_BUILD_ONLY + 1];
	for (size_t i = 0; i < WS_LEN(words); i++) {
		words[i] = ws_policy_name((enum ws_policy)i);
	}
	return ws_text_of(r, value, "a policy")
		&& (ws_policy_parse(value->text, into)
			|| ws_word_err(r, value, "policy", words, WS_LEN(words)));
}

const struct ws_type ws_type_policy =
	WS_VALUES(enum ws_policy, "a policy", "policies", read_policy);
