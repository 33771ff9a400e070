#!/usr/bin/env bats
# Ctrl-C while a command waits for a child: compilers, interpreters and drivers that never answer, and
# our own readers of wheels, held up. A build's: faults_stop.bats.
# timeout: 120

load helpers

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	mkdir bin
}

teardown() {
	[ ! -e asked ] || kill -9 "$(cat asked)" 2> /dev/null || true
}

# A program that prints its id and then hangs.
slow() { # FILE
	printf '#!/bin/sh\necho $$ > "%s/asked"\nexec sleep 100\n' "$PWD" > "$1"
	chmod +x "$1"
}

# Starts a command, interrupts it once it waits for the process in the file "asked", and expects both gone.
interrupted() { # COMMAND...
	env --default-signal=INT "$WHEELSMITH" "$@" > out 2> err 3>&- < /dev/null &
	local command=$! before status=0 i
	for i in $(seq 20000); do
		[ ! -s asked ] || break
		if [ -n "${reader:-}" ]; then
			waits_for "$command" 2> /dev/null || true
		else
			sleep 0.05
		fi
	done
	[ -s asked ] || { cat out err && false; }
	before=$(date +%s%3N)
	kill -INT "$command"
	wait "$command" || status=$?
	echo "$1: exit $status after $(($(date +%s%3N) - before)) ms"
	cat out err
	[ "$status" -eq 130 ]
	[ $(($(date +%s%3N) - before)) -lt 1000 ]
	run ! kill -0 "$(cat asked)"
	[ ! -s out ]
	# These commands keep nothing, so that there is nothing to continue.
	run ! grep 'finished work is kept' err
}

# Holds up the child of ours that a command waits for, where that is what is tested. No process is started
# for it: the child may take less time than that.
waits_for() { # PID
	local child='' words
	read -r child _ < "/proc/$1/task/$1/children" # without a newline at its end, which read counts as a failure
	mapfile -d '' words < "/proc/${child:-none}/cmdline" || return 1
	[ "${words[1]:-} ${words[2]:-}" = "internal ${reader:-}" ] && kill -STOP "$child" && echo "$child" > asked
}

# A wheel whose library takes a while to unpack.
make_wheel() {
	python3 - <<- 'END'
		import base64, hashlib, zipfile
		with zipfile.ZipFile("demo-1.0-cp311-cp311-linux_x86_64.whl", "w") as wheel:
		    library = bytes(256 << 20)
		    digest = base64.urlsafe_b64encode(hashlib.sha256(library).digest()).decode().rstrip("=")
		    wheel.writestr("demo/_C.so", library)
		    wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
		    wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n")
		    wheel.writestr("demo-1.0.dist-info/RECORD", f"demo/_C.so,sha256={digest},{256 << 20}\n")
	END
}

@test "verify and inspect end while a wheel is read" {
	make_wheel
	reader=verify
	interrupted verify --torch 2.5.1 ./*.whl
	rm asked
	interrupted inspect ./*.whl
	[ -z "$(ls -A "$WHEELSMITH_STORE/partial")" ]
}

@test "verify, inspect and doctor end while an interpreter is asked" {
	slow python
	interrupted inspect demo --python ./python
	rm asked
	make_wheel
	interrupted verify --torch 2.5.1 --python ./python ./*.whl
	rm asked
	interrupted doctor --python ./python
}

@test "doctor ends while a compiler or a driver is asked" {
	slow bin/nvidia-smi
	PATH=$PWD/bin:$PATH interrupted doctor
	rm asked bin/nvidia-smi
	slow bin/g++-7
	PATH=$PWD/bin:$PATH interrupted doctor
}

@test "recipe new ends while setup.py is read" {
	mkdir src
	echo 'setup()' > src/setup.py
	slow bin/python3
	PATH=$PWD/bin:$PATH interrupted recipe new demo==1.0 --folder src
}

@test "explain ends while it waits for a text" {
	mkfifo text
	sleep 100 > text 3>&- &
	echo $! > writer
	env --default-signal=INT "$WHEELSMITH" explain - < text > out 2>&1 3>&- &
	sleep 0.3
	kill -INT $!
	local status=0
	wait $! || status=$?
	[ "$status" -eq 130 ]
	kill "$(cat writer)"
}
