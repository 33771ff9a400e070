#!/usr/bin/env bats
# kill -9, SIGINT and SIGTERM at random moments of a build, WS_KILLS times (200): the next run makes the same wheel, and
# nothing of what the first had finished runs again.
# labels: cuda real
# timeout: 7200

load splitting

# The finished actions of a build with -v: "cicc kernel.cu (compute_86)". Not those whose results no store
# keeps, such as preprocessed text.
finished() { # FILE
	sed -nE 's/.*\] ((compile|link|check|pack|cicc|ptxas) .*)  [0-9.]+ .*s cpu.*/\1/p' "$1" | sort
}

now_ms() {
	date +%s%3N
}

@test "whenever it is killed, the next run does what was not done, and makes the same wheel" {
	local start whole sum i again=0 ended=0 kills=${WS_KILLS:-200} seed=${WS_SEED:-$RANDOM}
	echo "seed $seed" >&3
	RANDOM=$seed
	recipe 'e["sources"] += ["b.cpp", "c.cpp"]'
	echo '#include <vector>' > recipes/tiny/src/b.cpp
	echo '#include <string>' > recipes/tiny/src/c.cpp
	cp -a "$WHEELSMITH_STORE" fresh
	start=$(now_ms)
	"$WHEELSMITH" build --matrix m.json
	whole=$(($(now_ms) - start))
	sum=$(built '.cells[0].sha256')
	for ((i = 0; i < kills; i++)); do
		rm -rf dist "$WHEELSMITH_STORE"
		cp -al fresh "$WHEELSMITH_STORE"
		cp --remove-destination fresh/ledger.db "$WHEELSMITH_STORE" # written in place
		local signal=KILL delay=$(((RANDOM * 32768 + RANDOM) % (whole * 11 / 10)))
		case $((i % 4)) in 0) signal=INT ;; 1) signal=TERM ;; esac
		hears_signals "$WHEELSMITH" build -v --matrix m.json > /dev/null 2> first.log 3>&- &
		sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
		# A host that was busier when the whole build was timed.
		kill -$signal $! 2> /dev/null || { ended=$((ended + 1)) whole=$((whole > 1000 ? whole * 9 / 10 : whole)); }
		wait $! || true
		dist_is_whole
		"$WHEELSMITH" build -v --matrix m.json > /dev/null 2> second.log || { cat first.log second.log; false; }
		[ "$(built '.cells[0].sha256')" = "$sum" ]
		[ "$(sha256sum < dist/*.whl | cut -d' ' -f1)" = "$sum" ]
		comm -12 <(finished first.log) <(finished second.log) > twice
		[ ! -s twice ] || { echo "$signal after $delay ms:"; cat twice first.log second.log; false; }
		again=$((again + $(finished first.log | wc -l)))
	done
	echo "$kills times, $ended had ended before; $again finished actions were found again; whole: $whole ms" >&3
	[ "$again" -gt "$kills" ]
	[ $((ended * 2)) -lt "$kills" ]
}
