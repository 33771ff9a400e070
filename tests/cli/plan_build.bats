#!/usr/bin/env bats
# The plan after a build.
# timeout: 300

load base

decisions() {
	"$WHEELSMITH" plan --json --matrix m.json | jq -r '.cells[].decision' | xargs
}

@test "after a build the plan finds its wheels, also when that build made the lock" {
	[ "$(decisions)" = build ]
	build -0
	[ "$(decisions)" = cached ]
	rm m.lock.json
	grep -rl '^wheelsmith.cell/2' "$WHEELSMITH_STORE/ac" | xargs rm
	[ "$(decisions)" = build ]
	serve "$BASE/www"
	build --index "$INDEX"
	unserve
	[ "$status" -eq 0 ]
	[ "$(built .actions.ran)" -eq 0 ]
	[ "$(decisions)" = cached ]
}

@test "a matrix without its lock finds the results in the store" {
	build -0
	rm m.lock.json
	[ "$(decisions)" = cached ]
}

@test "local sources that changed are not what was built of them" {
	build -0
	sed -i 's/(42)/(43)/' recipes/tiny/src/module.cpp
	[ "$(decisions)" = build ]
	ws plan --matrix m.json --policy prebuilt-only
	[[ "$output" == *"0 cached"* || "$output" != *cached* ]]
	build -3 --policy prebuilt-only
	[ "$(built '.actions.ran')" -eq 5 ]
	sed -i 's/(43)/(42)/' recipes/tiny/src/module.cpp
	[ "$(decisions)" = cached ]
}

@test "a plan makes no store" {
	local store=$PWD/none/store
	ws -0 plan --matrix m.json --store "$store"
	[[ "$output" == *"total: 1 to build"* ]]
	ws -0 plan --matrix m.json --store "$store" --why "$CELL"
	[ ! -e none ]
	mkdir -p none/store
	ws plan --matrix m.json --store "$store"
	[ -z "$(ls -A none/store)" ]
	touch none/store/mine
	ws -3 plan --matrix m.json --store "$store"
	[[ "$stderr" == *"'$store' is not a store, and it is not empty"* ]]
}

@test "--strict: what the facts rule out is a mistake, what the matrix excludes is not" {
	matrix m.json '"cuda": ["13.0", "12.4"]'
	ws -0 plan --matrix m.json
	ws -3 plan --matrix m.json --strict
	[[ "$output" == *"  1 excluded: torch $TORCH is a CUDA 13 build (1)"* ]]
	[[ "$stderr" == *"error: 'tiny-1.0/torch$TORCH/cu12.4/$CP/sm86' cannot be: torch $TORCH is a CUDA 13 build"* ]]
	matrix m.json '"cuda": ["13.0", "12.4"], "exclude": [{"cuda": "12.4", "why": "not needed"}]'
	ws -0 plan --matrix m.json --strict
	[[ "$output" == *"  1 excluded: not needed (1)"* ]]
	[ -z "$stderr" ]
	# A build names them.
	build -0
	[[ "$stderr" == *$'\nexcluded: not needed\n  tiny-1.0/torch'"$TORCH/cu12.4/$CP/sm86"$'\n'* ]]
}

@test "build, fetch and lock leave out what nothing may build" {
	rm -r m.lock.json "$WHEELSMITH_STORE"
	build -3 --offline --policy prebuilt-only
	[[ "$stderr" == *"error: every cell is excluded; the first: no candidate, and the policy is prebuilt-only"* ]]
	matrix m.json '"policy": "prebuilt-only", "fallback": {"tiny": "plain torch"}'
	build -0 --offline
	[ -z "$output" ]
	[ "$(built '.cells[].decision')" = fallback ]
	for command in fetch lock; do
		ws -0 "$command" --matrix m.json
	done
	[[ "$stderr" == *"0 sources, 0 CUDA kits, 0 torch releases"* ]]
}

@test "a package has one lock, however its name is written" {
	serve "$BASE/www"
	for name in tiny Tiny TINY; do
		ws -0 build "$name==1.0" --recipes recipes --torch "$TORCH" --python "$PY" --arch 8.6 --cuda 13.0 --index "$INDEX"
	done
	unserve
	[ "$(find "$WHEELSMITH_STORE/locks" -name '*.lock.json' | wc -l)" -eq 1 ]
}

@test "a toolkit is named by major and minor, and the minor may be left out" {
	ws -0 plan tiny==1.0 --recipes recipes --torch "$TORCH" --python "$PY" --arch 8.6 --cuda 13 --json
	[[ "$(jq -r '.cells[].cell' <<< "$output")" == *"/cu13.0/"* ]]
	ws -2 plan tiny==1.0 --recipes recipes --torch "$TORCH" --python "$PY" --arch 8.6 --cuda 13.0.0
	[[ "$stderr" == *"'13.0.0' is not a CUDA version"* ]]
}

@test "sources in a folder count as they are, not as they were locked" {
	build -0
	[ "$(decisions)" = cached ]
	sed -i 's/(42)/(43)/' recipes/tiny/src/module.cpp
	[ "$(decisions)" = build ]
	build -3 --offline --policy prebuilt-only
	[[ "$stderr" == *"error: every cell is excluded; the first: no candidate, and the policy is prebuilt-only"* ]]
	# As they were: the wheel is there, and neither tools nor kits are asked for.
	sed -i 's/(43)/(42)/' recipes/tiny/src/module.cpp
	[ "$(decisions)" = cached ]
	rm -r dist "$WHEELSMITH_STORE/trees"
	build -0 --offline --policy prebuilt-only
	[ "$output" = "$(echo dist/*.whl)" ]
	[ "$(built '.cells[].decision')" = cached ]
	[ "$(built .actions.total)" -eq 0 ]
	# a plan does not trust the lock for a file that a build would refuse.
	mkfifo recipes/tiny/src/pipe
	[ "$(decisions)" = build ]
}

@test "sizes of wheels are reported, and those of the wheel before" {
	build -0
	size=$(stat -c %s "$output")
	installed=$(python3 -c 'import sys, zipfile; print(sum(m.file_size for m in zipfile.ZipFile(sys.argv[1]).infolist()))' "$output")
	[ "$(built '.cells[0] | "\(.size) \(.installed) \(.before)"')" = "$size $installed null" ]
	[[ "$stderr" == *$'\n1 wheel, '*" kB; installed "*" kB"$'\n'* ]]
	[[ "$stderr" != *" changed: "* ]]
	[[ "$("$WHEELSMITH" plan --json --matrix m.json | jq -r '.cells[0].why')" == "built 20"*" kB, installed "*" kB" ]]
	sed -i 's/(42)/(43)/' recipes/tiny/src/module.cpp
	build
	[ "$(built '.cells[0].before | "\(.size) \(.installed)"')" = "$size $installed" ]
	[[ "$stderr" == *$'\n1 changed: '*" was "*"; installed "*" was "*$'\n'* ]]
	# The same request again changes no file.
	build
	[ "$(built '.cells[0] | "\(.installed > 0) \(.before)"')" = "true null" ]
}
