#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Options: --help lists one per line; a letter means the same in every tool; manual pages name the same options.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

# The options in --help, as lines TOOL|LETTER|NAME|VALUE, including the commands of kadopt. Programs that it starts have
# no help of their own.
tools=$(sed -n 's/^TOOLS := //p' "$KILN_DATA/Makefile")
export tools
for tool in $tools; do
	"$tool" --help >help
	if [ "$tool" = kadopt ]; then
		commands=$(sed -nE "s/^       kadopt ([a-z]+)  .*/\1/p" help)
		# shellcheck disable=SC2086	# words
		for command in $commands; do
			kadopt $command --help
		done >help
	fi
	sed -nE "s/^  (-(.))?(, |    )?(--([a-z-]+))?( ([^ ]+))?( .*|)$/$tool|\2|\5|\7/p" help | grep -v "||$"
done | sort -u >options

ok 'every tool lists its options, one per line' '
	for tool in $tools; do
		grep -q "^$tool|h|help|$" options && grep -q "^$tool|V|version|$" options || { echo "$tool"; exit 1; }
	done
	is 1 "$(grep -c "^kcampaign|n|trials|N$" options)"'

ok 'a letter means the same in every tool' '
	cut -d "|" -f 2,3 options | grep "^[^|]|." | sort -u >letters
	cut -d "|" -f 1 letters | uniq -d >twice
	test ! -s twice || { grep -f twice letters; exit 1; }'

ok 'lines of help have at most 100 columns' '
	for tool in $tools; do
		"$tool" --help | grep -E "^.{101}" && { echo "$tool"; exit 1; }
	done
	true'

ok 'the manual page of a tool names the options of its help, and no others' '
	for tool in $tools; do
		tr -d "\\\\" <"$(find "$KILN_DATA/tools" "$KILN_DATA/adopt" -name "$tool.1")" >page
		sed -n "s/^$tool|[^|]*|\([a-z-]*\)|.*/\1/p" options | grep -vE "^(help|version)?\$" | sort -u >help
		while read -r name; do
			grep -qE "(Fl|[,|]) -$name( |$)" page || echo "$tool.1 lacks --$name"
		done <help
		grep "^[.]It" page | grep -oE "(Fl|,) -[a-z][a-z-]+" | sed "s/.* -//" |
			grep -vxFf help | grep -vxE "help|version" | sed "s/^/$tool has no --/"
	done >faults
	test ! -s faults || { cat faults; exit 1; }'
done_testing
