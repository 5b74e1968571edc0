#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that kiln needs and that are missing here; says which. Safe to repeat.
set -eu

build='gcc make libc6-dev libjansson-dev libpcre2-dev libcurl4-openssl-dev libffi-dev libseccomp-dev libmd-dev'
run='bubblewrap git jq ca-certificates'
baseline='libopenblas-dev'
tests='clang-format perl procps shellcheck mandoc python3 python3-jsonschema g++ strace pocl-opencl-icd ocl-icd-opencl-dev opencl-headers'
hip='clang-19 clang-tools-19 lld-19 libamdhip64-dev rocm-device-libs'
remote='openssh-server slurmctld slurmd slurm-client munge'
analysis='valgrind lcov clang libclang-rt-dev chromium'

usage() {
	cat <<E
usage: sh tools/setup.sh [--tests] [--hip] [--remote] [--analysis] [--list]
  --tests     the packages of the tests and of make lint as well
  --hip       a compiler for AMD GPUs, to build HIP kernels (375 MB)
  --remote    ssh's and Slurm's servers for the tests of docs/remote.md (Debian starts an sshd where there was none)
  --analysis  those of make valgrind, make coverage and make fuzz, and a browser to look at reports
  --list      print the packages and install nothing
E
}

list=
packages="$build $run $baseline"
for arg; do
	case $arg in
	--tests) packages="$packages $tests" ;;
	--hip) packages="$packages $hip" ;;
	--remote) packages="$packages $remote" ;;
	--analysis) packages="$packages $analysis" ;;
	--list) list=1 ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

if [ -n "$list" ]; then
	printf '%s\n' "$packages" | tr ' ' '\n'
	exit 0
fi

if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
	cat >&2 <<E
setup: this is not Debian or a relative of it. Install what these Debian packages hold, by your own system's names:
  $packages
then run make. kiln needs GNU make 4.3, a C11 compiler, Linux 5.13 or later, and bubblewrap 0.8 or Landlock.
E
	exit 3
fi

missing=
for p in $packages; do
	case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null || :) in
	*' installed') ;;
	*) missing="$missing $p" ;;
	esac
done
if [ -z "$missing" ]; then
	echo "setup: nothing to install"
	exit 0
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
	sudo=sudo
	command -v sudo >/dev/null 2>&1 || {
		echo "setup: run as root, or install sudo; missing:$missing" >&2
		exit 3
	}
fi
echo "setup: installing$missing"
# shellcheck disable=SC2086
{
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq update &&
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null
} || {
	echo "setup: apt-get failed; missing are:$missing" >&2
	exit 3
}
echo "setup: done"
