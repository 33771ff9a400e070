#!/usr/bin/env bash
# kernels_emulated.sh FOLDER [WORDS FOR THE COMPILER]: the kernels' library over kernels that run on the CPU, into FOLDER:
# _wsk.so, libcuda.so.1, and one library for each image. Needs gcc and g++ alone.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) kernels=$(cd "$(dirname "$0")/../../kernels" && pwd)
folder=$1
shift
mkdir -p "$folder"
: > "$folder/images.s"
for source in "$kernels"/device/*/*.cu; do
	image=$(basename "$source" .cu)
	printf '\t.section .rodata\n\t.globl %s\n\t.hidden %s\n%s:\n\t.asciz "%s"\n' "$image" "$image" "$image" "$image" >> "$folder/images.s"
	case $image in
	attn_*) params=wsk_attn_params header=params ;;
	append) params=wsk_append_params header=append_params ;;
	*) continue ;; # they have instructions that are not emulated
	esac
	echo "g++ -std=c++17 -O2 -g -w -fPIC -shared -D__CUDA_ARCH__=800 -DWSK_EMULATED_PARAMS='struct $params' $* \
		-include '$kernels/device/attention/$header.h' -include '$here/kernels_emulated.h' -x c++ '$source' -o '$folder/$image.so'"
done | xargs -P "$(nproc)" -d '\n' -n 1 bash -c
printf '\t.section .note.GNU-stack,"",@progbits\n' >> "$folder/images.s"
gcc -O2 -w -fPIC -shared -Wl,-soname,libcuda.so.1 "$here/kernels_emulated.c" -ldl -o "$folder/libcuda.so.1"
gcc -std=c17 -O2 -fPIC -shared -fvisibility=hidden -I"$kernels/include" "$kernels"/host/*.c "$folder/images.s" -lm -o "$folder/_wsk.so"
