"""Wheels of several libraries that find each other, or do not: run paths, names that are loaded already, versions.

FAMILIES is {name: [library]}; a library is (its file below site-packages, source, files it needs, flags), linked in
this order. The expected result is that of dlopen (loader_truth.py)."""
import pathlib
import subprocess

OLD, NEW = "-Wl,--disable-new-dtags", "-Wl,--enable-new-dtags"
ONE, TWO = "int one(void) {return 1;}", "int one(void); int two(void) {return one();}"
THREE = "int two(void); int three(void) {return two();}"
VERSIONED = {"V1": "{global: f;};", "V2": "{global: g;} V1;"}


def path(*folders):
    return "-Wl,-rpath," + ":".join(folders)


def chain(*flags_of_main, one="p/libs/libone.so", two="p/libs/libtwo.so", flags_of_two=(), needs=None):
    return [(one, ONE, [], []), (two, TWO, [one], list(flags_of_two)), ("p/m.so", THREE, needs or [two], list(flags_of_main))]


FAMILIES = {
    "rpath": chain(OLD, path("$ORIGIN/libs")),
    "runpath": chain(NEW, path("$ORIGIN/libs")),
    "runpath_of_both": chain(NEW, path("$ORIGIN/libs"), flags_of_two=[NEW, path("$ORIGIN")]),
    "rpath_stopped_by_runpath": chain(OLD, path("$ORIGIN/libs"), flags_of_two=[NEW, path("/nowhere")]),
    "rpath_beside_rpath": chain(OLD, path("$ORIGIN/libs"), flags_of_two=[OLD, path("$ORIGIN/../nowhere")]),
    "loaded_already": chain(NEW, path("$ORIGIN/libs"), needs=["p/libs/libone.so", "p/libs/libtwo.so"]),
    "loaded_later": chain(NEW, path("$ORIGIN/libs"), needs=["p/libs/libtwo.so", "p/libs/libone.so"]),
    "two_slashes": chain(NEW, path("$ORIGIN//libs"), flags_of_two=[NEW, path("$ORIGIN/")]),
    "braces": chain(NEW, path("${ORIGIN}/libs"), flags_of_two=[NEW, path("${ORIGIN}")]),
    "empty_part": chain(NEW, path("", "$ORIGIN/libs", ""), flags_of_two=[NEW, path("$ORIGIN")]),
    "up_and_down": chain(NEW, path("$ORIGIN/../p/libs"), flags_of_two=[NEW, path("$ORIGIN/.")]),
    "file_that_is_a_folder": chain(NEW, path("$ORIGIN/m.so/libs", "$ORIGIN/libs"), flags_of_two=[NEW, path("$ORIGIN")]),
    "unstable": chain(NEW, path("$ORIGIN/libs"), one="p/libs/libone-1c5ac285.so.0unstable", flags_of_two=[NEW, path("$ORIGIN")]),
    "first_of_two": [("p/a/libone.so", "int other(void) {return 1;}", [], []), ("p/b/libone.so", ONE, [], []),
                     ("p/m.so", TWO, ["p/b/libone.so"], [NEW, path("$ORIGIN/a", "$ORIGIN/b")]),
                     ("p/n.so", TWO, ["p/b/libone.so"], [NEW, path("$ORIGIN/b", "$ORIGIN/a")])],
    "soname_is_not_the_file": [("p/libs/libfile.so", ONE, [], ["-Wl,-soname,libname.so"]),
                               ("p/m.so", TWO, ["p/libs/libfile.so"], [NEW, path("$ORIGIN/libs")])],
    "breadth_first": [("p/a/libone.so", ONE, [], []), ("p/b/libone.so", "int other(void) {return 1;}", [], []),
                      ("p/libtwo.so", TWO, ["p/a/libone.so"], [NEW, path("$ORIGIN/b")]),
                      ("p/m.so", THREE, ["p/libtwo.so", "p/a/libone.so"], [NEW, path("$ORIGIN", "$ORIGIN/a")])],
    "not_linked": [("p/libone.so", ONE, [], []), ("p/m.so", TWO, [], [NEW, path("$ORIGIN")])],
    "one_lacks_a_name": [("p/libone.so", "int none(void); int one(void) {return none();}", [], []),
                         ("p/m.so", TWO, ["p/libone.so"], [NEW, path("$ORIGIN")])],
    "main_has_the_name": [("p/libone.so", "int none(void); int one(void) {return none();}", [], []),
                          ("p/m.so", TWO + "int none(void) {return 0;}", ["p/libone.so"], [NEW, path("$ORIGIN")])],
}


def versions(*names):
    return "".join(f"{name} {VERSIONED[name]}" for name in names)


def versioned(linked, there, by_name=True):
    """A module linked with versions @linked of a library that has @there when it is loaded."""
    def library(file, names):
        source = "int f(void) {return 1;} int g(void) {return 2;}"
        return (file, source, [], [("map", versions(*names))] if names else [])
    wants = "int f(void); int g(void); int m(void) {return f() + g();}"
    if not by_name:
        wants = "int f(void); int m(void) {return 0;} __asm__(\".globl f\");"
    return [library("p/then/libv.so", linked), ("p/m.so", wants, ["p/then/libv.so"], [NEW, path("$ORIGIN/now")]),
            library("p/now/libv.so", there)]


FAMILIES |= {
    "versions_agree": versioned(["V1", "V2"], ["V1", "V2"]),
    "version_is_missing": versioned(["V1", "V2"], ["V1"]),
    "library_without_versions": versioned(["V1", "V2"], []),
    "library_without_versions_not_looked_for": versioned(["V1"], [], by_name=False),
    "no_version_asked_of_a_library_with": versioned([], ["V1", "V2"]),
}


def make(name, folder):
    """Builds a family in @folder; the members of its wheel."""
    for file, source, needs, flags in FAMILIES[name]:
        target = pathlib.Path(folder, file)
        target.parent.mkdir(parents=True, exist_ok=True)
        given = []
        for flag in flags:
            if isinstance(flag, tuple):
                map_of = pathlib.Path(folder, flag[0])
                map_of.write_text(flag[1])
                flag = f"-Wl,--version-script={map_of}"
            given.append(flag)
        soname = [] if any("-soname" in f for f in given) or file.endswith("/m.so") else [f"-Wl,-soname,{target.name}"]
        subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-x", "none", "-o", target,
                        "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", *soname, *given,
                        *(str(pathlib.Path(folder, need)) for need in needs)], input=source, text=True, check=True)
    return [file for file, *_ in FAMILIES[name]]
