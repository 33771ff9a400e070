#!/usr/bin/env bats
# The user's configuration, and what goes before it.

load helpers

setup() {
	private_home
	export XDG_CONFIG_HOME="$HOME/.config"
	mkdir -p "$XDG_CONFIG_HOME/wheelsmith"
	config="$XDG_CONFIG_HOME/wheelsmith/config.json"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p recipes/demo
	cat > recipes/demo/1.0.json <<'JSON'
{"name": "demo", "version": "1.0", "source": [{"folder": "src"}],
 "extensions": [{"module": "demo", "binding": "pybind", "sources": ["a.cu"]}]}
JSON
	write_matrix fleet.json ''
}

write_matrix() { # file, more keys
	printf '{"packages": ["demo==1.0"], "torch": ["2.11.0"], "cuda": ["13.0"], "python": ["3.11"], "arch": ["9.0"]%s}\n' \
		"$2" > "$1"
}

decisions() {
	"$WHEELSMITH" plan --json "$@" | jq -r '.cells[].decision'
}

@test "its recipes are found" {
	run "$WHEELSMITH" plan --matrix fleet.json
	[ "$status" = 3 ]
	echo '{"recipes": ["'"$PWD"'/recipes"]}' > "$config"
	[ "$(decisions --matrix fleet.json)" = build ]
}

@test "its policy holds for a matrix that names none" {
	echo '{"recipes": ["'"$PWD"'/recipes"], "policy": "prebuilt-only"}' > "$config"
	[ "$(decisions --matrix fleet.json)" = excluded ]
	[ "$(decisions --torch 2.11.0 --python 3.11 --arch 9.0 demo==1.0)" = excluded ]
}

@test "the matrix goes before it, an option before both" {
	echo '{"recipes": ["'"$PWD"'/recipes"], "policy": "prebuilt-only"}' > "$config"
	write_matrix own.json ', "policy": "build-only"'
	[ "$(decisions --matrix own.json)" = build ]
	[ "$(decisions --matrix own.json --policy prebuilt-only)" = excluded ]
}

@test "its store, unless the environment or an option names another" {
	echo '{"recipes": ["'"$PWD"'/recipes"], "store": "'"$PWD"'/one"}' > "$config"
	run "$WHEELSMITH" build --offline --matrix fleet.json
	[ -d "$WHEELSMITH_STORE/cas" ]
	[ ! -d one ]
	run "$WHEELSMITH" build --offline --matrix fleet.json --store two
	[ -d two/cas ]
	unset WHEELSMITH_STORE
	run "$WHEELSMITH" build --offline --matrix fleet.json
	[ -d one/cas ]
}

@test "a mistake is reported at its place" {
	echo '{"polici": "build-only"}' > "$config"
	run "$WHEELSMITH" plan --matrix fleet.json
	[ "$status" = 3 ]
	[[ $output == *"config.json:1:2: error:"* ]]
}

@test "certificates that do not exist are an error, but not where nothing is fetched" {
	echo '{"recipes": ["'"$PWD"'/recipes"]}' > "$config"
	export SSL_CERT_FILE=/nowhere/ca.pem
	unset PIP_CERT REQUESTS_CA_BUNDLE
	run -3 --separate-stderr "$WHEELSMITH" fetch --matrix fleet.json
	[ "$stderr" = "error: the certificates '/nowhere/ca.pem' do not exist
       correct or unset SSL_CERT_FILE" ]
	run --separate-stderr "$WHEELSMITH" build --offline --matrix fleet.json
	[[ "$stderr" != *certificates* ]]
	[[ "$stderr" == *"this run is offline"* ]]
}
