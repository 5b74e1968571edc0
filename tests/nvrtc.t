#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# NVRTC: CUDA programs that consist of device code only become objects, or a message says why not. This only
# builds: no device is needed.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

KILN_LOCK_DIR=$T
mkdir "$T/tmp"
chmod 755 "$T"
chmod 1777 "$T/tmp"
TMPDIR=$T/tmp
export KILN_LOCK_DIR TMPDIR
if ! krtc --facts >facts.json 2>why; then
	skip 'NVRTC' "$(head -n 1 why)"
	done_testing
fi
saxpy=$tests_dir/tasks/nvrtc_saxpy
export saxpy

# build SCRIPT: the reference, changed by sed.
mkdir bin
cat >bin/build <<'E2'
#!/bin/sh -eu
sed "$1" "$saxpy/reference.cu" >candidate.cu
[ "$1" = "" ] || ! cmp -s candidate.cu "$saxpy/reference.cu"
exec krtc --build candidate.cu candidate.obj -arch=sm_90a -std=c++17
E2
chmod +x bin/build
PATH=$T/bin:$PATH

ok 'the compiler is reported' '
	jq -e ".nvrtc | test(\"^[0-9]+[.][0-9]+$\")" facts.json
	exits 2 krtc; exits 2 krtc --build'
ok 'a program' '
	build ""
	head -n 1 candidate.obj | grep -q "^kiln device code 1 "
	grep -aq "kiln: launch kernel=saxpy" candidate.obj
	grep -aq "[.]text[.]saxpy" candidate.obj'
ok 'a bundle' '
	echo "#define FACTOR factor" >more.h
	build "s/factor \* x/FACTOR * x/; 1i #include \"more.h\""'
ok 'headers of the toolkit' '
	[ -f /usr/local/cuda/include/cuda_fp16.h ] || exit 0
	build "1i #include <cuda_fp16.h>"'
ok 'syntax' '
	exits 1 build "s/float factor)/float factor/"
	grep -q "^candidate.cu(.*error" err'
ok 'no launch line' '
	exits 1 build "/kiln:/d"
	grep -q "candidate.cu: error: no line says how to launch it: // kiln: launch kernel=" err'
ok 'a kernel that is missing, or has another name' '
	exits 1 build "s/kernel=saxpy/kernel=nothing/"
	grep -q "candidate.cu:3: error: the program has no kernel extern \"C\" __global__ void nothing" err
	exits 1 build "s/extern \"C\"//"
	grep -q "has no kernel" err'
ok 'no host code' '
	exits 1 build "\$a void host() { saxpy<<<1, 1>>>(0, 0, 0, 0, 0); }"'
ok 'no device named' '
	cp "$saxpy/reference.cu" candidate.cu
	exits 2 krtc --build candidate.cu candidate.obj -arch=compute_90
	grep -q "must name one" err'

# keval's tier T1, with a stand-in for kharness, because there is no device to run on.
mkdir saxpy kbin
cp "$saxpy"/* saxpy
echo '{"name":"saxpy","backend":"cuda"}' >saxpy/campaign.json
cp "$KILN_BUILD/keval" "$KILN_BUILD/krtc" kbin
cat >kbin/kharness <<'E2'
#!/bin/sh
for f; do :; done
head -c 19 "$f" | grep -q "kiln device code 1" || exit 2
printf '%s\n' "$*" >"$T/called"
echo '{"schema":"harness/1","candidates":[{"name":"candidate","status":"correct","tier":3,"reasons":[],"log":""}]}'
E2
chmod +x kbin/*
cat >bin/evaluate <<'E2'
#!/bin/sh -eu
sed "$1" saxpy/reference.cu >changed.cu
kbin/keval -c saxpy --code changed.cu | jq -c .eval >eval.json
jq -c '[.status, .reasons, .log, .build.log]' eval.json
E2
chmod +x bin/evaluate
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
	ok 'T1: a program is built, its oracle by nvcc' '
		evaluate ""
		jq -e ".status == \"correct\" and (.build.command | startswith(\"krtc --build candidate.cu candidate.so -arch=sm_90a\"))" eval.json
		grep -q -- "--backend cuda" called'
else
	skip 'T1: a program is built, its oracle by nvcc' 'nvcc is not installed'
fi
ok 'T1: syntax, launch lines' '
	evaluate "s/float factor)/float factor/"
	jq -e ".status == \"compile_error\" and .tier == 1 and (.build.log | contains(\"candidate.cu\"))" eval.json
	evaluate "/kiln:/d"
	jq -e ".status == \"compile_error\" and (.log | contains(\"no line says how to launch it\"))" eval.json
	evaluate "s/grid=[^ ]*/grid=m/"
	jq -e ".status == \"compile_error\" and (.log | contains(\"no such axis: m\"))" eval.json'
done_testing
