#include "model/loopback.h"

bool
ws_host_is_loopback(struct ws_str host)
{
	unsigned parts = 0;
	if (ws_str_is(host, "localhost") || ws_str_is(host, "[::1]")) {
		return true;
	}
	for (struct ws_str rest = host; rest.s; parts++) {
		uint64_t value;
		struct ws_str part = ws_str_cut(&rest, '.');
		if (!ws_str_to_u64(part, &value) || value > 255 || (parts == 0 && value != 127)) {
			return false;
		}
	}
	return parts == 4;
}
