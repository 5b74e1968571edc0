#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands before the linker while a copy of a CUDA application is built to be watched, which compilers let it by COMPILER_PATH:
# the shared run-time library takes the place of the static one, whose launches cannot be seen. Where that does not link,
# what was asked for is linked.
here=${0%/*}
name=${0##*/}

# The linker that would have been called, which may lie beside the compiler alone. Empty parts of a PATH are the folder at hand,
# which none has its linker in.
find_linker() {
	IFS=:
	caller=$(readlink "/proc/$PPID/exe")
	for folder in $COMPILER_PATH ${caller%/*} $PATH; do
		[ "${folder%/}" = "$here" ] || [ ! -x "${folder%/}/$name" ] || { echo "${folder%/}/$name" && return; }
	done
}

# Arguments a line each, those of response files too: compilers write them so.
words() {
	for word; do
		case $word in
		@*) cat "${word#@}" ;;
		*) printf '%s\n' "$word" ;;
		esac
	done
}

# The shared library beside the static one that is found first.
find_library() {
	while IFS= read -r word; do
		case $word in
		*/libcudart_static.a) folder=${word%/*} ;;
		-L?*) folder=${word#-L} ;;
		*) continue ;;
		esac
		for file in "$folder/libcudart.so" "$folder"/libcudart.so.[0-9]*; do
			[ ! -e "$folder/libcudart_static.a" ] || [ ! -e "$file" ] || { echo "$file" && return; }
		done
	done
}

# An option a line: found again when the application runs, whatever the options around it say of libraries.
instead() {
	printf '%s\n' --push-state --no-as-needed -Bdynamic "$library" --pop-state -rpath "${library%/*}"
}

link_shared() {
	n=0
	for word; do
		shift
		case $word in
		-lcudart_static | -l:libcudart_static.a | */libcudart_static.a)
			set -- "$@" --push-state --no-as-needed -Bdynamic "$library" --pop-state -rpath "${library%/*}"
			;;
		@*)
			n=$((n + 1))
			instead >"$0.instead.$$"
			sed -e "\\;^\\(-lcudart_static\\|-l:libcudart_static\\.a\\|.*/libcudart_static\\.a\\)\$; { r $0.instead.$$" \
				-e "d; }" "${word#@}" >"$0.words.$$.$n"
			set -- "$@" "@$0.words.$$.$n"
			;;
		*) set -- "$@" "$word" ;;
		esac
	done
	"$linker" "$@"
}

linker=$(find_linker)
[ "$linker" ] || { echo "$name: there is no other linker of this name" >&2 && exit 127; }
library=
if words "$@" | grep -q 'cudart_static\(\.a\)\{0,1\}$'; then
	library=$(words "$@" | find_library)
fi
if [ "$library" ]; then
	link_shared "$@" 2>"$0.said.$$"
	code=$?
	[ $code != 0 ] || cat "$0.said.$$" >&2
	rm -f "$0.said.$$" "$0.instead.$$" "$0.words.$$".*
	[ $code != 0 ] || exit 0
fi
exec "$linker" "$@"
