# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# For scripts in this folder that need a GPU: kiln's programs first on PATH, and a folder T for work, which goes at the end. Where there
# is no device the script ends here, with a note.
: "${KILN_DATA:=$(cd "${0%/*}/../.." && pwd)}"
: "${KILN_BUILD:=$KILN_DATA/build}"
PATH=$KILN_BUILD:$PATH
export KILN_DATA KILN_BUILD PATH
if ! command -v nvcc >/dev/null || ! nvidia-smi >/dev/null 2>&1; then
	echo "${0##*/}: no nvcc or no device here"
	exit 0
fi
T=$(mktemp -d)
chmod 755 "$T"
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT TERM
