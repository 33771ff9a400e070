#!/usr/bin/env bats
# A store in which something is damaged: the damage never reaches a wheel. It is reported, removed and made again.
# timeout: 300

load base

# A wheel in dist/ and everything in the store, once for all tests of this file.
setup() {
	in_place
	only_host
	build -0
	SUM=$(built '.cells[0].sha256')
}

stored() { # SHA256
	echo "$WHEELSMITH_STORE/cas/${1:0:2}/$1"
}

# The stored file that an action of build.json's run made: the output in the result that names it.
output_of() { # OUTPUT
	local result
	result=$(grep -rlE "^out [0-9a-f]{64} [0-9]+ $1\$" "$WHEELSMITH_STORE/ac" | head -n 1)
	stored "$(sed -nE "s/^out ([0-9a-f]{64}) [0-9]+ $1\$/\\1/p" "$result")"
}

# Damages of FILE.
flip() { # FILE
	python3 - "$1" <<- 'END'
		import os, sys
		with open(sys.argv[1], "rb") as f: text = bytearray(f.read())
		text[len(text) // 2] ^= 1
		os.chmod(sys.argv[1], 0o644)
		with open(sys.argv[1], "r+b") as f: f.write(text)
		os.chmod(sys.argv[1], 0o444)
	END
}

truncated() {
	truncate -s -1 "$1"
}

emptied() {
	truncate -s 0 "$1"
}

# Flipped, and its times are as they were.
flipped_with_its_time() {
	touch -r "$1" time
	flip "$1"
	touch -r time "$1"
}

swapped() {
	cp --remove-destination "$(output_of unit.o)" "$1"
}

linked() {
	ln -sf /etc/passwd "$1"
}

a_folder() {
	rm "$1"
	mkdir "$1"
}

# The next build reports the damage, runs these actions again, and makes the same wheel.
mends() { # ACTIONS
	build -0
	[[ "$stderr" == *"warning: '"*"' was damaged in the store and is made again"* ]]
	[ "$(ran)" = "$1" ]
	[ "$(built '.cells[0].sha256')" = "$SUM" ]
	[ "$(sha256sum < dist/*.whl | cut -d' ' -f1)" = "$SUM" ]
	[[ "$(cat dist/requirements.txt)" == *"$SUM"* ]]
	# And then there is nothing to do.
	build -0
	[ -z "$(ran)" ]
	[[ "$stderr" != *warning* ]]
}

@test "a damaged wheel is not delivered: it is packed again" {
	local damage
	for damage in flip flipped_with_its_time truncated emptied swapped linked a_folder; do
		echo "== $damage"
		$damage "$(stored "$SUM")"
		rm dist/*.whl
		mends "pack tiny"
	done
}

@test "a damaged wheel is reported even where dist/ has it already" {
	flip "$(stored "$SUM")"
	mends "pack tiny"
}

@test "a damaged object is compiled again before anything is linked with it" {
	local damage
	for damage in flip truncated emptied linked; do
		echo "== $damage"
		$damage "$(output_of unit.o)"
		rm "$(output_of module.so)"
		build -0
		[[ "$(ran)" == compile*$'\n'"link tiny._C.so"* ]]
		[ "$(built '.cells[0].sha256')" = "$SUM" ]
	done
}

@test "a damaged module is linked again before it is packed" {
	local damage
	for damage in flip truncated swapped linked; do
		echo "== $damage"
		$damage "$(output_of module.so)"
		mends "link tiny._C.so"
	done
}

# A damaged text of the store: the text of a different action, half of a text, a flipped bit.
@test "a damaged result is a miss, and so is the result of a different action" {
	local object module
	object=$(grep -rlE "^out .* unit.o\$" "$WHEELSMITH_STORE/ac" | head -n 1)
	module=$(grep -rlE "^out .* module.so\$" "$WHEELSMITH_STORE/ac")
	for damage in flip truncated emptied linked; do
		echo "== $damage"
		$damage "$module"
		build -0
		[ "$(ran)" = "link tiny._C.so" ]
		[ "$(built '.cells[0].sha256')" = "$SUM" ]
	done
	# The object of one unit in place of the other's.
	cp "$object" other
	object=$(grep -rlE "^out .* unit.o\$" "$WHEELSMITH_STORE/ac" | tail -n 1)
	cp --remove-destination other "$object"
	build -0
	[[ "$(ran)" == compile* ]]
	[ "$(built '.cells[0].sha256')" = "$SUM" ]
}

@test "a damaged entry of a cell is not trusted" {
	local records # of the cell's key, and of its name
	mapfile -t records < <(grep -rl "^wheelsmith.cell/2 $SUM" "$WHEELSMITH_STORE")
	[ "${#records[@]}" -eq 2 ]
	ws plan --matrix m.json
	[[ "$output" == *cached* ]]
	sed -i "s/$SUM/$(sha256sum < m.json | cut -d' ' -f1)/" "${records[@]}"
	ws plan --matrix m.json
	[[ "$output" != *cached* ]]
	build -0
	ws plan --matrix m.json
	[[ "$output" == *cached* ]]
	flip "$(stored "$SUM")"
	ws plan --matrix m.json
	[[ "$output" != *cached* ]]
}

# An sdist is unpacked once, and then compiled from the tree in the store.
@test "a tree in which something changed is made again before anything is compiled from it" {
	local sum damage file
	rm -r "$WHEELSMITH_STORE"/trees/src-tiny-*
	tar czf tiny.tar.gz -C recipes/tiny --transform 's/^src/tiny-1.0/' src
	sum=$(sha256sum < tiny.tar.gz | cut -d' ' -f1)
	recipe "r['source'] = [{'sdist': 'tiny-1.0.tar.gz', 'sha256': '$sum'}]"
	mkdir -p "$WHEELSMITH_STORE/cas/${sum:0:2}"
	cp tiny.tar.gz "$(stored "$sum")"
	build -0
	SUM=$(built '.cells[0].sha256')
	file=$(echo "$WHEELSMITH_STORE"/trees/src-tiny-1.0-*/module.cpp)
	added() {
		echo '#error added' > "$(dirname "$1")/Python.h"
	}
	for damage in flip flipped_with_its_time truncated emptied linked added rm; do
		echo "== $damage"
		$damage "$file"
		rm "$(output_of unit.o)"
		build -0
		[[ "$stderr" == *"warning: '$WHEELSMITH_STORE/trees/src-tiny-1.0-"*"' was damaged in the store and is made again"* ]]
		[[ "$(ran)" == compile* ]]
		[ "$(built '.cells[0].sha256')" = "$SUM" ]
	done
	# Archives are held to their digest too.
	flip "$(stored "$sum")"
	flip "$file"
	build -4 --offline
	[[ "$stderr" == *"'$(stored "$sum")' was damaged in the store"* ]]
	[ ! -e "$(stored "$sum")" ]
}
