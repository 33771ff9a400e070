# publishing.bash - `load publishing`: wheels to publish, and clients to install them with.
# shellcheck shell=bash disable=SC2154

load helpers

wheels() { # DIR LINE...
	python3 "$WS_ROOT/tests/support/make_labelled.py" "$@"
}

# pip and uv without configuration.
plain_clients() {
	export PIP_CONFIG_FILE=/dev/null PIP_NO_CACHE_DIR=1 UV_NO_CONFIG=1 UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never
	unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS UV_INDEX_URL UV_DEFAULT_INDEX UV_INDEX
}

# Runs a command that must succeed with less than 40 MB resident.
run_below_40_mb() { # COMMAND...
	run -0 python3 - "$@" <<- 'END'
		import resource, subprocess, sys
		subprocess.run(sys.argv[1:], check=True)
		print("resident kB:", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
		assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 40_000
	END
	echo "$output"
}
