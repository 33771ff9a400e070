#!/usr/bin/env bats
# wheelsmith cache: what the store holds, damage, room, and results from one store to another.
# timeout: 900

load base

# A value of `cache COMMAND --json`.
cached() { # FILTER COMMAND...
	local filter=$1
	shift
	"$WHEELSMITH" cache "$@" --json | jq -r "$filter"
}

# The file of the store's cas that is the object of a unit.
object_of() { # UNIT
	local key
	key=$(grep -lE "^out [0-9a-f]{64} [0-9]+ .*$1" -r "$WHEELSMITH_STORE/ac" | head -n 1)
	sed -nE 's/^out ([0-9a-f]{2})([0-9a-f]+) .*/\1\/\1\2/p' "$key" | head -n 1
}

# As if all of the store had last been of use then.
age() { # DATE
	find "$WHEELSMITH_STORE"/{cas,ac,trees,partial} -exec touch -h -d "$1" {} +
}

@test "stats: what there is, and that it is all" {
	build -0
	[ "$(cached .bytes stats)" -eq "$(cached '[.rooms[].bytes] | add' stats)" ]
	local here
	here=$(find "$WHEELSMITH_STORE"/{cas,ac,trees,git,partial} -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')
	[ "$(cached .bytes stats)" -eq "$here" ]
	[ "$(cached .rooms.files.count stats)" -eq "$(find "$WHEELSMITH_STORE/cas" -type f | wc -l)" ]
	ws cache stats
	[[ $output == files*all*"$WHEELSMITH_STORE" ]]
}

@test "verify: a flipped bit in an object, a text, a tree is found, removed, and made again" {
	build
	local file text list
	[ "$(cached .damaged.count verify)" -eq 0 ]
	file=$WHEELSMITH_STORE/cas/$(object_of '\.o$')
	text=$(find "$WHEELSMITH_STORE/ac" -type f | head -n 1)
	list=$(grep -l ' kernel.cpp' "$WHEELSMITH_STORE"/trees/src-tiny*.list)
	local victim
	for victim in "$file" "$text" "${list%.list}/module.cpp"; do
		cp -p "$victim" was
		chmod u+w "$victim"
		printf 'Z' | dd of="$victim" bs=1 seek=40 conv=notrunc status=none
		touch -r was "$victim"
	done
	ws -1 cache verify
	[ "${output%,*}" = "damaged: 3" ]
	[ "$(grep -c 'was damaged in the store' <<< "$stderr")" -eq 3 ]
	[ "$(cached .damaged.count verify)" -eq 0 ]
	rm -rf dist
	build -0
	dist_is_whole
}

@test "gc: what was of use longest ago goes, wheels go last, and all can be made again" {
	build
	age '3 days ago'
	# The units of this recipe are of use again, by being found.
	rm -rf dist
	build
	[ "$(built .actions.ran)" -eq 0 ]
	local all wheel
	all=$(cached .bytes stats)
	wheel=$(stat -c %s dist/*.whl)
	# Below the limit gc removes no file.
	[ "$(cached .removed.count gc --max-size $((all / 1024 + 1))K)" -eq 0 ]
	# Files that no result names are removed before objects.
	ws -0 cache gc --max-size $(((all - 1) / 1024))K
	[ -e "$WHEELSMITH_STORE/cas/$(object_of '\.o$')" ]
	# The wheel is what is left at last.
	ws -0 cache gc --max-size $((wheel / 1024 + 5))K
	[ "$(cached .bytes stats)" -le $((wheel + 5 * 1024)) ]
	local sum
	sum=$(sha256sum < "$(echo dist/*.whl)" | cut -d' ' -f1)
	[ -e "$WHEELSMITH_STORE/cas/${sum:0:2}/$sum" ]
	[ -z "$(find "$WHEELSMITH_STORE/trees" -mindepth 1)" ]
}

@test "gc: what a lock names goes last" {
	build
	local all limit
	all=$(cached .bytes stats)
	limit=$((all / 2))
	# An archive kit, which the lock names, is more than half of the store.
	host_toolkit > /dev/null || limit=$((all - 20000))
	ws -0 cache gc --lock m.lock.json --max-size $((limit / 1024))K
	# torch's headers and the sources, which the lock names, are there still.
	[ -n "$(find "$WHEELSMITH_STORE/trees" -maxdepth 1 -name 'src-tiny-*.list')" ]
	rm -rf dist
	build -0 --offline
	dist_is_whole
}

@test "gc: not while another wheelsmith uses the store" {
	build
	flock -s "$WHEELSMITH_STORE/LOCK" sleep 60 3>&- &
	local holder=$!
	wait_for 5 not flock -n "$WHEELSMITH_STORE/LOCK" true
	ws cache gc --max-size 1K
	kill $holder
	[ "$status" -ne 0 ]
	[[ $stderr == *"is in use by another wheelsmith"* ]]
	rm -rf dist
	build
	[ "$(built .actions.ran)" -eq 0 ]
}

@test "a build under a limit makes room first" {
	build
	local all before
	all=$(cached .bytes stats)
	head -c 2M /dev/urandom > old
	local sum
	sum=$(sha256sum < old | cut -d' ' -f1)
	mkdir -p "$WHEELSMITH_STORE/cas/${sum:0:2}"
	mv old "$WHEELSMITH_STORE/cas/${sum:0:2}/$sum"
	touch -d '9 days ago' "$WHEELSMITH_STORE/cas/${sum:0:2}/$sum"
	mkdir -p "$HOME/.config/wheelsmith"
	echo "{\"store_bytes\": $((all + 1000000))}" > "$HOME/.config/wheelsmith/config.json"
	rm -rf dist
	XDG_CONFIG_HOME=$HOME/.config build -0
	[ ! -e "$WHEELSMITH_STORE/cas/${sum:0:2}/$sum" ]
	[ "$(cached .bytes stats)" -le $((all + 1000000)) ]
	[ "$(built .actions.ran)" -eq 0 ]
}

@test "a store finds the results that another one exported" {
	build
	ws -0 cache export built.tar.zst
	local first=$WHEELSMITH_STORE
	export WHEELSMITH_STORE=$PWD/second
	mkdir second
	from_base
	only_host
	ws -0 cache import built.tar.zst
	[ "$(cached .damaged.count verify)" -eq 0 ]
	rm -rf dist
	build -0
	[ "$(built .actions.ran)" -eq 0 ]
	# Another time changes nothing, and what was learned here meanwhile stays.
	sed -i 's/42/43/' recipes/tiny/src/module.cpp
	build
	[ "$(built .actions.ran)" -gt 0 ]
	ws cache import built.tar.zst
	build
	[ "$(built .actions.ran)" -eq 0 ]
	sed -i 's/43/42/' recipes/tiny/src/module.cpp
	build
	[ "$(built .actions.ran)" -eq 0 ]
	[ -d "$first" ]
}

@test "a file that was changed, is cut, or is another's is not taken" {
	build
	ws cache export built.tar.zst
	zstd -q -d built.tar.zst -o built.tar
	local size
	size=$(stat -c %s built.tar)
	head -c $((size / 2)) built.tar > cut.tar
	ws cache import cut.tar
	[ "$status" -ne 0 ]
	# A bit of the last result.
	local at
	at=$(grep -abo 'wheelsmith.result/1' built.tar | tail -n 1 | cut -d: -f1)
	cp built.tar changed.tar
	printf 'W' | dd of=changed.tar bs=1 seek="$at" conv=notrunc status=none
	ws cache import changed.tar
	[ "$status" -ne 0 ]
	[[ $stderr == *"was changed or is cut"* ]]
	echo hello > x
	tar cf other.tar x
	ws cache import other.tar
	[ "$status" -ne 0 ]
	[[ $stderr == *"is not what"*"writes"* ]]
	[ "$(cached .damaged.count verify)" -eq 0 ]
}

@test "an import does not count the list of the file" {
	export WHEELSMITH_STORE=$PWD/empty
	ws cache export empty.tar
	[ "$(cached .exported.bytes export empty.tar)" -eq 0 ]
	[ "$(cached .imported.bytes import empty.tar)" -eq 0 ]
}

@test "mistakes on the command line" {
	local words
	for words in "cache" "cache empty" "cache gc" "cache stats x" "cache export" "cache stats --max-size 1G"; do
		# shellcheck disable=SC2086 # words
		ws -2 $words
	done
}

@test "the output matches the schema" {
	build
	{
		"$WHEELSMITH" cache stats --json
		"$WHEELSMITH" cache verify --json
		"$WHEELSMITH" cache export built.tar.zst --json
		"$WHEELSMITH" cache import built.tar.zst --json
		"$WHEELSMITH" cache gc --max-size 1T --json
	} | jq -c . > all
	local number=0 line
	while read -r line; do
		number=$((number + 1))
		echo "$line" > $number.json
		python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" $number.json
	done < all
	[ $number -eq 5 ]
}
