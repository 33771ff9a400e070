"""flags.py - flags of a setup.py as a recipe names them

Drops flags that the matrix, torch or the scheduler decides, which a recipe refuses, and flags for Windows or for the CPU of the build host.
"""
import re

from values import HOLE

# Refused by config/recipe_parts.c.
REFUSED = ("-std=", "--std", "-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code", "--threads",
           "-I", "-isystem", "-ccbin", "--compiler-bindir", "-D_GLIBCXX_USE_CXX11_ABI", "-DTORCH_EXTENSION_NAME",
           "--device-debug")
# Refused by recipe/command_rules.c; a draft reports them.
NATIVE = "left out, because it compiles for the CPU of this host alone", re.compile(r"-m(arch|cpu|tune)=native|-xHost")
RELOCATABLE = "left out, because relocatable device code is not supported", re.compile(
    r"^((-rdc|--relocatable-device-code)(=true)?|-dc|--device-c|-dw|--device-w|-lto)$"
    r"|^(-dlto|--lto|--dlink-time-opt|-dlink|--device-link|-ewp|--extensible-whole-program)")
BLANK = ("left out, for its blank or letter outside ASCII; a header that \"patches\" creates can define it, and -include "
         "take it")
OTHER = "left out, because it makes something else than an object", re.compile(r"^--?(ptx|cubin|fatbin|lib|run)$")
# GCC 14 "Invoking GCC" and nvcc 13.0 --help; a library or a folder may stand apart as well.
TAKES_VALUE = set("""-D -I -L -T -U -Xarchive -Xassembler -Xcompiler -Xcudafe -Xfatbin -Xlinker -Xnvlink -Xpreprocessor
    -Xptxas -arch -ccbin -code -default-stream -diag-error -diag-suppress -diag-warn -gencode -idirafter -imacros -include
    -iquote -isystem -l -maxrregcount -std -u -x -z --archive-options --compiler-bindir --compiler-options
    --default-stream --diag-error --diag-suppress --diag-warn --fatbin-options --generate-code --gpu-architecture
    --gpu-code --linker-options --maxrregcount --nvlink-options --optimize --param --pre-include --ptxas-options --std
    --threads -t -framework -Werror -Xclang -fmad -ftz -mllvm -prec-div -prec-sqrt -rdc -split-compile --fmad --ftz
    --prec-div --prec-sqrt --relocatable-device-code --split-compile""".split())


class Flags:
    """words: (text, whether it depends on a condition). Also collects the archs and the C++ standard of dropped flags."""
    def __init__(self, words, key):
        self.flags, self.conditional, self.strays, self.unread, self.unfit = [], [], [], [], {}
        self.archs, self.cxx_std = [], 0
        unfit_words = [NATIVE, RELOCATABLE, OTHER] if key == "nvcc_flags" else [NATIVE]
        found = self.flags  # where the word before went
        left_out = value_due = False
        for text, conditional in words:
            for word in text.split(" ") if " -" in text else [text]:
                word = word.strip()
                value = value_due or (left_out and not word.startswith("-"))
                refused = word.startswith(REFUSED) or word == "-G"
                self.archs += [number for number in re.findall(r"(?:compute_|sm_)(\d+[af]?)", word)
                               if 50 <= int(re.match(r"\d+", number)[0]) <= 199]
                standard = re.search(r"\+\+(14|17|20|23)\b", word) if refused and "-std" in word else None
                self.cxx_std = max(self.cxx_std, int(standard[1]) if standard else 0)
                gone = (value and left_out) or refused
                if HOLE in word and not gone:
                    start = found.pop() + " " if value and found else ""
                    self.unread.append(start + word.replace(HOLE, "..."))
                unfit = [why for why, pattern in unfit_words if pattern.search(word)]
                if unfit:
                    self.unfit.setdefault(unfit[0], []).append(word)
                    if value and found and found[-1] == "-Xcompiler":
                        found.pop()
                plain = re.fullmatch(r"[!-~]+", word) is not None
                if word and not (plain or gone or unfit or HOLE in word or word.startswith("/")):
                    start = found.pop() + " " if value and found else ""
                    self.unfit.setdefault(BLANK, []).append(start + word)
                left_out = bool(gone or unfit or (not value and word.startswith("/")) or not plain)
                value_due = not value and word in TAKES_VALUE
                if not left_out:
                    found = self.strays if not value and not word.startswith("-") else \
                        self.conditional if conditional else self.flags
                    found.append(word)
