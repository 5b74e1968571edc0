# SPDX-License-Identifier: Apache-2.0
# Completion for bash: long options of every tool from its own --help; commands and stages of kcampaign.
_kiln() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} tool=${COMP_WORDS[0]}

	COMPREPLY=()
	case $prev in
	--from) mapfile -t COMPREPLY < <(compgen -W 'sample prompt reply eval' -- "$cur"); return ;;
	-c | --campaign | --task) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tool" --help 2>/dev/null | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u)" -- "$cur")
	elif [[ ${tool##*/} == kcampaign && $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'new check status next best baseline shapes run views redo verify knobs schema' -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -o filenames -F _kiln kclassify kaudit ksample kprompt kllm keval kscore karchive kgrad kcampaign kharness kprofile kspec kmemory kreport kround
