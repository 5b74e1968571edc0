#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs instead of the linker while a copy of a CUDA application is built to be watched; compilers find it through
# COMPILER_PATH. It replaces the static run-time library, whose launches cannot be seen, by the shared one. If that does
# not link, it links with the original arguments.
here=${0%/*}
name=${0##*/}

# The linker that would have been called, which may exist only next to the compiler. An empty part of a PATH means the
# current folder, which never contains the linker.
find_linker() {
	IFS=:
	caller=$(readlink "/proc/$PPID/exe")
	for folder in $COMPILER_PATH ${caller%/*} $PATH; do
		[ "${folder%/}" = "$here" ] || [ ! -x "${folder%/}/$name" ] || { echo "${folder%/}/$name" && return; }
	done
}

# Arguments, one per line, including those of response files, in the form that compilers write.
words() {
	for word; do
		case $word in
		@*) cat "${word#@}" ;;
		*) printf '%s\n' "$word" ;;
		esac
	done
}

# The shared library next to the first static one that is found.
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

# One option per line: the library must be found when the application runs, whatever the surrounding options say about
# libraries.
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
