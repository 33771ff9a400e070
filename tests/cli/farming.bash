# farming.bash - `load farming`: BuildGrid with workers of our own, and a farm in one process that misbehaves, for the files
# that drive a build farm
# shellcheck shell=bash disable=SC2154

# In $WS_BINARY_DIR/test-buildgrid, once.
make_buildgrid() {
	VENV=$WS_BINARY_DIR/test-buildgrid
	exec 8> "$VENV.lock"
	flock 8
	if [ ! -e "$VENV/made" ]; then
		rm -rf "$VENV"
		python3 -m venv "$VENV"
		"$VENV/bin/pip" install --quiet buildgrid==0.4.4 psycopg2-binary==2.9.13
		touch "$VENV/made"
	fi
	exec 8>&-
}

# Leaves PORT, FARM (its folder) and ./pids.
start_buildgrid() {
	ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || cannot_run "needs PostgreSQL (./dev setup real)"
	make_buildgrid
	FARM=$(mktemp -d /tmp/buildgrid.XXXXXX) # the user postgres may not enter the test's folder
	PORT=$(free_port)
	"$WS_ROOT/tests/support/buildgrid_setup.sh" "$VENV" "$FARM" "$PORT" > pids
	export VENV FARM PORT
}

# In ./NAME.pid is its process id.
start_worker() { # NAME [PROPERTY=VALUE...]
	"$VENV/bin/python" "$WS_ROOT/tests/support/reapi_worker.py" "$PORT" "$1" "$FARM/$1" "${@:2}" \
		> "$1.out" 2>&1 < /dev/null 3>&- 8>&- 9>&- &
	echo $! > "$1.pid"
}

end_workers() {
	local file
	for file in *.pid; do
		kill "$(cat "$file")" 2> /dev/null || true
	done
}

# Until it has a command that compiles.
until_it_compiles() { # NAME
	local i
	for ((i = 0; i < 600; i++)); do
		! pgrep -P "$(cat "$1.pid")" > /dev/null || return 0
		sleep 0.1
	done
	return 1
}

end_farm() { # FILE OF IDS
	local pid
	tac "$1" | while read -r pid; do
		kill "$pid" 2> /dev/null || true
		timeout 20 tail --pid="$pid" -f /dev/null || kill -9 "$pid" || true
	done
	rm -rf "$FARM"
}

# ---- a farm in one process ----

# farm_server.py with OPTIONs, which carries actions out in ./farm; on the port of the one before, where there was one. Leaves GRPC,
# ./farm.pid, and ./stats when it has ended.
start_farm() { # [OPTION...]
	local i
	make_buildgrid
	PORT=${PORT:-$(free_port)} GRPC=grpc://127.0.0.1:$PORT
	"$VENV/bin/python" "$WS_ROOT/tests/support/farm_server.py" "$PORT" --slots 2 --run "$PWD/farm" --stats "$PWD/stats" "$@" \
		> farm.log 2>&1 < /dev/null 3>&- 8>&- 9>&- &
	echo $! > farm.pid
	for ((i = 0; i < 300; i++)); do
		! grep -q ready farm.log || return 0
		sleep 0.1
	done
	return 1
}

end_one_farm() { # [SIGNAL]
	[ -f farm.pid ] || return 0
	kill "-${1:-TERM}" "$(cat farm.pid)" 2> /dev/null || true
	timeout 20 tail --pid="$(cat farm.pid)" -f /dev/null
	rm -f farm.pid
}

# The value of NAME in ./stats.
stat_of() { # NAME
	end_one_farm
	python3 -c 'import json, sys; print(json.load(open("stats"))[sys.argv[1]])' "$1"
}
