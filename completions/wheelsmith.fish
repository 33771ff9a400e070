# fish completion for wheelsmith
# Made by `wheelsmith internal completion fish`; do not edit.

function __wheelsmith_ask # topic
	set -l typed (commandline -opc)
	$typed[1] internal complete $argv[1] $typed[2..-1] 2>/dev/null
end

# True when the commands on the line are these, and no others.
function __wheelsmith_at # words
	set -l found
	for word in (commandline -opc)[2..-1]
		contains -- $word build plan fetch lock shell doctor recipe check new; and set -a found $word
	end
	test "$found" = "$argv"
end

complete -c wheelsmith -f
complete -c wheelsmith -s h -l help -d 'what there is to say'
complete -c wheelsmith -l store -x -a '(__fish_complete_directories)' -d 'where everything worth keeping is kept'
complete -c wheelsmith -l recipes -x -a '(__fish_complete_directories)' -d 'look for recipes here first'
complete -c wheelsmith -l index -x -d 'package index; ROLE=URL for a role'
complete -c wheelsmith -l debian-mirror -x -d 'where Debian archives are'
complete -c wheelsmith -l kits -x -a 'host archive' -d 'CUDA from the host or from archives: host, archive'
complete -c wheelsmith -l json -d 'results as JSON'
complete -c wheelsmith -s q -l quiet -d 'only results, warnings and errors'
complete -c wheelsmith -s v -l verbose -d 'say more'

complete -c wheelsmith -n '__wheelsmith_at' -a build -d 'make the wheels of a matrix, or of one package'
complete -c wheelsmith -n '__wheelsmith_at' -a plan -d 'what would happen to every cell, why, at what cost'
complete -c wheelsmith -n '__wheelsmith_at' -a fetch -d 'bring everything a build needs into the store'
complete -c wheelsmith -n '__wheelsmith_at' -a lock -d 'pin sources, kits and torch wheels'
complete -c wheelsmith -n '__wheelsmith_at' -a shell -d 'a shell where a cell\'s command runs'
complete -c wheelsmith -n '__wheelsmith_at' -a doctor -d 'what this host has for building: compilers, CUDA, GPUs'
complete -c wheelsmith -n '__wheelsmith_at' -a recipe -d 'check recipes, or draft one'
complete -c wheelsmith -n '__wheelsmith_at' -l version -d 'the version'

complete -c wheelsmith -n '__wheelsmith_at build' -a '(__wheelsmith_ask packages)'
complete -c wheelsmith -n '__wheelsmith_at build' -s m -l matrix -r -F -d 'the build matrix'
complete -c wheelsmith -n '__wheelsmith_at build' -l only -x -a '(__wheelsmith_ask cells)' -d 'cells whose names match these globs'
complete -c wheelsmith -n '__wheelsmith_at build' -l shard -x -d 'part I of N, the same on every machine'
complete -c wheelsmith -n '__wheelsmith_at build' -l here -d 'for this host\'s python3, torch and GPU'
complete -c wheelsmith -n '__wheelsmith_at build' -l torch -x -a '(__wheelsmith_ask torch)' -d 'without a matrix: torch 2.5.1, installed'
complete -c wheelsmith -n '__wheelsmith_at build' -l python -x -a '(__wheelsmith_ask python)' -d '3.11, 3.13t, a path; default: python3'
complete -c wheelsmith -n '__wheelsmith_at build' -l arch -x -a '(__wheelsmith_ask arch)' -d '"8.0;9.0+PTX", hopper; default: the GPU here'
complete -c wheelsmith -n '__wheelsmith_at build' -l cuda -x -a '(__wheelsmith_ask cuda)' -d '12.4; default: what torch was built with'
complete -c wheelsmith -n '__wheelsmith_at build' -l cxx11abi -x -a 'auto 0 1' -d '0 or 1; default: torch\'s own'
complete -c wheelsmith -n '__wheelsmith_at build' -s o -l output -x -a '(__fish_complete_directories)' -d 'where wheels go; default: dist'
complete -c wheelsmith -n '__wheelsmith_at build' -s j -l jobs -x -d 'at most N at once'
complete -c wheelsmith -n '__wheelsmith_at build' -l memory -x -d 'at most so much, 8G'
complete -c wheelsmith -n '__wheelsmith_at build' -l policy -x -a 'prefer-prebuilt prefer-build prebuilt-only build-only' -d 'prefer-prebuilt, build-only, ...'
complete -c wheelsmith -n '__wheelsmith_at build' -s k -l keep-going -d 'after a failure, finish the rest'
complete -c wheelsmith -n '__wheelsmith_at build' -l offline -d 'use no network'
complete -c wheelsmith -n '__wheelsmith_at build' -l locked -d 'refuse what the lock does not pin'
complete -c wheelsmith -n '__wheelsmith_at build' -l keep-work -d 'keep the folders of failed commands'
complete -c wheelsmith -n '__wheelsmith_at build' -l compile-commands -d 'compile_commands.json'
complete -c wheelsmith -n '__wheelsmith_at build' -l timeout -x -d 'stop after T (90, 10m, 2h)'
complete -c wheelsmith -n '__wheelsmith_at build' -l action-timeout -x -d 'longest run of one command'

complete -c wheelsmith -n '__wheelsmith_at plan' -a '(__wheelsmith_ask packages)'
complete -c wheelsmith -n '__wheelsmith_at plan' -s m -l matrix -r -F -d 'the build matrix'
complete -c wheelsmith -n '__wheelsmith_at plan' -l only -x -a '(__wheelsmith_ask cells)' -d 'cells whose names match these globs'
complete -c wheelsmith -n '__wheelsmith_at plan' -l shard -x -d 'part I of N, the same on every machine'
complete -c wheelsmith -n '__wheelsmith_at plan' -l here -d 'for this host\'s python3, torch and GPU'
complete -c wheelsmith -n '__wheelsmith_at plan' -l torch -x -a '(__wheelsmith_ask torch)' -d 'without a matrix: torch 2.5.1, installed'
complete -c wheelsmith -n '__wheelsmith_at plan' -l python -x -a '(__wheelsmith_ask python)' -d '3.11, 3.13t, a path; default: python3'
complete -c wheelsmith -n '__wheelsmith_at plan' -l arch -x -a '(__wheelsmith_ask arch)' -d '"8.0;9.0+PTX", hopper; default: the GPU here'
complete -c wheelsmith -n '__wheelsmith_at plan' -l cuda -x -a '(__wheelsmith_ask cuda)' -d '12.4; default: what torch was built with'
complete -c wheelsmith -n '__wheelsmith_at plan' -l cxx11abi -x -a 'auto 0 1' -d '0 or 1; default: torch\'s own'
complete -c wheelsmith -n '__wheelsmith_at plan' -l policy -x -a 'prefer-prebuilt prefer-build prebuilt-only build-only' -d 'prefer-prebuilt, build-only, ...'
complete -c wheelsmith -n '__wheelsmith_at plan' -l why -x -a '(__wheelsmith_ask cells)' -d 'the whole story of one cell'
complete -c wheelsmith -n '__wheelsmith_at plan' -l strict -d 'a cell that the facts rule out is an error'
complete -c wheelsmith -n '__wheelsmith_at plan' -l github -d 'a job matrix for GitHub Actions'
complete -c wheelsmith -n '__wheelsmith_at plan' -s j -l jobs -x -d 'predict for at most N at once'
complete -c wheelsmith -n '__wheelsmith_at plan' -l memory -x -d 'predict within so much, 8G'

complete -c wheelsmith -n '__wheelsmith_at fetch' -a '(__wheelsmith_ask packages)'
complete -c wheelsmith -n '__wheelsmith_at fetch' -s m -l matrix -r -F -d 'the build matrix'
complete -c wheelsmith -n '__wheelsmith_at fetch' -l only -x -a '(__wheelsmith_ask cells)' -d 'cells whose names match these globs'
complete -c wheelsmith -n '__wheelsmith_at fetch' -l shard -x -d 'part I of N, the same on every machine'
complete -c wheelsmith -n '__wheelsmith_at fetch' -l here -d 'for this host\'s python3, torch and GPU'
complete -c wheelsmith -n '__wheelsmith_at fetch' -l torch -x -a '(__wheelsmith_ask torch)' -d 'without a matrix: torch 2.5.1, installed'
complete -c wheelsmith -n '__wheelsmith_at fetch' -l python -x -a '(__wheelsmith_ask python)' -d '3.11, 3.13t, a path; default: python3'
complete -c wheelsmith -n '__wheelsmith_at fetch' -l arch -x -a '(__wheelsmith_ask arch)' -d '"8.0;9.0+PTX", hopper; default: the GPU here'
complete -c wheelsmith -n '__wheelsmith_at fetch' -l cuda -x -a '(__wheelsmith_ask cuda)' -d '12.4; default: what torch was built with'
complete -c wheelsmith -n '__wheelsmith_at fetch' -l cxx11abi -x -a 'auto 0 1' -d '0 or 1; default: torch\'s own'

complete -c wheelsmith -n '__wheelsmith_at lock' -a '(__wheelsmith_ask packages)'
complete -c wheelsmith -n '__wheelsmith_at lock' -s m -l matrix -r -F -d 'the build matrix'
complete -c wheelsmith -n '__wheelsmith_at lock' -l here -d 'for this host\'s python3, torch and GPU'
complete -c wheelsmith -n '__wheelsmith_at lock' -l torch -x -a '(__wheelsmith_ask torch)' -d 'without a matrix: torch 2.5.1, installed'
complete -c wheelsmith -n '__wheelsmith_at lock' -l python -x -a '(__wheelsmith_ask python)' -d '3.11, 3.13t, a path; default: python3'
complete -c wheelsmith -n '__wheelsmith_at lock' -l arch -x -a '(__wheelsmith_ask arch)' -d '"8.0;9.0+PTX", hopper; default: the GPU here'
complete -c wheelsmith -n '__wheelsmith_at lock' -l cuda -x -a '(__wheelsmith_ask cuda)' -d '12.4; default: what torch was built with'
complete -c wheelsmith -n '__wheelsmith_at lock' -l cxx11abi -x -a 'auto 0 1' -d '0 or 1; default: torch\'s own'
complete -c wheelsmith -n '__wheelsmith_at lock' -s u -l update -x -a 'all torch cuda' -d 'pin anew: torch, cuda, a package, or \'all\''

complete -c wheelsmith -n '__wheelsmith_at shell' -a '(__wheelsmith_ask cells)'
complete -c wheelsmith -n '__wheelsmith_at shell' -s m -l matrix -r -F -d 'the build matrix'
complete -c wheelsmith -n '__wheelsmith_at shell' -l here -d 'for this host\'s python3, torch and GPU'
complete -c wheelsmith -n '__wheelsmith_at shell' -l torch -x -a '(__wheelsmith_ask torch)' -d 'without a matrix: torch 2.5.1, installed'
complete -c wheelsmith -n '__wheelsmith_at shell' -l python -x -a '(__wheelsmith_ask python)' -d '3.11, 3.13t, a path; default: python3'
complete -c wheelsmith -n '__wheelsmith_at shell' -l arch -x -a '(__wheelsmith_ask arch)' -d '"8.0;9.0+PTX", hopper; default: the GPU here'
complete -c wheelsmith -n '__wheelsmith_at shell' -l cuda -x -a '(__wheelsmith_ask cuda)' -d '12.4; default: what torch was built with'
complete -c wheelsmith -n '__wheelsmith_at shell' -l cxx11abi -x -a 'auto 0 1' -d '0 or 1; default: torch\'s own'
complete -c wheelsmith -n '__wheelsmith_at shell' -s u -l unit -x -d 'which command: a file\'s name, or a glob'
complete -c wheelsmith -n '__wheelsmith_at shell' -l offline -d 'use no network'
complete -c wheelsmith -n '__wheelsmith_at shell' -l keep-work -d 'leave the folder afterwards'

complete -c wheelsmith -n '__wheelsmith_at doctor' -l python -r -F -d 'look at this Python alone'

complete -c wheelsmith -n '__wheelsmith_at recipe' -a check
complete -c wheelsmith -n '__wheelsmith_at recipe' -a new

complete -c wheelsmith -n '__wheelsmith_at recipe check' -F
complete -c wheelsmith -n '__wheelsmith_at recipe check' -l fetch -d 'bring the sources that are not in the store'

complete -c wheelsmith -n '__wheelsmith_at recipe new' -s o -l output -r -F -d 'write there; a folder stands for FOLDER/NAME/V.json'
complete -c wheelsmith -n '__wheelsmith_at recipe new' -l git -d 'a form for sources in git, to fill in'
