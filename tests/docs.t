#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The pages for people: links lead somewhere, the map of the house is complete, and everything to be typed
# exists.
# shellcheck disable=SC2016	# scripts in quotes
. "${0%/*}/lib.sh"

tools=$(sed -n 's/^TOOLS := //p' "$KILN_DATA/Makefile")
export tools
pages='README.md CONTRIBUTING.md docs/*.md docs/hardware/README.md'
export pages

ok 'every link of a page leads to a file, and to a heading in it' '
	cd "$KILN_DATA"
	for page in $pages; do
		grep -oE "\]\([^)]*\)" "$page" | sed "s/^](//; s/)$//" | grep -v "^https*:" | while read -r link; do
			case $link in "#"*) file=$page ;; *) file=${page%"${page##*/}"}${link%%#*} ;; esac
			test -e "$file" || { echo "$page: $link: no such file"; exit 1; }
			case $link in *"#"*) ;; *) continue ;; esac
			sed -n "s/^##* //p" "$file" | tr "A-Z " "a-z-" | tr -d ",:?.\`" | grep -qx -- "${link#*#}" ||
				{ echo "$page: $link: no such heading"; exit 1; }
		done
	done'

ok 'the README leads to every page' '
	cd "$KILN_DATA"
	for page in docs/*.md docs/hardware/README.md; do
		grep -qF "($page)" README.md || { echo "$page is not linked"; exit 1; }
	done'

ok 'every page that a file names exists' '
	cd "$KILN_DATA"
	grep -rhoE "docs/[a-z]+\.md" Makefile pipeline.mk NEWS.md patterns skills tools tests docs/schemas | sort -u >"$T/named"
	while read -r page; do
		test -e "$page" || { echo "$page is named, and is not there"; exit 1; }
	done <"$T/named"'

ok 'docs/seeds.md counts its rows, and every test that it names exists' '
	cd "$KILN_DATA"
	sed -n "s/^    \$ //p" docs/seeds.md >"$T/count"
	sh "$T/count" >"$T/counts"
	test -s "$T/counts"
	sed -nE "s/^    ([a-z ]+:( [0-9]+){5})$/\1/p" docs/seeds.md | diff - "$T/counts"
	awk -F " [|] " "/^[|] [1-4]\./ { n = split(\$4, t, \"; \"); for (i = 1; i <= n; i++) print t[i] }" docs/seeds.md | sort -u >"$T/shown"
	while IFS= read -r shown; do
		file=$(echo "$shown" | cut -d "\`" -f 2 | sed "s/.*tests.//; s/ .*//") title=
		case $shown in "not shown") continue ;; *": "*) title=${shown#*: } ;; esac
		test -e "tests/$file" && sed -E "s/^	*(ok|t) .//" "tests/$file" |
			awk -v title="$title" "index(\$0, title) == 1 { found = 1 } END { exit !found }" || { echo "no such test: $shown"; exit 1; }
	done <"$T/shown"'

ok 'lines are at most 100 columns wide outside of tables and examples' '
	cd "$KILN_DATA"
	for page in $pages; do
		expand "$page" | awk -v page="$page" "/^ *\`\`\`/ { code = !code } !code && !/^[|]/ && !/^    /" |
			LC_ALL=C.UTF-8 grep -nE "^.{101}" && { echo "in $page"; exit 1; }
	done
	true'

ok 'the map of CONTRIBUTING names every module that tools share' '
	cd "$KILN_DATA"
	for header in tools/core/*.h tools/model/*.h; do
		module=${header##*/}
		grep -qF "\`${module%.h}\`" CONTRIBUTING.md || { echo "$header is not on the map"; exit 1; }
	done'

ok 'every tool has a manual page, a line in kiln(7), and completion' '
	cd "$KILN_DATA"
	for tool in $tools; do
		test -e "tools/$tool.1" || test -e "${tool#k}/$tool.1"
		grep -qx "\.It Xr $tool 1" docs/kiln.7 || { echo "$tool is not in kiln.7"; exit 1; }
		grep -qw "$tool" docs/completion/kiln.bash && grep -qw "$tool" docs/completion/_kiln
	done'

# Lines to be typed, in order, without comments.
sed -n 's/^    \([a-z].*\)/\1/p' "$KILN_DATA/README.md" | sed 's/  *#.*//' >typed
ok 'the README sets PATH before it needs a tool, and calls only what exists' '
	tr "|" "\n" <"$T/typed" | sed "s/^ *//; s/ .*//" | grep "^[a-z]" >words
	while read -r word; do
		case " $tools " in *" $word "*) test -e found; continue ;; esac
		case $word in
		export) : >found ;;
		sh | make | jq | sort | uniq | less | tests/cheats/run) ;;
		*) echo "what is $word?"; exit 1 ;;
		esac
	done <words
	rm found'

ok 'every option of a tool in the README is one' '
	tr "|" "\n" <"$T/typed" | while read -r tool words; do
		case " $tools " in *" $tool "*) ;; *) continue ;; esac
		[ "$tool ${words%% *}" != "kcampaign adopt" ] || tool="kadopt adopt"
		for option in $words; do
			case $option in -?*) ;; *) continue ;; esac
			# shellcheck disable=SC2086
			$tool --help | grep -qe "${option}[ ,]" || { echo "$tool has no $option"; exit 1; }
		done
	done'

ok 'every target of make in the README is one' '
	cd "$KILN_DATA"
	tr "&" "\n" <"$T/typed" | grep "^ *make " | tr " " "\n" | grep "^[a-z]" | grep -vx make | while read -r target; do
		grep -qE "^(campaign_targets :=|[.]PHONY:).* $target( |$)" Makefile || { echo "no target $target"; exit 1; }
	done'

ok 'the tool of CONTRIBUTING compiles' '
	cd "$KILN_DATA"
	awk "/^\`\`\`c\$/ { on = 1; next } /^\`\`\`\$/ { on = 0 } on" CONTRIBUTING.md >"$T/tool.c"
	test "$(wc -l <"$T/tool.c")" -gt 50
	cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror -Itools/core -Itools/model -fsyntax-only "$T/tool.c"'
done_testing
