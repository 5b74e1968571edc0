# SPDX-License-Identifier: Apache-2.0
# Completion for bash: long options of every tool, and its commands where it has any, from its own --help.
_kiln() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} tool=${COMP_WORDS[0]}

	COMPREPLY=()
	case $prev in
	--from) mapfile -t COMPREPLY < <(compgen -W 'sample prompt reply eval' -- "$cur"); return ;;
	-c | --campaign | --task) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tool" --help 2>/dev/null | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u)" -- "$cur")
	elif [[ $COMP_CWORD -eq 1 && ${tool##*/} =~ ^k(campaign|records|adopt)$ ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tool" --help 2>/dev/null | sed -nE '/COMMAND/d; s/^ +(kadopt +)?([a-z]+) .*/\2/p')" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -o filenames -F _kiln kclassify kaudit kbench ksample kprompt kllm keval kscore karchive kgrad kcampaign kharness kprofile kremote kspec krecords kreport kadopt
