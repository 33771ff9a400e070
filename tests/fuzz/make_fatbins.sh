#!/bin/sh
# Makes fuzz/corpus/fatbin/ again: the .nv_fatbin sections of one tiny kernel, as nvcc writes them
# for different targets and compressions. The files that are checked in came from nvcc 13.0.88.
# Run in /src: with -lineinfo the images hold the working folder.
set -eu
out=$(cd "$(dirname "$0")/corpus/fatbin" && pwd)
mkdir -p /src
cd /src
cat > k.cu <<'EOF'
extern "C" __global__ void k(float *x) { x[threadIdx.x] *= 2.0f; }
EOF
make() {
	name=$1
	shift
	nvcc -O1 -c -Xcompiler -fPIC -o k.o k.cu "$@"
	g++ -shared -o k.so k.o
	objcopy -O binary --only-section=.nv_fatbin k.so "$out/$name"
}
make none_75_90ptx -gencode arch=compute_75,code=sm_75 -gencode 'arch=compute_90,code=[sm_90,compute_90]' -compress-mode=none
make zstd_90aptx_100f -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -gencode arch=compute_100f,code=sm_100f -compress-mode=size
make lz4_75ptx -gencode 'arch=compute_75,code=[sm_75,compute_75]' -compress-mode=speed
make default_75ptx_120aptx -gencode 'arch=compute_75,code=[sm_75,compute_75]' -gencode 'arch=compute_120a,code=[sm_120a,compute_120a]'
make ptxonly_80 -gencode arch=compute_80,code=compute_80
# LTO-IR exists only where nvlink will run; its containers are in another section.
nvcc -O1 -dc -Xcompiler -fPIC -o k.o k.cu -gencode 'arch=compute_80,code=[sm_80,lto_80]'
objcopy -O binary --only-section=__nv_relfatbin k.o "$out/lto_80"
make lineinfo_80 -gencode arch=compute_80,code=sm_80 -lineinfo
# Two units in one library; and nvcc's own link, which adds a container of its own.
nvcc -O1 -c -Xcompiler -fPIC -o a.o k.cu -gencode arch=compute_80,code=sm_80
sed s/k/other/ k.cu > other.cu
nvcc -O1 -c -Xcompiler -fPIC -o b.o other.cu -gencode arch=compute_90a,code=sm_90a
g++ -shared -o k.so a.o b.o
objcopy -O binary --only-section=.nv_fatbin k.so "$out/two_units_80_90a"
nvcc -shared -Xcompiler -fPIC -o k.so k.cu -gencode arch=compute_86,code=sm_86
objcopy -O binary --only-section=.nv_fatbin k.so "$out/nvcc_link_86"
rm -r /src
