#!/usr/bin/env bats
# The page for people of a published index, in Chromium, from file://. Its look: two widths, light and dark, kept in $WS_SHOTS.
# labels: network real
# timeout: 300

load helpers

setup() {
	command -v chromium > /dev/null || cannot_run "needs chromium (./dev setup real)"
	private_home
	cd "$BATS_TEST_TMPDIR" || return
	python3 "$WS_ROOT/tests/support/make_labelled.py" w \
		"flash_attn 2.8.3+cu.12.4.torch.2.5.sm.80.86 cp311-cp311-linux_x86_64 torch==2.5.*" \
		"flash_attn 2.8.3+cu.12.4.torch.2.5.sm.90 cp311-cp311-linux_x86_64 torch==2.5.*" \
		"flash_attn 2.8.3+cu.13.0.torch.2.11.sm.90ptx cp312-cp312-linux_x86_64 torch==2.11.*" \
		"mamba_ssm 2.2.6.post3+cu.12.4.torch.2.5.sm.86 cp312-cp312-linux_x86_64 torch==2.5.*" \
		"kernels 0.1.0+cu.12.sm.75.80.86.90 py3-none-linux_x86_64" "tool 1.0 py3-none-any" "evil 1.0 py3-none-any"
	"$WHEELSMITH" publish w --to idx
	"$WHEELSMITH" publish --to idx --title 'Wheels of the team' --yank evil==1.0 --reason '</script><img src=x onerror="document.title=1">'
}

browser() { # ARGUMENT...
	timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/profile" "$@" 2> /dev/null
}

# The text that a person sees after a choice: a line for each item of the lists.
page() { # FRAGMENT
	browser --dump-dom "file://$PWD/idx/index.html#$1" > dom
	python3 - <<- 'END'
		import html.parser
		class Page(html.parser.HTMLParser):
		    text, depth = "", 0
		    def handle_starttag(self, tag, attrs):
		        self.depth += tag == "li"
		        assert tag != "img"
		    def handle_endtag(self, tag):
		        if tag == "li":
		            self.depth -= 1
		            print(" ".join(self.text.split()))
		            self.text = ""
		    def handle_data(self, text):
		        self.text += " " + text if self.depth else ""
		    def error(self, message):
		        raise ValueError(message)
		page = Page()
		page.feed(open("dom").read())
	END
}

@test "a choice shows what there is, with the line, and why the rest is missing" {
	run -0 page "gpu=8.6&cuda=12.4&torch=2.5&python=3.11&tool=pip"
	[ "$(wc -l <<< "$output")" -eq 5 ]
	local base="file://$PWD/idx"
	local wheel=flash_attn-2.8.3+cu.12.4.torch.2.5.sm.80.86-cp311-cp311-linux_x86_64.whl
	grep -qF "flash-attn 2.8.3 $wheel 2 kB, $(date -u +%F), driver 525.60.13 or newer, sha256 $(sha256sum < w/$wheel | cut -d' ' -f1)"\
" pip install --no-deps --index-url $base/cu124-torch2.5-sm86/simple/ flash-attn==2.8.3 Copy" <<< "$output"
	grep -qF 'href="files/flash_attn-2.8.3%2Bcu.12.4.torch.2.5.sm.80.86-cp311-cp311-linux_x86_64.whl"' dom
	grep -q "kernels 0.1.0 kernels-.*pip install --no-deps --index-url $base/cu124-torch2.5-sm86/simple/ kernels==0.1.0" <<< "$output"
	grep -qF "pip install --no-deps --index-url $base/cu124-torch2.5-sm86/simple/ flash-attn==2.8.3 kernels==0.1.0 tool==1.0<" dom
	grep -qF "<title>Wheels of the team</title>" dom
	grep -qF "mamba-ssm 2.2.6.post3 not for Python 3.11; there is 3.12" <<< "$output"
	grep -qF 'evil 1.0 yanked: </script><img src=x onerror="document.title=1">' <<< "$output"
	run -0 page "gpu=9.0&cuda=12.4&torch=2.5&python=3.11&tool=uv"
	grep -qF "uv pip install --no-deps --index-url $base/cu124-torch2.5-sm90/simple/ flash-attn==2.8.3" <<< "$output"
	run -0 page "gpu=7.5&cuda=12.4&torch=2.5&python=3.11"
	grep -qF "flash-attn 2.8.3 no code for compute capability 7.5; there is 8.0, 8.6, 9.0" <<< "$output"
	# Later GPUs run PTX.
	run -0 page "gpu=12.0&cuda=13.0&torch=2.11&python=3.12"
	grep -qF "flash-attn==2.8.3" <<< "$output"
	grep -qF "mamba-ssm 2.2.6.post3 not for torch 2.11 with CUDA 13.0; there is torch 2.5 with CUDA 12.4" <<< "$output"
	# The commands of the page install the wheel, also from this snapshot.
	run -0 page "gpu=8.6&cuda=12.4&torch=2.5&python=3.11&tool=pip&pinned=on"
	[[ $output == *"$base/$(readlink idx/current)/cu124-torch2.5-sm86/simple/ tool==1.0"* ]]
	# shellcheck disable=SC2046 # words
	python3 -m pip install --quiet --target site $(sed -n 's/^tool .*pip install \(.*\) Copy$/\1/p' <<< "$output")
	[ -d site/tool-1.0.dist-info ]
}

@test "every control has a name, and no text is too faint" {
	browser --dump-dom "file://$PWD/idx/index.html" > dom
	[ "$(grep -o '<label>[A-Za-z]* <select' dom | wc -l)" -eq 5 ]
	grep -q '<label class="check" id="pin"><input type="checkbox" id="pinned"> Only this snapshot</label>' dom
	[ "$(grep -o '<button' dom | wc -l)" -eq "$(grep -o 'aria-label="Copy the command for ' dom | wc -l)" ]
	grep -q 'aria-live="polite"' dom
	# WCAG AA: 4.5 for text on its ground, in both schemes.
	python3 - "$WS_ROOT/builder/publish/browse.html" <<- 'END'
		import re, sys
		style = open(sys.argv[1]).read().split("</style>")[0]
		def light(colour):
		    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
		    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
		    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
		    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
		def contrast(x, y):
		    x, y = sorted((light(x), light(y)))
		    return (y + 0.05) / (x + 0.05)
		schemes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", block)) for block in re.findall(r":root \{(.*?)\}", style, re.S)]
		assert len(schemes) == 2
		for s in schemes:
		    for text, ground in ("text", "back"), ("soft", "back"), ("warn", "back"), ("text", "field"), ("on-accent", "accent"):
		        assert contrast(s[text], s[ground]) >= 4.5, (text, ground)
	END
}

@test "keyboard alone: choose, copy; and the text for a screen reader" {
	command -v chromedriver > /dev/null || cannot_run "needs chromium-driver (./dev setup real)"
	python3 -m venv tools
	tools/bin/pip install --quiet selenium==4.51.0
	tools/bin/python "$WS_ROOT/tests/support/browse_keys.py" "$PWD/idx/index.html"
}

@test "screenshots: wide and narrow, light and dark" {
	local shots=${WS_SHOTS:-$PWD} url="file://$PWD/idx/index.html#gpu=8.6&cuda=12.4&torch=2.5&python=3.11"
	browser --screenshot="$shots/wide.png" --window-size=1200,1000 "$url"
	browser --screenshot="$shots/narrow.png" --window-size=500,1300 "$url"
	browser --screenshot="$shots/dark.png" --window-size=1200,1000 --blink-settings=preferredColorScheme=0 "$url"
	local shot
	for shot in wide narrow dark; do
		[ "$(head -c 8 "$shots/$shot.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
	done
	run ! cmp -s "$shots/wide.png" "$shots/dark.png"
}
