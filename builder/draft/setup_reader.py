"""setup_reader.py FOLDER - prints as JSON what FOLDER/setup.py says about modules and data files

Follows the text over a few kinds of values. Nothing of it runs, nothing is imported for it, no file is
opened but setup.py, MANIFEST.in, pyproject.toml and SOURCES.txt. Assumed are Linux, a torch with CUDA and
OpenMP, and that no environment variable is set. What only running would tell is UNKNOWN, HOLE in a text.
A condition that is UNKNOWN gets a number: what its branches add is marked with +number or -number.
"""
import ast
import itertools
import json
import operator
import os
import posixpath
import re
import resource
import sys

MEMORY, CPU_S, MOST_STEPS, LARGEST, MOST_FILES, MOST_ITEMS = 1 << 29, 10, 300000, 1 << 20, 100000, 20000
HOLE = "\x01"
UNKNOWN = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()
OFF = "off"  # stands with the numbers: only where an environment variable is set
FACTS = {
    "sys.platform": "linux", "os.name": "posix", "os.sep": "/", "os.path.sep": "/", "__name__": "__main__",
    "__file__": "./setup.py", "torch.version.hip": None, "CUDA_HOME": "/usr/local/cuda", "ROCM_HOME": None,
    "HIP_HOME": None, "IS_HIP_EXTENSION": False, "IS_WINDOWS": False, "IS_MACOS": False,
}
CALLS = {
    "torch.cuda.is_available": True, "platform.system": "Linux", "platform.machine": "x86_64", "os.getcwd": ".",
    "Path.cwd": ".", "parallel_info": "ATen parallel backend: OpenMP", "print": None,
}


COMPARISONS = {
    "Eq": operator.eq, "NotEq": operator.ne, "Is": operator.is_, "IsNot": operator.is_not, "Lt": operator.lt,
    "Gt": operator.gt, "LtE": operator.le, "GtE": operator.ge, "In": lambda item, holder: item in holder,
    "NotIn": lambda item, holder: item not in holder,
}
OTHERS = {"hip", "rocm", "win32", "windows", "win", "nt", "darwin", "macos", "osx", "msvc", "xpu", "mps", "musa",
          "npu", "mlu", "sycl"}


class Maybe:
    """An item of a list that is there when all of its conditions hold."""
    def __init__(self, value, when):
        inner = value if isinstance(value, Maybe) else None
        self.value, self.when = inner.value if inner else value, (inner.when if inner else frozenset()) | when


class Choice(list):
    """A text or a number that depends on a condition; its items are Maybe."""


class Soft:
    """A value that an environment variable or an argument would change."""
    def __init__(self, value):
        self.value = value


class Ref(str):
    """The dotted name of something that setup.py does not define."""


class Function:
    def __init__(self, node, scopes):
        self.node, self.scopes = node, scopes


class End(Exception):
    """return, break, continue, raise: what follows in this branch is not reached."""
    def __init__(self, kind):
        self.kind = kind


class Slot:
    """What a name stands for, and the conditions under which it was assigned."""
    def __init__(self, value, when):
        self.value, self.when = value, when


def is_elsewhere(name):
    """The name, or a part of it, is another platform's: IS_ROCM, torch.version.hip."""
    return not OTHERS.isdisjoint(re.split(r"[_.]", name.lower()))


def bare(value):
    return value.value if isinstance(value, (Soft, Maybe)) else value


def items(value):
    """The items of a list, each Maybe or not; [UNKNOWN] when they are not known."""
    value = bare(value)
    if isinstance(value, dict):
        return list(value)
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [UNKNOWN]


def marked(value, when):
    """The items of a list, also of those in a dict, with more conditions."""
    if isinstance(value, list):
        return type(value)(Maybe(item, when) for item in value)
    return {key: marked(inner, when) for key, inner in value.items()} if isinstance(value, dict) else value


def joined(old, new, number):
    """What a name stands for after it was assigned under a condition."""
    old, new = bare(old), bare(new)
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: joined(old.get(key, []), new.get(key, []), number) for key in {**old, **new}}
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)) and not isinstance(old, Choice):
        had, has = [bare(item) for item in old], [bare(item) for item in new]
        return [Maybe(item, {-number}) for item in old if bare(item) not in has] + \
            [item if bare(item) in had else Maybe(item, {number}) for item in new]
    if type(old) is type(new) and old == new:
        return old
    if any(isinstance(value, (dict, tuple, Ref, Function)) or value is UNKNOWN for value in (old, new)):
        return UNKNOWN
    return Choice(marked(old if isinstance(old, Choice) else [old], {-number}) +
                  marked(new if isinstance(new, Choice) else [new], {number}))


def matches(pattern, files):
    """The files that a pattern with *, ? and ** stands for, in order."""
    made = re.escape(pattern).replace("\\*\\*/", "(.*/)?").replace("\\*", "[^/]*").replace("\\?", "[^/]")
    return sorted(filter(re.compile(made).fullmatch, files))


class Reader:
    def __init__(self, files, folders, soft_is_unknown):
        self.files, self.folders, self.soft_is_unknown = files, folders, soft_is_unknown
        self.scopes, self.when, self.number, self.steps, self.depth = [{}], frozenset(), 0, 0, 0
        self.extensions, self.setup, self.suffix, self.unmatched, self.called = [], {}, None, [], set()
        self.returns = []

    # Conditions.

    def truth(self, value):
        """True, False or None, and whether an environment variable decides."""
        soft, value = isinstance(value, Soft), bare(value)
        if soft and self.soft_is_unknown:
            return None, False
        if value is UNKNOWN or isinstance(value, (Ref, Choice)) or value == HOLE:
            return None, soft
        if isinstance(value, list) and value and all(isinstance(v, Maybe) or v is UNKNOWN for v in value):
            return None, soft
        return bool(value), soft

    def under(self, condition, block):
        """Runs the block with one condition more; None when its end is reached, else what it ends with."""
        before, self.when = self.when, self.when | {condition}
        try:
            block()
            return None
        except End as end:
            return end.kind
        finally:
            self.when = before
            for slot in (slot for scope in self.scopes for slot in scope.values()):
                if condition in slot.when:
                    slot.value, slot.when = marked(slot.value, {condition}), slot.when - {condition}

    def branches(self, value, yes, no, shadow=True):
        true, soft = self.truth(value)
        if true is None:
            self.number += 1
            number = self.number
            ends = self.under(number, yes), self.under(-number, no)
            if None not in ends and "raise" not in ends:
                raise End("both")
            if ends not in ((None, None), ("raise", None), (None, "raise")):
                self.when |= {-number if ends[0] else number}  # what follows is reached like this alone
            return
        (yes if true else no)()
        if soft and shadow and OFF not in self.when:
            self.under(OFF, no if true else yes)

    def added(self, values):
        when = self.when
        return [Maybe(value, when) if when else value for value in values]

    # Statements.

    def run(self, body):
        before = self.when
        try:
            for node in body:
                self.steps += 1
                if self.steps > MOST_STEPS:
                    raise OverflowError("too much work")
                method = getattr(self, "do_" + type(node).__name__, None)
                if method:
                    method(node)
        finally:
            if before - self.when or self.when - before:
                self.when = before

    def do_If(self, node):
        self.branches(self.value(node.test), lambda: self.run(node.body), lambda: self.run(node.orelse))

    def do_Expr(self, node):
        self.value(node.value)

    def do_Import(self, node):
        for name in node.names:
            self.assign_name((name.asname or name.name).split(".")[0],
                             Ref(name.name if name.asname else name.name.split(".")[0]))

    def do_ImportFrom(self, node):
        for name in node.names:
            self.assign_name(name.asname or name.name, Ref("%s.%s" % (node.module, name.name)))

    def do_FunctionDef(self, node):
        self.assign_name(node.name, Function(node, list(self.scopes)))

    def do_Global(self, node):
        for name in node.names:
            self.scopes[-1][name] = self.scopes[0].setdefault(name, Slot(UNKNOWN, frozenset()))

    def do_Return(self, node):
        self.returns[-1].append((self.value(node.value) if node.value else None, self.when))
        raise End("return")

    def do_Raise(self, node):
        if self.when:
            raise End("raise")

    def do_Break(self, node):
        raise End("break")

    def do_Continue(self, node):
        raise End("continue")

    def do_With(self, node):
        self.run(node.body)

    def do_Try(self, node):
        self.run(node.body)
        self.run(node.orelse)
        self.run(node.finalbody)

    def do_While(self, node):
        self.number += 1
        self.under(self.number, lambda: self.run(node.body))

    def do_For(self, node):
        for item in items(self.value(node.iter)):
            self.steps += 1
            condition = item.when - self.when if isinstance(item, Maybe) else frozenset()
            if OFF in condition:
                continue
            before, self.when = self.when, self.when | condition
            try:
                self.assign(node.target, bare(item))
                self.run(node.body)
            except End as end:
                if end.kind == "return" or end.kind == "both":
                    raise
                if end.kind == "break":
                    break
            finally:
                self.when = before
        self.run(node.orelse)

    def do_Assign(self, node):
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node):
        if node.value:
            self.assign(node.target, self.value(node.value))

    def do_AugAssign(self, node):
        old, new = self.value(node.target), self.value(node.value)
        if isinstance(node.op, ast.Add) and isinstance(bare(old), list) and not isinstance(old, Choice):
            bare(old).extend(self.added(items(new)))
        else:
            self.assign(node.target, self.add(old, new) if isinstance(node.op, ast.Add) else UNKNOWN)

    def assign_name(self, name, value):
        if OFF in self.when:
            return
        slot = self.scopes[-1].setdefault(name, Slot(value, self.when))
        more = self.when - slot.when
        if more:
            slot.value = joined(slot.value, value, max(more, key=abs))
        else:
            slot.value, slot.when = value, self.when

    def assign(self, target, value):
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = items(value)
            for i, part in enumerate(target.elts):
                self.assign(part, bare(parts[i]) if len(parts) == len(target.elts) else UNKNOWN)
        elif isinstance(target, ast.Subscript):
            holder, key = bare(self.value(target.value)), bare(self.value(target.slice))
            if isinstance(holder, dict) and isinstance(key, str) and OFF not in self.when:
                when = [condition for condition in self.when]
                holder[key] = joined(holder.get(key, []), value, max(when, key=abs)) if when else value

    # Expressions.

    def value(self, node):
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise OverflowError("too much work")
        method = getattr(self, "of_" + type(node).__name__, None)
        return method(node) if method else UNKNOWN

    def of_Constant(self, node):
        return node.value if isinstance(node.value, (str, int, float, bool, type(None))) else UNKNOWN

    def of_Name(self, node):
        for scope in reversed(self.scopes):
            if node.id in scope:
                value = scope[node.id].value
                if isinstance(value, Choice):  # inside of the branch only one is left
                    left = [v for v in value if not any(-c in self.when for c in v.when if c != OFF)]
                    value = left[0].value if len(left) == 1 else value
                return self.fact(value)
        return self.fact(Ref(node.id))

    def fact(self, value):
        """What is known of a name that setup.py does not define."""
        if not isinstance(value, Ref):
            return value
        if value == "sys.argv":
            return Soft(["setup.py"])
        last = value.rsplit(".", 1)[-1]
        if value in FACTS or last in FACTS:
            return FACTS[value if value in FACTS else last]
        return False if last.isupper() and is_elsewhere(last) else value

    def of_Attribute(self, node):
        value = bare(self.value(node.value))
        if isinstance(value, Ref):
            return self.fact(Ref("%s.%s" % (value, node.attr)))
        if isinstance(value, str) and node.attr in ("parent", "name", "stem", "suffix"):
            base = posixpath.basename(value)
            return {"parent": posixpath.dirname(value) or ".", "name": base,
                    "stem": posixpath.splitext(base)[0], "suffix": posixpath.splitext(base)[1]}[node.attr]
        return UNKNOWN

    def sequence(self, nodes):
        found = []
        for node in nodes:
            starred = isinstance(node, ast.Starred)
            value = self.value(node.value if starred else node)
            found.extend(items(value) if starred else value if isinstance(value, Choice) else [bare(value)])
        return found

    def of_List(self, node):
        return self.sequence(node.elts)

    of_Set = of_List

    def of_Tuple(self, node):
        return tuple(self.sequence(node.elts))

    def of_Dict(self, node):
        found = {}
        for key, inner in zip(node.keys, node.values):
            name, value = bare(self.value(key)) if key else None, self.value(inner)
            if not key and isinstance(bare(value), dict):
                found.update(bare(value))
            elif isinstance(name, str):
                found[name] = value
        return found

    def of_JoinedStr(self, node):
        return "".join(self.text(self.value(part)) for part in node.values)

    def of_FormattedValue(self, node):
        return self.value(node.value) if node.conversion == -1 and not node.format_spec else UNKNOWN

    def text(self, value):
        value = bare(value)
        known = isinstance(value, (str, int, float)) and not isinstance(value, Ref)
        return str(value) if known else HOLE

    def add(self, left, right):
        soft = isinstance(left, Soft) or isinstance(right, Soft)
        left, right = bare(left), bare(right)
        if isinstance(left, (list, tuple)) or isinstance(right, (list, tuple)):
            if len(items(left)) + len(items(right)) > MOST_ITEMS:
                raise OverflowError("too many items")
            return items(left) + items(right)
        if isinstance(left, str) or isinstance(right, str):
            sum_ = self.text(left) + self.text(right)
            return UNKNOWN if len(sum_) > LARGEST else Soft(sum_) if soft else sum_
        return UNKNOWN

    def of_BinOp(self, node):
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add):
            return self.add(left, right)
        if isinstance(node.op, ast.Div) and isinstance(bare(right), str):
            return posixpath.join(self.text(left), self.text(right))
        if isinstance(node.op, ast.Mod) and isinstance(bare(left), str):
            values = iter(right if isinstance(right, tuple) else [right])
            return re.sub("%[sd]", lambda found: self.text(next(values, UNKNOWN)), bare(left))
        return UNKNOWN

    def of_UnaryOp(self, node):
        value = self.value(node.operand)
        true, soft = self.truth(value)
        if isinstance(node.op, ast.Not):
            return UNKNOWN if true is None else Soft(not true) if soft else not true
        negative = isinstance(node.op, ast.USub) and isinstance(bare(value), (int, float))
        return -bare(value) if negative else UNKNOWN

    def of_BoolOp(self, node):
        deciding = isinstance(node.op, ast.Or)
        unknown, any_soft, value = False, False, UNKNOWN
        for part in node.values:
            value = self.value(part)
            true, soft = self.truth(value)
            if true is deciding and not soft:
                return value
            if true is deciding:
                return Soft(bare(value))
            unknown, any_soft = unknown or true is None, any_soft or soft
        return UNKNOWN if unknown else Soft(bare(value)) if any_soft else value

    def of_Compare(self, node):
        values = [self.value(part) for part in [node.left] + node.comparators]
        soft, (left, right) = any(isinstance(v, Soft) for v in values), [bare(v) for v in values[:2]]
        name = type(node.ops[0]).__name__
        if right == "os.environ":
            return Soft(name == "NotIn")
        if isinstance(left, Ref) and left.endswith("__version__") and isinstance(right, str) and right.isalpha():
            return name == "NotEq"  # a version is not a word
        if right is None and isinstance(left, (list, dict, Function)):
            return name in ("IsNot", "NotEq")
        if len(values) > 2 or (soft and self.soft_is_unknown) or not (self.known(left) and self.known(right)):
            return UNKNOWN
        try:
            found = COMPARISONS[name](left, right)
        except TypeError:
            return UNKNOWN
        return Soft(found) if soft else found

    def known(self, value):
        if isinstance(value, (list, tuple)):
            return all(self.known(item) for item in value)
        if isinstance(value, str):
            return HOLE not in value and not isinstance(value, Ref)
        return value is None or isinstance(value, (int, float, dict))

    def of_IfExp(self, node):
        found = []
        self.branches(self.value(node.test), lambda: found.append(self.value(node.body)),
                      lambda: found.append(self.value(node.orelse)), shadow=False)
        return found[0] if len(found) == 1 else joined(found[0], found[1], -self.number)

    def of_Subscript(self, node):
        holder = bare(self.value(node.value))
        if isinstance(node.slice, ast.Slice):
            ends = [bare(self.value(end)) if end else None for end in (node.slice.lower, node.slice.upper)]
            plain = all(end is None or isinstance(end, int) for end in ends) and not node.slice.step
            return holder[ends[0]:ends[1]] if plain and isinstance(holder, (str, list, tuple)) and \
                not isinstance(holder, Ref) else UNKNOWN
        key = bare(self.value(node.slice))
        try:
            return bare(holder[key]) if isinstance(holder, (list, tuple, dict)) else UNKNOWN
        except (KeyError, IndexError, TypeError):
            return UNKNOWN

    def comprehension(self, node, make):
        found, scope = [], {}

        def turn(depth):
            if depth == len(node.generators):
                found.append(make())
                return
            generator = node.generators[depth]
            for item in items(self.value(generator.iter)):
                self.assign(generator.target, bare(item))
                when = item.when if isinstance(item, Maybe) else frozenset()
                for test in generator.ifs:
                    true, _ = self.truth(self.value(test))
                    if true is None:
                        self.number += 1
                        when = when | {self.number}
                    elif not true:
                        break
                else:
                    start = len(found)
                    turn(depth + 1)
                    if when:
                        found[start:] = [Maybe(value, when) for value in found[start:]]
        outer, self.scopes = self.scopes, self.scopes + [scope]
        before, self.when = self.when, frozenset()
        try:
            turn(0)
        finally:
            self.scopes, self.when = outer, before
        return found

    def of_ListComp(self, node):
        return self.comprehension(node, lambda: bare(self.value(node.elt)))

    of_GeneratorExp = of_SetComp = of_ListComp

    def of_DictComp(self, node):
        pairs = self.comprehension(node, lambda: (bare(self.value(node.key)), self.value(node.value)))
        return {bare(pair)[0]: bare(pair)[1] for pair in pairs if isinstance(bare(pair)[0], str)}

    # Calls.

    def of_Call(self, node):
        named = {word.arg: self.value(word.value) for word in node.keywords if word.arg}
        for word in node.keywords:
            if not word.arg and isinstance(bare(self.value(word.value)), dict):
                named.update(bare(self.value(word.value)))
        placed = self.sequence(node.args)
        if bare(named.get("no_python_abi_suffix")) is True and OFF not in self.when:
            self.suffix = ".so"
        if isinstance(node.func, ast.Attribute):
            holder = self.value(node.func.value)
            if not isinstance(holder, Ref):
                return self.method(holder, node.func.attr, placed, named)
        callee = self.value(node.func)
        if isinstance(callee, Function):
            return self.function(callee, placed, named)
        return self.library(callee, placed, named) if isinstance(callee, Ref) else UNKNOWN

    def function(self, callee, placed, named):
        node = callee.node
        self.called.add(node.name)
        if self.depth > 30 or OFF in self.when:
            return UNKNOWN
        names = [arg.arg for arg in node.args.posonlyargs + node.args.args]
        scope = {name: Slot(UNKNOWN, self.when) for name in names + [arg.arg for arg in node.args.kwonlyargs]}
        for arg, default in list(zip(reversed(names), reversed(node.args.defaults))) + \
                [(arg.arg, value) for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults) if value]:
            scope[arg] = Slot(self.value(default), self.when)
        for name, value in list(zip(names, placed)) + list(named.items()):
            scope[name] = Slot(bare(value) if isinstance(value, Maybe) else value, self.when)
        outer, before = self.scopes, self.when
        self.scopes, self.depth = callee.scopes + [scope], self.depth + 1
        self.returns.append([])
        try:
            self.run(node.body)
        except End:
            pass
        finally:
            self.scopes, self.depth, self.when = outer, self.depth - 1, before
            returns = [(value, when - before) for value, when in self.returns.pop() if OFF not in when]
        result = returns[-1][0] if returns else None
        for value, when in reversed(returns[:-1]):
            result = joined(value, result, -max(when, key=abs)) if when else value
        return result

    def method(self, holder, name, placed, named):
        """Of a value: a list, a dict, a text, a path."""
        soft, holder, first = isinstance(holder, Soft), bare(holder), bare(placed[0]) if placed else None
        if isinstance(holder, list) and not isinstance(holder, Choice):
            if name in ("append", "insert"):
                holder.extend(self.added([bare(placed[-1])] if placed else []))
            elif name == "extend":
                holder.extend(self.added(items(first)))
            elif name == "remove" and not self.when:
                holder[:] = [item for item in holder if bare(item) != first]
            elif name == "copy":
                return list(holder)
            return None if name != "pop" else UNKNOWN
        if isinstance(holder, dict):
            if name == "update":
                for key, value in {**(first if isinstance(first, dict) else {}), **named}.items():
                    if OFF not in self.when:
                        holder[key] = joined(holder.get(key, []), value, max(self.when, key=abs)) \
                            if self.when else value
                return None
            if name in ("get", "setdefault") and isinstance(first, str):
                default = placed[1] if len(placed) > 1 else None
                return holder.setdefault(first, default) if name == "setdefault" else holder.get(first, default)
            return {"items": [tuple(pair) for pair in holder.items()], "keys": list(holder),
                    "values": list(holder.values()), "copy": dict(holder)}.get(name, UNKNOWN)
        if not isinstance(holder, str):
            return UNKNOWN
        if name in ("glob", "rglob"):
            return self.glob(posixpath.join(holder, "**" if name == "rglob" else "", self.text(first)))
        if name in ("exists", "is_file", "is_dir"):
            return self.exists(holder)
        if name in ("resolve", "absolute", "as_posix", "expanduser"):
            return holder
        if name == "joinpath":
            return posixpath.join(holder, *[self.text(part) for part in placed])
        if name == "join":
            parts = [self.text(item) for item in items(first)]
            return holder.join(parts)
        if name == "format":
            values = iter(placed)
            return re.sub("{(\\w*)}", lambda found: self.text(
                named.get(found[1], next(values, UNKNOWN) if not found[1] else UNKNOWN)), holder)
        plain = all(isinstance(bare(p), (str, int)) and not isinstance(p, Ref) for p in placed)
        if plain and not named and name in ("split", "strip", "lstrip", "rstrip", "lower", "upper", "replace",
                                            "startswith", "endswith", "removeprefix", "removesuffix"):
            if HOLE in holder:
                return UNKNOWN
            found = getattr(holder, name)(*[bare(p) for p in placed])
            return Soft(found) if soft and not isinstance(found, list) else found
        return UNKNOWN

    def library(self, name, placed, named):
        """Of something that setup.py does not define, by its name."""
        last, first = name.rsplit(".", 1)[-1], bare(placed[0]) if placed else None
        if name.endswith("Extension") and last != "BuildExtension":
            return self.extension(last, placed, named)
        if last == "setup" and OFF not in self.when:
            self.setup = named
        for known, value in CALLS.items():
            if name == known or name.endswith("." + known):
                return value
        if last == "getenv" or name.endswith("environ.get"):
            return Soft(bare(placed[1]) if len(placed) > 1 else bare(named.get("default")))
        if last == "hasattr" or last.startswith("is_"):
            about = name if last != "hasattr" else self.text(placed[-1]) if placed else ""
            return False if is_elsewhere(about) else UNKNOWN
        if last == "join" and not {"path", "osp"}.isdisjoint(name.split(".")):
            return posixpath.join(*[self.text(part) for part in placed]) if placed else ""
        if last in ("Path", "PurePath", "PosixPath"):
            return posixpath.join(*[self.text(part) for part in placed]) if placed else "."
        if last in ("abspath", "realpath", "normpath", "fspath", "str", "resolve"):
            return first if isinstance(first, str) and not isinstance(first, Ref) else self.text(first)
        if last in ("dirname", "basename") and isinstance(first, str):
            return getattr(posixpath, last)(first) or "."
        if last == "splitext" and isinstance(first, str):
            return posixpath.splitext(first)
        if last in ("glob", "iglob"):
            return self.glob(self.text(first))
        if last in ("exists", "isfile", "isdir") and isinstance(first, str):
            return self.exists(first)
        if last in ("list", "tuple", "sorted", "set", "reversed", "chain") and len(placed) == 1:
            return items(first)
        if name in ("bool", "int"):
            true, soft = self.truth(placed[0] if placed else False)
            return UNKNOWN if name == "int" or true is None else Soft(true) if soft else true
        if last == "dict":
            return {**(first if isinstance(first, dict) else {}), **named}
        if last in ("product", "zip", "enumerate"):
            lists = [[bare(item) for item in items(value)] for value in placed]
            made = enumerate(*lists) if last == "enumerate" else \
                zip(*lists) if last == "zip" else itertools.product(*lists)
            return [tuple(pair) for pair in itertools.islice(made, 10000)]
        if last == "deepcopy" or name == "copy.copy":
            return json.loads(json.dumps(first)) if self.known(first) else first
        # Of another function's result only its lists are taken, and not for sure.
        self.number += 1
        found = [Maybe(item, {self.number}) for value in placed if isinstance(bare(value), list)
                 for item in items(value)]
        return found or UNKNOWN

    def path(self, text):
        text = text.lstrip(HOLE + "/") if text.startswith(HOLE) else text
        return posixpath.normpath(text)

    def exists(self, text):
        path = self.path(text)
        return UNKNOWN if HOLE in path else path in self.files or path in self.folders

    def glob(self, pattern):
        pattern = self.path(pattern)
        found = matches(pattern, self.files)
        if not found and OFF not in self.when and pattern not in self.unmatched:
            self.unmatched.append(pattern)
        return found if found else [] if HOLE not in pattern else [UNKNOWN]

    # The answer.

    def words(self, value, make=None):
        """[text] or [{"maybe": text}] of a list of texts."""
        found = []
        for item in items(value) if not isinstance(bare(value), str) else [value]:
            when = (item.when if isinstance(item, Maybe) else frozenset()) - self.when
            if any(-condition in self.when for condition in when if condition != OFF):
                continue
            inner = bare(item)
            text = make(inner) if make else inner
            if isinstance(text, str) and text and not isinstance(text, Ref):
                found.append((text, when))
        return found

    def paths(self, value):
        return [{"maybe": self.path(text)} if when else self.path(text)
                for text, when in self.words(value) if OFF not in when and HOLE not in self.path(text)]

    def flags(self, value, make=None):
        return [{"maybe": text} if when else text for text, when in self.words(value, make) if HOLE not in text]

    def extension(self, callee, placed, named):
        if OFF in self.when:
            return UNKNOWN
        argument = dict(zip(("name", "sources", "include_dirs", "define_macros", "undef_macros"), placed))
        argument.update(named)
        flags = bare(argument.get("extra_compile_args"))
        macros = self.flags(argument.get("define_macros"), self.macro)
        macros += self.flags(argument.get("undef_macros"), lambda name: "-U" + self.text(name))
        name = self.text(argument.get("name"))
        found = {
            "callee": callee, "name": name if HOLE not in name else None, "like": name.replace(HOLE, "*") if name != HOLE else None,
            "maybe": bool(self.when), "sources": self.paths(argument.get("sources")),
            "include": self.paths(argument.get("include_dirs")),
            "cxx": self.flags(flags.get("cxx") if isinstance(flags, dict) else flags) + macros,
            "nvcc": self.flags(flags.get("nvcc") if isinstance(flags, dict) else flags) + macros,
            "link": self.flags(argument.get("extra_link_args")) + self.flags(
                argument.get("libraries"), lambda library: "-l" + self.text(library)),
            "suffix": ".abi3.so" if bare(argument.get("py_limited_api")) is True else None,
        }
        for i, other in enumerate(self.extensions):
            if (other["name"], other["like"]) == (found["name"], found["like"]):
                if callee == "CUDAExtension" and other["callee"] != callee:
                    self.extensions[i] = found
                return UNKNOWN
        self.extensions.append(found)
        return UNKNOWN

    def macro(self, pair):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(bare(pair[0]), str):
            return None
        value = bare(pair[1])
        return "-D%s" % pair[0] if value is None else "-D%s=%s" % (pair[0], self.text(value))

    def read(self, tree):
        try:
            self.run(tree.body)
        except End:
            pass
        for slot in list(self.scopes[0].values()):  # functions that something else calls
            if not self.extensions and isinstance(slot.value, Function) and slot.value.node.name not in self.called:
                self.function(slot.value, [], {})


# Data files: what setuptools takes into a wheel besides Python files.

def read_text(folder, path):
    full = os.path.join(folder, path)
    if os.path.islink(full) or not os.path.isfile(full) or os.path.getsize(full) > LARGEST:
        return ""
    with open(full, encoding="utf-8", errors="replace") as file:
        return file.read()


def manifest(text, files, found):
    """The commands of MANIFEST.in ("Controlling files in the distribution" of setuptools), in order."""
    for line in text.replace("\\\n", " ").splitlines():
        command, *rest = line.split("#")[0].split() or [""]
        below = rest.pop(0) + "/**/" if command.startswith("recursive-") and rest else \
            "**/" if command.startswith("global-") else ""
        for pattern in rest if command.endswith(("include", "exclude", "graft", "prune")) else []:
            path = posixpath.normpath(below + pattern + ("/**/*" if command in ("graft", "prune") else ""))
            if command.endswith("include") or command == "graft":
                found.update(matches(path, files))
            else:
                found.difference_update(matches(path, files))


def data_files(folder, files, reader):
    setup = {key: bare(value) for key, value in reader.setup.items()}
    project = read_text(folder, "pyproject.toml")
    by_project = re.search(r"^\[(project|tool\.setuptools)\]", project, re.M) is not None
    no = re.search(r"^include-package-data\s*=\s*false", project, re.M) is not None
    where = setup.get("package_dir")
    root = where.get("", "") if isinstance(where, dict) and isinstance(where.get("", ""), str) else ""
    root = posixpath.normpath(root) + "/" if root not in ("", ".") else ""
    packages = {posixpath.dirname(path) for path in files if path.endswith("/__init__.py")}
    found = set()
    if setup.get("include_package_data", by_project and not no) is True:
        for path in files:
            if path.endswith(".egg-info/SOURCES.txt"):
                found |= set(read_text(folder, path).split("\n"))
        for extension in reader.extensions:
            found |= {path for path in extension["sources"] if isinstance(path, str)}
        manifest(read_text(folder, "MANIFEST.in"), files, found)
    given = setup.get("package_data")
    for package, patterns in given.items() if isinstance(given, dict) else []:
        for base in [root + package.replace(".", "/")] if package else sorted(packages):
            for pattern in items(patterns):
                if isinstance(bare(pattern), str):
                    found |= set(reader.glob(posixpath.join(base, bare(pattern))))
    taken = {path for path in files if path.endswith(".py") and posixpath.dirname(path) in packages}
    found = {path for path in found if path in files and path.startswith(root)} - taken
    patterns = []

    def gather(base):
        """As few patterns as say the same: a folder all of whose files are taken is one."""
        below = [path for path in files if path.startswith(base)]
        if base and all(path in found or path in taken for path in below):
            if any(path in found for path in below):
                patterns.append(base[len(root):] + "*")
            return
        for path in below:
            if "/" not in path[len(base):] and path in found:
                patterns.append(path[len(root):])
        for inner in sorted({path[len(base):].split("/")[0] for path in below if "/" in path[len(base):]}):
            gather(base + inner + "/")
    for package in sorted(packages):
        if posixpath.dirname(package) not in packages:
            gather(package + "/")
    return patterns


def main(folder):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    files = []
    for base, folders, names in os.walk(folder):
        folders.sort()
        files += [posixpath.normpath(os.path.relpath(os.path.join(base, name), folder)) for name in sorted(names)]
        if len(files) > MOST_FILES:
            break
    files = dict.fromkeys(files)
    folders = {"."} | {path[:i] for path in files for i, c in enumerate(path) if c == "/"}
    tree = ast.parse(read_text(folder, "setup.py"))
    reader = Reader(files, folders, False)
    reader.read(tree)
    if not reader.extensions:
        reader = Reader(files, folders, True)
        reader.read(tree)
    for extension in reader.extensions:
        extension["suffix"] = extension["suffix"] or reader.suffix
    unmatched = list(reader.unmatched)
    print(json.dumps({"extensions": reader.extensions, "unmatched": unmatched,
                      "data": data_files(folder, list(files), reader)}))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as fault:  # whatever it is, the draft is made without
        print(json.dumps({"error": "%s: %s" % (type(fault).__name__, str(fault)[:200])}))
