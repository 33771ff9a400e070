#!/usr/bin/env bats
# Reports of a build about itself: a trace, a page, sums by stage.
# labels: cuda
# timeout: 600

load base

setup() {
	in_place
}

@test "a trace has each command once, in slots that do not overlap" {
	build -0 -j 2 --trace trace.json
	[ "$(jq '[.traceEvents[] | select(.ph == "X")] | length' trace.json)" -ge 11 ]
	[ "$(jq '[.traceEvents[] | select(.cat == "cicc" or .cat == "ptxas")] | length' trace.json)" -eq 2 ]
	# Ends before the next of its slot begins.
	[ "$(jq '[.traceEvents[] | select(.ph == "X")] | group_by(.tid)[] | sort_by(.ts) |
		[range(1; length) as $i | .[$i].ts >= .[$i - 1].ts + .[$i - 1].dur] | all' trace.json | sort -u)" = true ]
	[ "$(jq '[.traceEvents[] | select(.ph == "C") | .name] | unique | length' trace.json)" -eq 2 ]
	[ "$(jq '[.traceEvents[] | select(.ph == "X" and .args.why == null and .args.outcome == "ran")] | length' trace.json)" -eq 0 ]
}

@test "slots that memory holds back show" {
	build -0 -j 2 --memory 300M --trace trace.json
	[ "$(jq '[.traceEvents[] | select(.name == "held back by memory") | .args.slots] | max' trace.json)" -ge 1 ]
}

@test "the summary says by stage what ran and what was found" {
	build -v
	[[ $stderr == *"  cicc        1 ran, 0 found; "* ]]
	[[ $stderr != *"  compile     2 ran"* ]] # kernel.cu counts by its parts
	rm -rf dist
	build -v
	[[ $stderr == *"  compile     0 ran, 2 found; 0.0 s of CPU, "*" saved"* ]]
}

@test "a page has the cells, a timeline, and the log of what failed, as text" {
	build -0 --report page.html
	grep -q "<td>$CELL<td>build<td>tiny-1.0" page.html
	grep -q '<rect class="cicc"' page.html
	not grep -qE '<script|src=|href=' page.html
	python3 -c 'import html.parser, sys; html.parser.HTMLParser().feed(open("page.html").read())'
	# shellcheck disable=SC2016
	printf '#error <b>"no & never"</b> \xff\0\u202e\n#error last\n' >> recipes/tiny/src/module.cpp
	build -5 --report page.html
	grep -q '<h2>compile module.cpp</h2>' page.html
	grep -q '&lt;b&gt;&quot;no &amp; never&quot;' page.html
	not grep -q '<b>' page.html
	# All of the log, and nothing that is not text or turns it around.
	grep -q '#error last' page.html
	python3 -c 'assert not set(open("page.html", encoding="utf-8").read()) & set("\0\u202e\x1b")'
}

@test "a report that cannot be written fails a build that is done, and is a warning of one that failed" {
	build -5 --report nowhere/page.html --trace trace.json
	[ "$(tail -n 1 <<< "$stderr")" = "error: cannot create 'nowhere/page.html': No such file or directory" ]
	[[ $stderr == *"1 ready"* ]]
	[ -s trace.json ] && [ -n "$(find dist -name '*.whl')" ]
	build -5 --report page.html --trace nowhere/trace.json
	[ -s page.html ]
	# Files that a rename would remove.
	mkfifo pipe
	build -5 --report pipe
	[[ $stderr == *"error: 'pipe' exists and is not a file"* ]]
	[ -p pipe ]
	GITHUB_STEP_SUMMARY=nowhere/summary.md build -0
	[[ $stderr == *"warning: the step summary cannot be written: No such file or directory"* ]]
	echo '#error' >> recipes/tiny/src/module.cpp
	build -5 --report nowhere/page.html --trace nowhere/trace.json
	[ "$(grep -c "warning: cannot create 'nowhere/" <<< "$stderr")" -eq 2 ]
	[[ $(tail -n 1 <<< "$stderr") != *nowhere* ]]
}
