#!/usr/bin/env bats
# `shell`: the folder of the command that is meant, above all of the one that failed.
# timeout: 300

load base

# Types the command that $said, a build, names for a failed unit; $folder is what it opens.
follow() { # UNIT
	local hint
	hint=$(grep -F -- "--unit $1 " <<< "$said" | sed -n 's/^ *shell: wheelsmith //p')
	[ -n "$hint" ]
	eval "ws $hint" < /dev/null
	[ "$status" -eq 0 ]
	folder=$output
	[ -x "$folder/run" ]
}

@test "the command that a failure names opens the folder of what failed" {
	echo '#error of the first' >> recipes/tiny/src/kernel.cpp
	echo '#error of the second' >> recipes/tiny/src/module.cpp
	build -5 -k --offline
	said=$stderr
	[ "$(grep -c ' shell: ' <<< "$said")" -eq 2 ]
	follow module.cpp
	run -1 "$folder/run"
	[[ "$output" == *"#error of the second"* ]]
	follow kernel.cpp
	run -1 "$folder/run"
	[[ "$output" == *"#error of the first"* ]]
	# the next shell sees changes in the user's own sources.
	sed -i '/#error/d' recipes/tiny/src/kernel.cpp
	follow kernel.cpp
	run -0 "$folder/run"
	[ -s "$folder/unit.o" ]
}

@test "without --unit it is the first command without a result, with it any that can run" {
	echo '#error no' >> recipes/tiny/src/module.cpp
	build -5 -k
	ws shell "$CELL" --matrix m.json < /dev/null
	run -1 "$output/run"
	[[ "$output" == *"#error no"* ]]
	ws shell "$CELL" --matrix m.json --unit 'k*.cpp' < /dev/null
	run -0 "$output/run"
	ws -5 shell "$CELL" --matrix m.json --unit tiny._C.so < /dev/null
	[[ "$stderr" == *"inputs of 'tiny._C.so' have not been built yet"* ]]
	ws -2 shell "$CELL" --matrix m.json --unit no.cpp < /dev/null
	[[ "$stderr" == *"this cell has no command 'no.cpp'"* ]]
}

@test "of units with one name it is the one that failed; a name that is a pattern is refused" {
	mkdir recipes/tiny/src/{a,b}
	echo 'int u1;' > recipes/tiny/src/a/u1.cpp
	echo '#error of b' > recipes/tiny/src/b/u1.cpp
	echo '#error of brackets' > 'recipes/tiny/src/a/u[1].cpp'
	recipe 'e["sources"] += [{"glob": "a/u*.cpp", "count": 2}, "b/u1.cpp"]'
	build -3 -k
	[[ "$stderr" == *"the name 'a/u[1].cpp' holds more than letters"* ]]
	rm 'recipes/tiny/src/a/u[1].cpp'
	recipe 'e["sources"][-2]["count"] = 1'
	build -5 -k
	said=$stderr
	follow u1.cpp
	run "$folder/run"
	[[ "$output" == *"#error of b"* ]]
}

@test "without a matrix it is the same selection, with all that was said of where things are" {
	serve "$BASE/www"
	mv recipes elsewhere
	echo '#error no' >> elsewhere/tiny/src/module.cpp
	export -n WHEELSMITH_STORE
	ws -5 build tiny==1.0 --torch $TORCH --python "$PY" --arch 8.6 --cuda 13.0 --recipes elsewhere --index "$INDEX" \
		--store "$WHEELSMITH_STORE"
	said=$stderr
	follow module.cpp
	[[ "$folder" == "$WHEELSMITH_STORE"/work/shell-* ]]
	unserve
	run -1 "$folder/run"
	[[ "$output" == *"#error no"* ]]
}

@test "on a terminal the person's shell opens there, with the command's environment, and the folder goes" {
	cat > look <<- 'END'
		#!/bin/sh
		echo "in $(pwd)"
		echo "with $TMPDIR $LANG $HOME $TERM $PATH"
		./run -fsyntax-only && echo "it runs"
	END
	chmod +x look
	SHELL=$PWD/look TERM=xterm LANG=C.UTF-8 run -0 python3 "$WS_ROOT/tests/support/terminal.py" 200 -- \
		"$WHEELSMITH" shell "$CELL" --matrix m.json --unit module.cpp
	output=${output//$'\r'/}
	folder=$(sed -n 's/^in //p' <<< "$output")
	[[ "$folder" == "$WHEELSMITH_STORE"/work/shell-* ]]
	[[ "$output" == *$'\n'"with $folder/tmp C $HOME xterm /usr/bin:/bin:"*"$PATH"$'\n'* ]]
	[[ "$output" == *"it runs"* ]]
	[ ! -e "$folder" ]
}

@test "a shell that cannot start is an error, and the folder goes" {
	strace -o /dev/null true || cannot_run "no strace"
	SHELL=/nowhere/shell TERM=xterm run -5 python3 "$WS_ROOT/tests/support/terminal.py" 200 -- \
		strace -f -o ends -e trace=none "$WHEELSMITH" shell "$CELL" --matrix m.json --unit module.cpp
	[[ "$output" == *"cannot start '/nowhere/shell': No such file or directory"*"it is named by the variable SHELL"* ]]
	[ -z "$(find "$WHEELSMITH_STORE/work" -name 'shell-*')" ]
	grep 'exited with 127' ends
	run ! grep 'killed by SIGABRT' ends
}
