#!/usr/bin/env zsh
# What zsh offers: complete.zsh FOLDER LINE, where FOLDER holds _wheelsmith; one word a line.
# Completion needs a line editor and that needs a terminal, so a second zsh runs on a pseudo-terminal
# and tells what reaches its compadd.
zmodload zsh/zpty || exit 77
home=$(mktemp -d) || exit
trap 'rm -rf $home' EXIT
cat > $home/.zshrc <<'RC'
fpath=($COMPLETIONS $fpath)
autoload -Uz compinit
compinit -D -u
LISTMAX=10000
compadd() {
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	local -a hits
	builtin compadd -O hits "$@"
	(( $#hits )) && print -rl -- "<hit>"${^hits}"<end>"
	builtin compadd "$@"
}
ask() {
	zle complete-word
	print -r -- "<done>"
	zle kill-whole-line
}
zle -N ask
bindkey '^X' ask
PROMPT='<ready>'
RC

export COMPLETIONS=$1 ZDOTDIR=$home TERM=dumb
zpty inner zsh -i
wait_for() {
	local got
	while zpty -r inner got; do
		[[ $got == *'<hit>'*'<end>'* ]] && print -r -- ${${got#*<hit>}%<end>*}
		[[ $got == *$1* ]] && return
	done
}
zpty -r inner got '*<ready>*'
zpty -w -n inner $2$'\x18'
wait_for '<done>'
zpty -d inner
