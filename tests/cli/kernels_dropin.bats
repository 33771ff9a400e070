#!/usr/bin/env bats
# Upstream's packages over the bundled kernels: wheels of Python files, and what WHEELSMITH_SHIMS=1 does.
# labels: network
# timeout: 300

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	export WHEELSMITH_STORE=$BATS_TEST_TMPDIR/store
}

@test "causal-conv1d 1.5.3.post1+any: upstream's Python, its module over ours, for any Python and torch" {
	echo '{"packages": ["causal-conv1d==1.5.3.post1+any"], "cuda": ["13.0"], "python": ["3.11"]}' > m.json
	run -0 "$WHEELSMITH" build --matrix m.json
	python3 -m zipfile -e dist/causal_conv1d-1.5.3.post1+any-py3-none-any.whl out
	grep -x 'Requires-Dist: wheelsmith-kernels>=0.2.0' out/*.dist-info/METADATA
	grep -x 'Root-Is-Purelib: true' out/*.dist-info/WHEEL
	[ -z "$(find out -name '*.so')" ]
	# the module has every function that upstream's Python calls.
	grep -oE 'causal_conv1d_cuda\.\w+' out/causal_conv1d/*.py | cut -d. -f3 | sort -u > asked
	[ "$(wc -l < asked)" -eq 3 ]
	while read -r name; do
		grep -qE "^def $name\(|as $name$|import .*\b$name\b" "$WS_ROOT/kernels/python/wheelsmith_kernels/_shim_causal_conv1d_cuda.py"
		grep -q "\b$name\b" out/causal_conv1d_cuda.py
	done < asked
}

@test "flash-attn 2.8.3.post2+any: upstream's Python over ours" {
	echo '{"packages": ["flash-attn==2.8.3.post2+any"], "cuda": ["13.0"], "python": ["3.11"]}' > m.json
	run -0 "$WHEELSMITH" build --matrix m.json
	python3 -m zipfile -e dist/flash_attn-2.8.3.post2+any-py3-none-any.whl out
	grep -x 'Requires-Dist: wheelsmith-kernels>=0.3.0' out/*.dist-info/METADATA
	[ -z "$(find out -name '*.so')" ]
	grep -ohE 'flash_attn_gpu\.\w+' out/flash_attn/*.py | cut -d. -f2 | sort -u > asked
	[ "$(cat asked)" = "$(printf '%s\n' bwd fwd fwd_kvcache varlen_bwd varlen_fwd)" ]
	while read -r name; do
		grep -q "^def $name(" "$WS_ROOT/kernels/python/wheelsmith_kernels/_flash.py"
		grep -q "\b$name\b" out/flash_attn_2_cuda.py
	done < asked
}

@test "a build with upstream's kernels wins over +any where both are offered" {
	python3 "$WS_ROOT/tests/support/make_labelled.py" wheels \
		"causal_conv1d 1.5.3.post1+any py3-none-any" "causal_conv1d 1.5.3.post1+cu.13.0.torch.2.11.sm.90 py3-none-any"
	for wanted in causal-conv1d causal-conv1d==1.5.3.post1; do
		rm -rf site
		python3 -m pip install -q --no-index --no-cache-dir --find-links wheels --target site "$wanted"
		ls site
		[ -d site/causal_conv1d-1.5.3.post1+cu.13.0.torch.2.11.sm.90.dist-info ]
	done
	rm wheels/*+cu*
	rm -rf site
	python3 -m pip install -q --no-index --no-cache-dir --find-links wheels --target site causal-conv1d
	[ -d site/causal_conv1d-1.5.3.post1+any.dist-info ]
}

@test "WHEELSMITH_SHIMS=1 leaves a module alone that is there, and without it nothing is touched" {
	export PYTHONPATH=$WS_ROOT/kernels/python:$PWD
	local looks='import sys, wheelsmith_kernels; print(sorted(m for m in sys.modules if m.endswith("_cuda")))'
	[ "$(python3 -c "$looks")" = "[]" ]
	[ "$(WHEELSMITH_SHIMS=0 python3 -c "$looks")" = "[]" ]
	for module in causal_conv1d_cuda flash_attn_2_cuda selective_scan_cuda; do
		echo 'whose = "upstream"' > $module.py
	done
	[ "$(WHEELSMITH_SHIMS=1 python3 -c "$looks")" = "[]" ]
	[ "$(WHEELSMITH_SHIMS=1 python3 -c 'import wheelsmith_kernels, causal_conv1d_cuda; print(causal_conv1d_cuda.whose)')" = upstream ]
}
