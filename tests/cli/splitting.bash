# splitting.bash - `load splitting`: base.bash, and what nvcc's own commands did for kernel.cu.
# shellcheck shell=bash disable=SC2154

load base

setup() {
	in_place
}

# The commands of kernel.cu that the last build ran: "cicc compute_86".
ran_parts() {
	sed -nE '/from the store|] compile/d; s/.*] ([a-z+]+) kernel\.cu( \(([^)]*)\))?  .*/\1 \3/p' <<< "$stderr" |
		sed 's/ $//' | sort | tr '\n' ';'
}

# The store has the PTX, cubins and object that one nvcc makes of kernel.cu, by the command that `shell` opens; nvcc's
# own names come from a word without archs in parts.
same_as_whole() {
	ws -0 shell "$CELL" --matrix m.json --unit kernel.cu < /dev/null
	"$output/run" >&2
	local made sum
	for made in "$output"/unit.o "$output"/tmp/*.{ptx,cubin}; do
		sum=$(sha256sum < "$made" | cut -d' ' -f1)
		[ -e "$WHEELSMITH_STORE/cas/${sum:0:2}/$sum" ]
	done
}
