#!/usr/bin/env bats
# inspect with real wheels of the index: what it reads of large ones, and the stable ABI beside torch-abi-audit.
# labels: network
# timeout: 400

load helpers

setup_file() {
	export VENV="$BATS_FILE_TMPDIR/venv" PIP_DISABLE_PIP_VERSION_CHECK=1
	cd "$BATS_FILE_TMPDIR" || return
	python3 -m venv "$VENV"
	"$VENV/bin/pip" install -q torch-abi-audit==0.3.0
	local package
	for package in torchvision==0.20.1 torchaudio==2.9.1 torchaudio==2.10.0 torchaudio==2.11.0 xformers==0.0.30; do
		python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.11 \
			--platform manylinux1_x86_64 --platform manylinux_2_28_x86_64 "$package"
	done
}

setup() {
	private_home
}

# Applies FILTER to the JSON about a wheel.
facts() { # FILTER, words of inspect
	local filter=$1
	shift
	"$WHEELSMITH" inspect --json "$@" > "$BATS_TEST_TMPDIR/facts" || [ $? -eq 1 ]
	jq -c "$filter" "$BATS_TEST_TMPDIR/facts"
}

# Where the index has a file of this name.
url_of() { # PACKAGE FILE
	"$VENV/bin/python" - "$1" "$2" <<- 'PY'
		import sys
		from pip._internal.cli.main_parser import create_main_parser
		from pip._internal.commands import create_command
		command = create_command("download")
		options, _ = command.parse_args([sys.argv[1]])
		with command.main_context():
		    finder = command._build_package_finder(options=options, session=command.get_default_session(options))
		    print(next(c.link.url_without_fragment for c in finder.find_all_candidates(sys.argv[1])
		               if c.link.filename == sys.argv[2]))
	PY
}

@test "torchvision 0.20.1: its label is older than its contents" {
	run -1 "$WHEELSMITH" inspect "$BATS_FILE_TMPDIR"/torchvision-*.whl
	[[ $output == *"WHEEL         cp311-cp311-linux_x86_64"* ]]
	[[ $output == *"198 lines, 197 digests recomputed and right"* ]]
	[[ $output == *"torch: C++ names, cxx11abi 0"* ]]
	[[ $output == *"GPU 5.0 ptx ISA 8.4, 6 images, 154 kB of 820 kB"* ]]
	[[ $output == *"glibc 2.14, GLIBCXX 3.4.18: manylinux_2_17_x86_64"* ]]
	[[ $output == *"pybind11: __pybind11_internals_v4_gcc_libstdcpp_cxxabi1011__"* ]]
	[[ $output == *"names: tag: the file name has 'cp311-cp311-manylinux1_x86_64',"* ]]
}

@test "xformers 0.0.30 is sound, and its ABI is the other one" {
	run -0 "$WHEELSMITH" inspect "$BATS_FILE_TMPDIR"/xformers-*.whl
	[[ $output == *"torch: C++ names, cxx11abi 1"* ]]
	[[ $output == *"manylinux_2_27_x86_64 is what its modules allow"* ]]
}

@test "the oldest torch of stable modules is the one that torch-abi-audit finds" {
	cd "$BATS_TEST_TMPDIR"
	local wheel module ours theirs stable=0
	for wheel in "$BATS_FILE_TMPDIR"/torchaudio-*.whl; do
		rm -rf tree
		python3 -m zipfile -e "$wheel" tree
		facts '.modules[] | [.name, .torch.abi, (.torch.since // "" | split(".")[:2] | join("."))]' "$wheel" > ours
		while read -r module; do
			"$VENV/bin/torch-abi-audit" --json "tree/$module" > audit
			theirs=$(jq -c '(.bundled_libs + .extensions)[0].torch |
				[if .stable then "stable" elif .uses_torch then "c++" else "none" end,
				if .stable then (.min_torch_version | split(".")[:2] | join(".")) else "" end]' audit)
			ours=$(jq -c --arg m "$module" 'select(.[0] == $m) | .[1:]' ours)
			echo "$(basename "$wheel") $module: $ours, torch-abi-audit $theirs"
			[ "$ours" = "$theirs" ]
			[[ $ours != *stable* ]] || stable=$((stable + 1))
		done < <(jq -r '.[0]' ours)
	done
	[ "$stable" -ge 4 ]
}

@test "of wheels of hundreds of MB at a URL at most 2 MB are read" {
	local name url
	for name in torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl vllm-0.9.1-cp38-abi3-manylinux1_x86_64.whl; do
		url=$(url_of "${name%%-*}" "$name")
		run facts '[.bytes > 300000000, .read_bytes <= 2000000, .whole, .metadata.name, (.record.lines > 1000)]' "$url"
		[ "${lines[-1]}" = "[true,true,false,\"${name%%-*}\",true]" ]
	done
}
