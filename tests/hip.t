#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HIP: the programs of the HIP tasks are built into shared objects and code objects for gfx942 and gfx950. This only
# builds: no device is needed. KILN_HIPCC names the compiler; otherwise the first of hipcc and clang that can build for
# gfx942 is used (docs/gpu.md).
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

debian=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
mkdir bin bitcode
cat >probe.hip <<'E'
#include <hip/hip_runtime.h>
static __global__ void
twice(float *x)
{
	x[blockIdx.x * 64 + threadIdx.x] *= 2;
	__syncthreads();
}
extern "C" void
probe(float *x, hipStream_t stream)
{
	twice<<<1, 64, 0, stream>>>(x);
}
E

# The device library's constant that distinguishes the targets; Debian's package has none for these two.
isa() {
	printf '%s\n' 'target triple = "amdgcn-amd-amdhsa"' \
		"@__oclc_ISA_version = linkonce_odr protected addrspace(4) constant i32 $3" >isa.ll
	"$1" -Wno-override-module -x ir --target=amdgcn-amd-amdhsa -nogpulib -c -emit-llvm \
		-o "bitcode/oclc_isa_version_$2.bc" isa.ll
}

# hipcc made from a clang, Debian's headers and its device library, as described in docs/gpu.md.
make_hipcc() {
	[ -f /usr/include/hip/hip_runtime.h ] && [ -f $debian/hip.bc ] || return 1
	ln -sf $debian/*.bc bitcode/
	isa "$1" 942 9402 && isa "$1" 950 9500 || return 1
	{
		printf '#!/bin/sh -eu\nclang=%s bitcode=%s\n' "$1" "$T/bitcode"
		cat <<'E'
gfx=942
for a; do
	case $a in --offload-arch=gfx*) gfx=${a#*=gfx} ;; esac
done
for l in hip ocml ockl oclc_daz_opt_off oclc_unsafe_math_off oclc_finite_only_off oclc_correctly_rounded_sqrt_on \
	oclc_wavefrontsize64_on "oclc_isa_version_$gfx" oclc_abi_version_500; do
	set -- "$@" "--hip-device-lib=$l.bc"
done
exec "$clang" --rocm-device-lib-path="$bitcode" -mcode-object-version=5 -D__AMDGCN_WAVEFRONT_SIZE=64 "$@"
E
	} >bin/hipcc
	chmod +x bin/hipcc
}

builds() {
	"$1" -O3 -std=c++17 --offload-arch="$2" -shared -fPIC -o probe.so probe.hip >>probe.log 2>&1
}

find_hipcc() {
	for c in ${KILN_HIPCC:-hipcc /opt/rocm/bin/hipcc}; do
		hipcc=$(command -v "$c") && builds "$hipcc" gfx942 && return
	done
	for c in ${KILN_HIP_CLANG:-clang-22 clang-21 clang-20 clang-19 clang}; do
		hipcc=$T/bin/hipcc
		clang=$(command -v "$c") && make_hipcc "$clang" >>probe.log 2>&1 && builds "$hipcc" gfx942 && return
	done
	return 1
}

if ! find_hipcc; then
	skip 'HIP' 'no compiler for gfx942: ROCm, or clang-19 clang-tools-19 lld-19 libamdhip64-dev rocm-device-libs'
	done_testing
fi
printf '# HIP compiler: %s\n' "${clang:-$hipcc}"

# build GFX FILE.hip OUT OPTION…: with keval's command, so the object for the host contains the device code.
cat >bin/build <<'E'
#!/bin/sh -eu
gfx=$1 source=$2 out=$3
shift 3
exec "$hipcc" -O3 -std=c++17 --offload-arch="$gfx" "$@" -o "$out" "$source"
E
# target FILE: the processor that a code object is for, from its ELF header.
cat >bin/target <<'E'
#!/bin/sh -eu
case $(od -An -tx1 -j18 -N2 "$1" | tr -d ' ') in
e000) ;;
*) echo "$1 is not code for an AMD device"; exit 1 ;;
esac
case $(od -An -tx1 -j48 -N1 "$1" | tr -d ' ') in
4c) echo gfx942 ;;
4f) echo gfx950 ;;
*) echo other ;;
esac
E
# imports FILE.so: every function that it imports must be one that a HIP candidate may call.
cat >bin/imports <<'E'
#!/bin/sh -eu
nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }' |
	jq -eRn --slurpfile f "$KILN_DATA/patterns/forbidden.json" '
	$f[0] as $f | $f.backends.hip.imports as $i | [$i.names[], $f.lists[$i.lists[]][]] as $names |
	[inputs | select(. as $s | any($names[];
		. == $s or (endswith("*") and (rtrimstr("*") as $p | $s | startswith($p)))) | not)] |
	if . == [] then true else error(tostring) end'
E
chmod +x bin/build bin/target bin/imports
PATH=$T/bin:$PATH
export PATH hipcc

saxpy=$tests_dir/tasks/hip_saxpy
matmul=$KILN_DATA/campaigns/matmul_f16_hip_mi300x
cat >mfma.hip <<'E'
#include <hip/hip_runtime.h>
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4v __attribute__((ext_vector_type(4)));
__global__ void
tile(const half4 *a, const half4 *b, float4v *c)
{
#if defined(__gfx942__) || defined(__gfx950__)
	c[threadIdx.x] = __builtin_amdgcn_mfma_f32_16x16x16f16(a[threadIdx.x], b[threadIdx.x], c[threadIdx.x], 0, 0, 0);
#elif defined(__HIP_DEVICE_COMPILE__)
#error "another target"
#endif
}
E
export saxpy matmul

for gfx in gfx942 gfx950; do
	export gfx
	if ! builds "$hipcc" $gfx; then
		skip "$gfx" "the compiler does not know $gfx: LLVM 20 or ROCm 7 does"
		continue
	fi
	for task in saxpy matmul; do
		for role in reference oracle; do
			export task role
			ok "$gfx: $task, $role" '
				eval "source=\$$task/$role.hip"
				build $gfx "$source" $role.so -shared -fPIC
				grep -aq "amdgcn-amd-amdhsa--$gfx" $role.so
				nm -D --defined-only $role.so | grep " T $task\$"
				imports $role.so
				build $gfx "$source" $role.co --offload-device-only --no-gpu-bundle-output
				is $gfx "$(target $role.co)"'
		done
	done
	ok "$gfx: the matrix instruction" '
		build $gfx mfma.hip mfma.s --offload-device-only -S
		grep -q "amdgcn_target.*$gfx" mfma.s
		grep -q v_mfma_f32_16x16x16_f16 mfma.s'
done
done_testing
