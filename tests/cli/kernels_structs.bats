#!/usr/bin/env bats
# The structs of the kernels' library, as Python packs them, are those of its header.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	cp -R "$WS_ROOT/kernels/python" python
}

# holds: the table of Python against wsk.h, by the compiler.
holds() {
	python3 -B "$WS_ROOT/tests/support/kernels_structs.py" python > structs.c
	gcc -std=c17 -I"$WS_ROOT/kernels/include" -c structs.c -o structs.o
}

@test "every struct of wsk.h that has members is in the table, with each of them" {
	run -0 holds
	sed -nE 's/^struct wsk_([a-z_]+) \{$/\1/p' "$WS_ROOT/kernels/include/wsk.h" | sort > declared
	sed -nE 's/^_Static_assert\(sizeof\(struct wsk_([a-z_]+)\).*/\1/p' structs.c | sort -u > checked
	diff declared checked
}

# change FROM TO: the table, which then differs from the header.
change() {
	run -0 holds
	python3 - "$1" "$2" <<- 'END'
		import pathlib, sys
		path = pathlib.Path("python/wheelsmith_kernels/_structs.py")
		text = path.read_text()
		assert sys.argv[1] in text
		path.write_text(text.replace(sys.argv[1], sys.argv[2], 1))
	END
	run holds
	echo "$output"
	[ "$status" -ne 0 ]
}

@test "members that change places are noticed" {
	change "heads_q, heads_k, head_dim" "heads_k, heads_q, head_dim"
	[[ "$output" == *"attention.heads_k"* ]]
}

@test "a member with a wrong type is detected" {
	change "f32 softcap" "i32 softcap"
	[[ "$output" == *"attention.softcap is i32"* ]]
}

@test "a member that is left out is noticed" {
	change "; u64 indices" ""
	[[ "$output" == *"update"* ]]
}
