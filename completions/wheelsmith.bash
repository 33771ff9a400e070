# bash completion for wheelsmith: the program itself says what may stand at the cursor.
# shellcheck shell=bash

_wheelsmith() {
	# The line as it was typed: bash itself splits "flash-attn==2" at the signs.
	local line=${COMP_LINE:0:COMP_POINT} word before='' answer
	local -a typed
	read -ra typed <<<"$line"
	[[ $line != *[[:space:]] ]] || typed+=('')
	word=${typed[-1]}
	[[ $word != --*=* ]] || before=${word%%=*}=
	COMPREPLY=()
	while IFS=$'\t' read -r answer _; do
		case $answer in
		:files) mapfile -t COMPREPLY < <(compgen -P "$before" -f -- "${word#"$before"}") ;;
		:folders) mapfile -t COMPREPLY < <(compgen -P "$before" -d -- "${word#"$before"}") ;;
		"$word"*) COMPREPLY+=("$answer") ;;
		esac
		[[ $answer != :* ]] || compopt -o filenames 2>/dev/null
	done < <("${typed[0]/#\~/$HOME}" internal complete -- "${typed[@]:1}" 2>/dev/null)
	if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${word%=*}="}")
	fi
}

complete -F _wheelsmith wheelsmith
