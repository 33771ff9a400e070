#!/usr/bin/env bats
# doctor --python and explain beside the real torch 2.5.1: an extension of the other ABI, and one of its own.
# labels: network real
# timeout: 1800

load helpers

@test "an extension of the other ABI in an environment with torch 2.5.1" {
	needs gcc
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	python3 -m venv venv
	# The other needs of importing torch are not installed: names are compared without an import.
	venv/bin/python3 -m pip install -q --no-deps torch==2.5.1
	local site abi
	site=$(cd venv/lib/python3.*/site-packages && pwd)
	printf '#include <string>\nnamespace c10 { struct SourceLocation { const char *f, *g; unsigned l; };\nstruct Error { Error(SourceLocation, std::string); }; }\nextern "C" void f() { c10::Error e({"", "", 1}, "x"); }\n' > m.cpp
	for abi in 0 1; do
		mkdir -p "$site/ops$abi" "$site/ops$abi-1.0.dist-info"
		g++ -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI=$abi -o "$site/ops$abi/_C.so" m.cpp -L"$site/torch/lib" -Wl,--no-as-needed -lc10
		echo "ops$abi/_C.so,," > "$site/ops$abi-1.0.dist-info/RECORD"
	done
	# Wheels of the two, held against the torch that is installed.
	local wheel
	for abi in 0 1; do
		wheel=ops$abi-1.0-cp311-cp311-linux_x86_64.whl
		python3 "$WS_ROOT/tests/support/make_wheel.py" $wheel ops$abi/_C.so="$site/ops$abi/_C.so"
	done
	run -1 --separate-stderr "$WHEELSMITH" verify --here --python "$PWD/venv/bin/python3" --json ops0-*.whl ops1-*.whl
	[ "$(jq -c '[.wheels[] | [.verdict, .cause, .places[0].torch]]' <<< "$output")" = \
		'[["loads",null,"2.5.1+cu124"],["fails","cxx11abi","2.5.1+cu124"]]' ]
	command -v nvidia-smi || [[ $stderr == *"this host has no GPU"* ]]
	cp ops0-*.whl ops0-1.0-cp39-cp39-linux_x86_64.whl
	run -1 "$WHEELSMITH" verify --here --python "$PWD/venv/bin/python3" ops0-1.0-cp39-cp39-linux_x86_64.whl
	[[ "$(tr -s ' \n' ' ' <<< "$output")" == *"the tags of its file name are not for cp311"* ]]
	printf 'Metadata-Version: 2.1\nName: ops0\nVersion: 1.0\nRequires-Dist: torch==2.5.0\n' > METADATA
	python3 "$WS_ROOT/tests/support/make_wheel.py" ops0-1.0-cp311-cp311-linux_x86_64.whl ops0/_C.so="$site/ops0/_C.so" \
		ops0-1.0.dist-info/METADATA=METADATA
	run -9 "$WHEELSMITH" verify --here --python "$PWD/venv/bin/python3" ops0-1.0-cp311-cp311-linux_x86_64.whl
	[[ "$(tr -s ' \n' ' ' <<< "$output")" == *"asks for torch==2.5.0, which torch 2.5.1+cu124 is not"* ]]
	run -1 "$WHEELSMITH" doctor --python "$PWD/venv/bin/python3" --json
	[ "$(jq -c '[.extensions[] | [.package, .verdict]]' <<< "$output")" = '[["ops0","loads"],["ops1","fails"]]' ]
	[[ "$(jq -r '.extensions[1].evidence' <<< "$output")" == *"built for cxx11abi 1; this torch is cxx11abi 0" ]]
	[[ "$(jq -r '.extensions[1].cure' <<< "$output")" == *"wheelsmith build ops1==1.0 --here --python $PWD/venv/bin/python3 --recipes recipes" ]]
	# The loader's own words for it, explained.
	run ! env LD_BIND_NOW=1 LD_LIBRARY_PATH="$site/torch/lib" venv/bin/python3 -c "import ctypes; ctypes.CDLL('$site/ops1/_C.so')"
	run -0 "$WHEELSMITH" explain "$output"
	[[ "$(tr -s ' \n' ' ' <<< "$output")" == *"it was built for cxx11abi 1; torch 2.5.1 is cxx11abi 0"* ]]
	[[ "$(tr -s ' \n' ' ' <<< "$output")" == *"wheelsmith build ops1==1.0 --here --python $PWD/venv/bin/python3."* ]]
}
