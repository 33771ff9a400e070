#!/bin/sh
# The Dockerfile keeps to what BuildKit and buildah 1.28 both read, and copies nothing that .dockerignore leaves out.
set -eu
git rev-parse HEAD >/dev/null # else the clone has another owner, and git prints that
bad=0
complain() { echo "Dockerfile: $1"; bad=1; }
statements=$(sed 's/^[[:space:]]*#.*//' Dockerfile)
echo "$statements" | grep -nE '<<' && complain "a heredoc: buildah 1.28 has none"
echo "$statements" | grep -nE -- '--link|--network|--security|--parents|--exclude' && complain "an option that buildah 1.28 does not know"
grep -nE '^#[[:space:]]*(syntax|escape)=' Dockerfile && complain "a directive that buildah ignores"
echo "$statements" | grep -nE '\$\{[A-Z_]+[#%/]' && complain "a substitution that buildah does not make"
echo "$statements" | grep -qE '^USER app' || complain "the image would run as root"
# shellcheck disable=SC2013 # words without blanks
for stage in wheelsmith base fetch wheels runtime; do
	echo "$statements" | grep -qE "^FROM .* AS $stage\$" || complain "the stage '$stage' is gone"
done
echo "$statements" | sed -n 's/^COPY \([^-$][^$]*\) [^ ]*$/\1/p' | tr ' ' '\n' | while read -r path; do
	git ls-files --error-unmatch "$path" >/dev/null 2>&1 || git ls-files -o --exclude-standard "$path" | grep -q . ||
		echo "COPY $path: not in this repository"
	grep -qxF "!$path" .dockerignore || grep -qxF "!${path%%/*}" .dockerignore || echo "COPY $path: left out by .dockerignore"
done | { ! grep .; } || bad=1
echo "$statements" | sed -n 's/^ARG \([A-Z]*\)=\(examples\/.*\|matrix\/.*\)/\2/p' | while read -r path; do
	[ -f "$path" ] || echo "ARG: no file $path"
done | { ! grep .; } || bad=1
exit $bad
