# bash completion for wheelsmith
# Made by `wheelsmith internal completion bash`; do not edit.
# shellcheck shell=bash

# What $1 understands: options, parts (commands that come next), words; and the value of option $2.
# Values and words: files, folders, ask:TOPIC, 'any', or the words themselves; '' takes no value.
_wheelsmith_table() { # command, option
	options='' parts='' words='' value=''
	case $1 in
	'')
		options='--version '
		parts='build plan fetch lock shell doctor recipe'
		;;
	'build')
		options='-m --matrix --only --shard --here --torch --python --arch --cuda --cxx11abi -o --output -j --jobs --memory --policy -k --keep-going --offline --locked --keep-work --compile-commands --timeout --action-timeout '
		words=ask:packages
		case $2 in
		-m | --matrix) value=files ;;
		--only) value=ask:cells ;;
		--shard) value=any ;;
		--torch) value=ask:torch ;;
		--python) value=ask:python ;;
		--arch) value=ask:arch ;;
		--cuda) value=ask:cuda ;;
		--cxx11abi) value='auto 0 1' ;;
		-o | --output) value=folders ;;
		-j | --jobs) value=any ;;
		--memory) value=any ;;
		--policy) value='prefer-prebuilt prefer-build prebuilt-only build-only' ;;
		--timeout) value=any ;;
		--action-timeout) value=any ;;
		esac
		;;
	'plan')
		options='-m --matrix --only --shard --here --torch --python --arch --cuda --cxx11abi --policy --why --strict --github -j --jobs --memory '
		words=ask:packages
		case $2 in
		-m | --matrix) value=files ;;
		--only) value=ask:cells ;;
		--shard) value=any ;;
		--torch) value=ask:torch ;;
		--python) value=ask:python ;;
		--arch) value=ask:arch ;;
		--cuda) value=ask:cuda ;;
		--cxx11abi) value='auto 0 1' ;;
		--policy) value='prefer-prebuilt prefer-build prebuilt-only build-only' ;;
		--why) value=ask:cells ;;
		-j | --jobs) value=any ;;
		--memory) value=any ;;
		esac
		;;
	'fetch')
		options='-m --matrix --only --shard --here --torch --python --arch --cuda --cxx11abi '
		words=ask:packages
		case $2 in
		-m | --matrix) value=files ;;
		--only) value=ask:cells ;;
		--shard) value=any ;;
		--torch) value=ask:torch ;;
		--python) value=ask:python ;;
		--arch) value=ask:arch ;;
		--cuda) value=ask:cuda ;;
		--cxx11abi) value='auto 0 1' ;;
		esac
		;;
	'lock')
		options='-m --matrix --here --torch --python --arch --cuda --cxx11abi -u --update '
		words=ask:packages
		case $2 in
		-m | --matrix) value=files ;;
		--torch) value=ask:torch ;;
		--python) value=ask:python ;;
		--arch) value=ask:arch ;;
		--cuda) value=ask:cuda ;;
		--cxx11abi) value='auto 0 1' ;;
		-u | --update) value='all torch cuda' ;;
		esac
		;;
	'shell')
		options='-m --matrix --here --torch --python --arch --cuda --cxx11abi -u --unit --offline --keep-work '
		words=ask:cells
		case $2 in
		-m | --matrix) value=files ;;
		--torch) value=ask:torch ;;
		--python) value=ask:python ;;
		--arch) value=ask:arch ;;
		--cuda) value=ask:cuda ;;
		--cxx11abi) value='auto 0 1' ;;
		-u | --unit) value=any ;;
		esac
		;;
	'doctor')
		options='--python '
		case $2 in
		--python) value=files ;;
		esac
		;;
	'recipe')
		options=''
		parts='check new'
		;;
	'recipe check')
		options='--fetch '
		words=files
		;;
	'recipe new')
		options='-o --output --git '
		case $2 in
		-o | --output) value=files ;;
		esac
		;;
	esac
	options+='--store --recipes --index --debian-mirror --kits --json -q --quiet -v --verbose -h --help'
		case $2 in
		--store) value=folders ;;
		--recipes) value=folders ;;
		--index) value=any ;;
		--debian-mirror) value=any ;;
		--kits) value='host archive' ;;
		esac
}

# Adds what fits to COMPREPLY, as it would stand on the line.
_wheelsmith_fill() { # kind, what was typed, what stands before it
	local word
	while IFS= read -r word; do
		[[ $word == "$2"* ]] && COMPREPLY+=("$3$word")
	done < <(
		case $1 in
		any) ;;
		files) compgen -f -- "$2" ;;
		folders) compgen -d -- "$2" ;;
		ask:*) "${typed[0]/#\~/$HOME}" internal complete "${1#ask:}" "${typed[@]:1}" 2>/dev/null ;;
		*) printf '%s\n' "$1" | tr ' ' '\n' ;;
		esac
	)
	[[ $1 != files && $1 != folders ]] || compopt -o filenames 2>/dev/null
}

_wheelsmith() {
	local line=${COMP_LINE:0:COMP_POINT} command='' option='' kind='' i
	local options parts words value
	local -a typed
	read -ra typed <<<"$line"
	[[ $line != *[[:space:]] ]] || typed+=('')
	local last=$((${#typed[@]} - 1))
	local word=${typed[last]}
	COMPREPLY=()
	for ((i = 1; i < last; i++)); do
		if [[ $option ]]; then
			option=''
			continue
		fi
		_wheelsmith_table "$command" "${typed[i]}"
		if [[ $value ]]; then
			option=${typed[i]} kind=$value
		elif [[ " $parts " == *" ${typed[i]} "* ]]; then
			command+=${command:+ }${typed[i]}
		fi
	done
	_wheelsmith_table "$command" "${word%%=*}"
	if [[ $option ]]; then
		_wheelsmith_fill "$kind" "$word" ''
	elif [[ $word == --*=* ]]; then
		_wheelsmith_fill "${value:-any}" "${word#*=}" "${word%%=*}="
	elif [[ $word == -* ]]; then
		_wheelsmith_fill "$options" "$word" ''
	else
		_wheelsmith_fill "${parts:-$words}" "$word" ''
	fi
	if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${word%=*}="}")
	fi
}

complete -F _wheelsmith wheelsmith
