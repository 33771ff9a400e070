#!/usr/bin/env bats
# doctor --python and --model: extensions against the torch beside them, functions that are called, what a
# model needs. The torch is a small one with torch's real names (make_torch.py); the real one: doctor_real.bats.
# timeout: 240

load helpers

# A venv with a torch of cxx11abi 0 that can be imported and sees no GPU.
setup_file() {
	needs gcc
	cd "$BATS_FILE_TMPDIR" || return
	python3 -m venv --without-pip venv
	site=$(cd venv/lib/python3.*/site-packages && pwd)
	export site
	python3 "$WS_ROOT/tests/support/make_torch.py" wheels version=2.5.1 label=cu124 cuda=12.4 abi=0 all=1 pad=10
	(cd "$site" && python3 -m zipfile -e "$BATS_FILE_TMPDIR"/wheels/torch-*.whl .)
	cat > "$site/torch/__init__.py" <<- 'PYTHON'
		import contextlib, os
		__version__ = "2.5.1+cu124"
		class cuda:
		    is_available = staticmethod(lambda: os.path.exists(__file__ + ".gpu"))
		device = lambda name: contextlib.nullcontext()
	PYTHON
	# A module for each ABI: it uses a string in c10::Error.
	printf '#include <string>\nnamespace c10 { struct SourceLocation { const char *f, *g; unsigned l; };\nstruct Error { Error(SourceLocation, std::string); }; }\nextern "C" void f() { c10::Error e({"", "", 1}, "x"); }\n' > m.cpp
	cp "$site/torch/lib/libc10.so" .
	for abi in 0 1; do
		g++ -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI=$abi -o abi$abi.so m.cpp -L. -Wl,--no-as-needed -lc10
	done
}

setup() {
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	export COLUMNS=120
	python="$BATS_FILE_TMPDIR/venv/bin/python3"
	site=$(cd "$BATS_FILE_TMPDIR"/venv/lib/python3.*/site-packages && pwd)
}

teardown() {
	rm -rf "$site"/torch/__init__.py.gpu "$site"/{demo_ops,flash_attn,causal_conv1d,mamba_ssm,transformers}*
}

# A package with a module of an ABI, as an installer leaves it.
package() { # NAME ABI
	mkdir -p "$site/$1" "$site/$1-1.0+cu12.dist-info"
	touch "$site/$1/__init__.py"
	cp "$BATS_FILE_TMPDIR/abi$2.so" "$site/$1/_C.so"
	printf '%s\n' "$1/__init__.py,," "$1/_C.so,," "$1/__pycache__/x.pyc,," "../../../bin/$1,," > "$site/$1-1.0+cu12.dist-info/RECORD"
}

flat() {
	tr -s ' \n' ' ' <<< "$output"
}

@test "pipes named like modules and like records are not waited for" {
	package demo_ops 0
	rm "$site/demo_ops/_C.so"
	mkfifo "$site/demo_ops/_C.so"
	run timeout 60 "$WHEELSMITH" doctor --python "$python"
	[ "$status" -ne 124 ]
	rm "$site"/demo_ops-*/RECORD
	mkfifo "$site"/demo_ops-1.0+cu12.dist-info/{RECORD,METADATA}
	run timeout 60 "$WHEELSMITH" doctor --python "$python"
	[ "$status" -ne 124 ]
}

@test "an extension of the other ABI: the cause, and the cell that cures it" {
	package demo_ops 1
	run -1 "$WHEELSMITH" doctor --python "$python"
	[[ $(flat) == *"x demo-ops 1.0 (cu12) does not load with torch 2.5.1+cu124: demo_ops/_C"*" needs 1 symbol that torch 2.5.1"* ]]
	[[ $(flat) == *"built for cxx11abi 1; this torch is cxx11abi 0"* ]]
	[[ $(flat) == *"wheelsmith build demo-ops==1.0 --here --python $python --recipes recipes"* ]]
	[[ $(flat) == *"x 1 thing does not work"* ]]
	# The same from the error's text alone.
	run -0 "$WHEELSMITH" explain "ImportError: $site/demo_ops/_C.so: undefined symbol: _ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
	[[ $(flat) == *"it was built for cxx11abi 1; torch 2.5.1 is cxx11abi 0"* ]]
	[[ $(flat) == *"wheelsmith build demo-ops==1.0 --here --python $BATS_FILE_TMPDIR/venv/bin/python3."* ]]
}

@test "an extension that loads" {
	package demo_ops 0
	run -0 "$WHEELSMITH" doctor --python "$python"
	[[ $(flat) == *"demo-ops 1.0 (cu12) loads with torch 2.5.1+cu124"* ]]
	# The torch of each Python is listed, too.
	[[ $(flat) == *"$python torch 2.5.1+cu124"* ]]
}

@test "extensions that setuptools installed without a wheel" {
	package demo_ops 1
	rm -r "$site"/demo_ops-1.0+cu12.dist-info
	mkdir -p "$site"/demo_ops-1.0-py3.11.egg-info "$site"/demo_old-2.0-py3.11-linux-x86_64.egg/{EGG-INFO,demo_old}
	printf '%s\n' ../demo_ops/__init__.py ../demo_ops/_C.so PKG-INFO > "$site"/demo_ops-1.0-py3.11.egg-info/installed-files.txt
	cp "$BATS_FILE_TMPDIR/abi0.so" "$site"/demo_old-2.0-py3.11-linux-x86_64.egg/demo_old/_C.so
	echo demo_old/_C.so > "$site"/demo_old-2.0-py3.11-linux-x86_64.egg/EGG-INFO/native_libs.txt
	run -1 "$WHEELSMITH" doctor --python "$python" --json
	rm -r "$site"/demo_old*
	[ "$(jq -c '[.extensions[] | [.package, .version, .verdict]]' <<< "$output")" = \
		'[["demo-old","2.0","loads"],["demo-ops","1.0","fails"]]' ]
}

@test "without --python nothing of it runs, and no store is opened" {
	mkdir -p "$site/flash_attn"
	echo 'open("'"$PWD"'/ran", "w")' > "$site/flash_attn/__init__.py"
	PATH="$(dirname "$python"):$PATH" run "$WHEELSMITH" doctor
	[ ! -e ran ]
	[ ! -e "$WHEELSMITH_STORE" ]
	run -1 "$WHEELSMITH" doctor --python "$python"
	[ -e ran ]
}

@test "functions: absent, there, broken, and one that takes its process along" {
	mkdir -p "$site"/{flash_attn,causal_conv1d,mamba_ssm/ops/triton}
	echo 'import flash_attn_2_cuda' > "$site/flash_attn/__init__.py"
	printf 'print("noise")\ndef causal_conv1d_fn(): pass\n' > "$site/causal_conv1d/__init__.py"
	touch "$site"/mamba_ssm/{__init__,ops/__init__,ops/triton/__init__}.py
	echo 'selective_state_update = 1' > "$site/mamba_ssm/ops/triton/selective_state_update.py"
	echo 'import os; os.kill(os.getpid(), 11)' > "$site/mamba_ssm/ops/selective_scan_interface.py"
	run -1 "$WHEELSMITH" doctor --python "$python" --json
	jq -r '.functions[] | "\(.name) \(.state) \(.text)"' <<< "$output" > functions
	cat functions
	grep -q "^flash_attn.flash_attn_func fails ModuleNotFoundError: No module named 'flash_attn_2_cuda'$" functions
	grep -q "^causal_conv1d.causal_conv1d_fn imported torch sees no GPU here$" functions
	grep -q "^causal_conv1d.causal_conv1d_update fails AttributeError: " functions
	grep -q "selective_state_update imported" functions
	grep -q "^after mamba_ssm.*selective_state_update fails .*signal 11" functions
	grep -q "^transformers absent" functions
	run -1 "$WHEELSMITH" doctor --python "$python"
	[[ $(flat) == *"fails: ModuleNotFoundError: No module named 'flash_attn_2_cuda'; flash-attn is not installed in this Python with its compiled part"* ]]
	[[ $(flat) == *"wheelsmith build flash-attn==2.8.3.post2 --here --python $python"* ]]
	# equal failures are reported once; a package that is present elsewhere is not built.
	echo 'import einops' > "$site/flash_attn/__init__.py"
	run -1 "$WHEELSMITH" doctor --python "$python"
	[[ $(flat) == *"x flash_attn.flash_attn_func, flash_attn.flash_attn_varlen_func, flash_attn.flash_attn_with_kvcache, flash_attn.bert_padding.unpad_input fails: ModuleNotFoundError: No module named 'einops' -> install what has it: $python -m pip install einops"* ]]
}

# transformers as its three eras choose functions; read in 4.57.1, 5.0.0 and 5.23.0.
era() { # looked-up|lazy|decorated, whether mamba-ssm is found
	rm -rf "$site"/transformers
	mkdir -p "$site"/transformers/models/{jamba,mamba}
	touch "$site"/transformers/models/{__init__,jamba/__init__,mamba/__init__}.py
	printf '__version__ = "%s"\nclass JambaConfig:\n    def __init__(self, **k): pass\nclass MambaConfig(JambaConfig): pass\n' "$1" > "$site/transformers/__init__.py"
	local found=None
	[ "$2" = no ] || found='lambda: 1'
	case $1 in
	looked-up)
		cat > "$site/transformers/models/jamba/modeling_jamba.py" <<- END
			selective_state_update = selective_scan_fn = mamba_inner_fn = $found
			causal_conv1d_fn = causal_conv1d_update = lambda: 1
			is_fast_path_available = all((selective_state_update, selective_scan_fn, causal_conv1d_fn, causal_conv1d_update, mamba_inner_fn))
			class JambaMambaMixer:
			    def __init__(self, config, layer_idx): pass
		END
		;;
	lazy)
		cat > "$site/transformers/models/jamba/modeling_jamba.py" <<- END
			lazy_load_kernel = lambda name: None
			class JambaMambaMixer:
			    def __init__(self, config, layer_idx):
			        global selective_state_update, selective_scan_fn, mamba_inner_fn, causal_conv1d_fn, causal_conv1d_update
			        selective_state_update = selective_scan_fn = mamba_inner_fn = $found
			        causal_conv1d_fn = causal_conv1d_update = lambda: 1
		END
		;;
	decorated)
		cat > "$site/transformers/models/jamba/modeling_jamba.py" <<- END
			import functools
			def use_kernel_func_from_hub_with_fallback(func_name, package):
			    def decorator(torch_function):
			        is_new_implementation = package != "mamba_ssm" or "$2" == "yes"
			        @functools.wraps(torch_function)
			        def wrapped(*args):
			            return is_new_implementation, func_name
			        return functools.wraps(wrapped)(lambda *args: wrapped(*args))
			    return decorator
			@use_kernel_func_from_hub_with_fallback("selective_scan_fn", "mamba_ssm")
			def scan(): pass
			@use_kernel_func_from_hub_with_fallback("causal_conv1d_fn", "causal_conv1d")
			def conv(): pass
		END
		;;
	esac
	rm -rf "$site/transformers/models/mamba"
}

@test "the fast path of transformers, in its three eras" {
	local which
	for which in looked-up lazy decorated; do
		era $which yes
		run -0 "$WHEELSMITH" doctor --python "$python" --json
		[[ $(jq -r '.functions[] | select(.package == "transformers") | .name + " " + .state' <<< "$output") == "transformers $which: jamba works" ]]
		era $which no
		# Before 5.16 a host without a GPU has no fast path, whatever is installed.
		[ "$which" = decorated ] || {
			run -0 "$WHEELSMITH" doctor --python "$python"
			[[ $(flat) == *"torch sees no GPU here, so it takes the slow path"* ]]
			touch "$site/torch/__init__.py.gpu"
		}
		# Without either package no failure is reported.
		run -0 "$WHEELSMITH" doctor --python "$python"
		[[ $(flat) == *"transformers $which: jamba runs without mamba-ssm and causal-conv1d"* ]]
		mkdir "$site/mamba_ssm"
		run -1 "$WHEELSMITH" doctor --python "$python" --json
		[[ $(jq -r '.functions[] | select(.package == "transformers") | .state + " " + .text' <<< "$output") == "fails the fast path is not available ("*"selective_scan_fn"* ]]
		rm -rf "$site/mamba_ssm" "$site/torch/__init__.py.gpu"
	done
}

@test "the needs of a model, the installed part, and the matrix for the rest" {
	mkdir -p "$site/causal_conv1d"
	printf 'causal_conv1d_fn = causal_conv1d_update = 1\n' > "$site/causal_conv1d/__init__.py"
	echo '{"model_type": "bamba", "hidden_size": 4096}' > config.json
	run -1 "$WHEELSMITH" doctor --python "$python" --model config.json
	[[ $(flat) == *"causal-conv1d is there"* ]]
	[[ $(flat) == *"x bamba needs mamba-ssm, of which it lacks: selective_state_update, mamba_chunk_scan_combined, mamba_split_conv1d_scan_combined"* ]]
	[[ $(flat) == *"flash-attn is not installed; bamba works without it"* ]]
	run -1 "$WHEELSMITH" doctor --python "$python" --model config.json --json
	[ "$(jq -r '.model.kernels[] | select(.needed) | .package' <<< "$output" | xargs)" = "causal-conv1d mamba-ssm" ]
	# The matrix is one, as it stands; with a GPU it names that.
	mkdir -p bin
	printf '#!/bin/sh\ncase $1 in *gpu=*) echo "0, NVIDIA H100, 9.0, 81559 MiB, 580.1" ;; esac\n' > bin/nvidia-smi
	chmod +x bin/nvidia-smi
	PATH="$PWD/bin:$PATH" run -1 "$WHEELSMITH" doctor --python "$python" --model config.json --json
	jq -r .model.matrix <<< "$output" > m.json
	[ "$(jq -c .arch m.json)" = '["9.0"]' ]
	"$WHEELSMITH" plan --json --matrix m.json > plan.json
	[ "$(jq -r '[.cells[].arch] | unique | join(" ")' plan.json)" = 9.0 ]
	[ "$(jq -r '.cells | length' plan.json)" = 2 ]
	# Without a Python the needs alone.
	run -0 "$WHEELSMITH" doctor --model config.json
	[[ $(flat) == *"bamba looks for mamba-ssm"*"bamba looks for flash-attn, where it is asked to"* ]]
	echo '{"model_type": "nobody-knows"}' > config.json
	run -0 "$WHEELSMITH" doctor --model config.json
	[[ $(flat) == *"nobody-knows: no kernel is known that it looks for"* ]]
	echo '{"model": 1}' > config.json
	run -0 "$WHEELSMITH" doctor --model config.json
	[[ $(flat) == *"! "*"config.json:1:1: this names no model type"* ]]
}

@test "a quotation mark in the interpreter's path does not break the printed matrix" {
	python3 -m venv --without-pip 'odd "one"'
	echo '{"model_type": "bamba"}' > config.json
	run -1 "$WHEELSMITH" doctor --python 'odd "one"/bin/python3' --model config.json --json
	[ "$(jq -r .model.matrix <<< "$output" | jq -r '.python[0]')" = "$PWD/odd \"one\"/bin/python3" ]
}

@test "JSON is what its schema says" {
	python3 -c 'import jsonschema' 2> /dev/null || cannot_run "python3 has no jsonschema (./dev setup)"
	package demo_ops 1
	echo '{"model_type": "llama", "_attn_implementation": "flash_attention_2"}' > config.json
	"$WHEELSMITH" doctor --python "$python" --model config.json --json > page || [ $? -eq 1 ]
	run -0 python3 "$WS_ROOT/tests/support/check_output.py" "$WS_ROOT" page
	[ "$output" = "1 doctor-1" ]
	[ "$(jq -r '.extensions[0].verdict' page)" = fails ]
	[[ "$(jq -r '.extensions[0].evidence' page)" == *"built for cxx11abi 1; this torch is cxx11abi 0" ]]
	[ "$(jq .model.kernels[0].needed page)" = true ]
}

@test "Ctrl-C ends it while a package is imported" {
	package demo_ops 0
	mkdir "$site/flash_attn"
	printf 'import os, time\nopen("%s/asked", "w").write(str(os.getpid()))\ntime.sleep(100)\n' "$PWD" > "$site/flash_attn/__init__.py"
	env --default-signal=INT "$WHEELSMITH" doctor --python "$python" > out 2> err 3>&- &
	local i status=0
	for i in $(seq 600); do
		[ ! -s asked ] || break
		sleep 0.05
	done
	kill -INT $!
	wait $! || status=$?
	cat out err
	[ "$status" -eq 130 ]
	[ ! -s out ]
	run ! kill -0 "$(cat asked)"
}
