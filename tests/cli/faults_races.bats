#!/usr/bin/env bats
# Files that change while a compiler runs: a result is never kept for files that it was not made from.
# timeout: 300

load base

# One more unit whose answer depends on headers outside of every tree, and a compiler that has read them
# and has not ended yet.
setup() {
	in_place
	only_host
	mkdir old new
	echo '#define ANSWER 1' > old/answer.h
	echo '#define ANSWER 2' > new/answer.h
	ln -s old inc
	recipe 'e["sources"].append("slow.cpp")'
	cat > recipes/tiny/src/slow.cpp <<- END
		#include "$PWD/inc/answer.h"
		#if __has_include("$PWD/asked.h")
		int asked = 1;
		#endif
		int slow_answer = ANSWER;
	END
	waiting_compiler AFTER slow.cpp
}

# Builds, and does something while the compiler waits: the result is used once and not kept.
while_it_compiles() { # COMMAND...
	hears_signals "$WHEELSMITH" build --matrix m.json > out 2> err 3>&- &
	child=$!
	wait_for 60 one_compiler_waits
	"$@"
	go_on_compiling
	status=0
	wait "$child" || status=$?
	cat err
	[ "$status" -eq 0 ]
	grep -q "warning: 'slow.cpp' is not kept: '$PWD/$OUTSIDE', or a folder or link on the way there, changed" err
	# The next build compiles it, from the files as they are then.
	build -0
	[[ "$(ran)" == *"compile slow.cpp"* ]]
}

@test "a link to a folder that leads elsewhere meanwhile" {
	swap() {
		ln -s new next
		mv -T next inc
	}
	OUTSIDE=inc/answer.h while_it_compiles swap
}

@test "a folder that is replaced meanwhile by one with old files" {
	swap() {
		mv old old.old
		mv new old
	}
	OUTSIDE=inc/answer.h while_it_compiles swap
}

@test "a file that is written meanwhile, with an old date" {
	swap() {
		echo '#define ANSWER 3' > old/answer.h
		touch -d '2001-01-01' old/answer.h
	}
	OUTSIDE=inc/answer.h while_it_compiles swap
}

@test "a name that __has_include asked for and that appears meanwhile" {
	appear() {
		touch -d '2001-01-01' asked.h
	}
	OUTSIDE=asked.h while_it_compiles appear
}
