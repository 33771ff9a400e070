"""follow.py - follows the text of a Python file over a few kinds of values (values.py)

Runs no code and imports no module of the sources: modules that the file imports are followed in the same way, for their definitions. Assumed are Linux, a torch 2 with CUDA 12.8 and OpenMP, and that no environment
variable is set. library.py models functions of libraries.
"""
import ast
import operator
import posixpath
import re

from values import (HOLE, OFF, UNKNOWN, Choice, Class, End, File, Function, Maybe, Module, Object, Ref, Slot, Soft, bare, items,
                    joined, known, marked, text_of)

MOST_STEPS, MOST_ITEMS, LARGEST = 300000, 20000, 1 << 20
CUDA = "12.8"
FACTS = {
    "sys.platform": "linux", "os.name": "posix", "os.sep": "/", "os.path.sep": "/", "__name__": "__main__",
    "__file__": "./setup.py", "torch.version.hip": None, "CUDA_HOME": "/usr/local/cuda", "ROCM_HOME": None,
    "HIP_HOME": None, "IS_HIP_EXTENSION": False, "IS_WINDOWS": False, "IS_MACOS": False, "torch.has_cuda": True,
    "torch.version.cuda": CUDA, "torch.__version__": "2." + HOLE,
}
COMPARISONS = {
    "Eq": operator.eq, "NotEq": operator.ne, "Is": operator.is_, "IsNot": operator.is_not, "Lt": operator.lt,
    "Gt": operator.gt, "LtE": operator.le, "GtE": operator.ge, "In": lambda item, holder: item in holder,
    "NotIn": lambda item, holder: item not in holder,
}
OTHERS = {"hip", "rocm", "win32", "windows", "win", "nt", "darwin", "macos", "osx", "msvc", "xpu", "mps", "musa",
          "npu", "mlu", "sycl"}

def order(left, right):
    """-1 or 1 where two versions, or lists of their numbers, differ before the first unknown; else None."""
    def numbers(value):
        if isinstance(value, str) and not isinstance(value, Ref) and value[:1].isdigit():
            return value.split(".")
        return value if isinstance(value, (list, tuple)) and not isinstance(value, Choice) else []
    if not (isinstance(left, (list, tuple)) == isinstance(right, (list, tuple))):
        return None
    if known(left) and known(right):
        return None
    for one, two in zip(numbers(left), numbers(right)):
        one, two = text_of(one), text_of(two)
        if not (one.isdigit() and two.isdigit()):
            return None
        if int(one) != int(two):
            return 1 if int(one) > int(two) else -1
    return None


def is_elsewhere(name):
    """The name, or a part of it, is another platform's: IS_ROCM, torch.version.hip."""
    return not OTHERS.isdisjoint(re.split(r"[_.]", name.lower()))


class Reader:
    def __init__(self, tree, soft_is_unknown):
        self.tree, self.soft_is_unknown = tree, soft_is_unknown
        self.scopes, self.when, self.number, self.steps, self.depth = [{}], frozenset(), 0, 0, 0
        self.called, self.returns, self.yields, self.supers = set(), [], [], []
        self.modules, self.search, self.trees = {}, ["."], []  # what was imported, where it is looked for, its ASTs

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
        """Follows the block under one more condition; None at its end, else its return or break."""
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
            first = name.name.split(".")[0]
            value = self.module(name.name) if name.asname or first == name.name else None
            self.assign_name(name.asname or first, value or Ref(name.name if name.asname else first))

    def do_ImportFrom(self, node):
        of = self.module(node.module) if node.module and not node.level else None
        for name in node.names:
            full = "%s.%s" % (node.module, name.name)
            value = of.scope[name.name].value if of and name.name in of.scope else self.module(full)
            self.assign_name(name.asname or name.name, Ref(full) if value is None else value)

    def module(self, name):
        """A module of the sources, followed; None when they have none of that name."""
        if name.split(".")[0] in ("torch", "setuptools", "distutils", "os", "sys", "glob", "pathlib"):
            return None
        for folder in self.search:
            base = posixpath.normpath(posixpath.join(folder, name.replace(".", "/")))
            for path in (base + ".py", base + "/__init__.py"):
                if path in self.tree.files:
                    return self.run_module(path, name)
        return None

    def run_module(self, path, name):
        if path not in self.modules:
            scope = {"__file__": Slot("./" + path), "__name__": Slot(name)}
            self.modules[path] = Module(path, scope)
            try:
                tree = ast.parse(self.tree.read(path))
            except (SyntaxError, ValueError):
                return self.modules[path]
            self.trees.append(tree)
            outer, self.scopes, before, self.when = self.scopes, [scope], self.when, frozenset()
            try:
                self.run(tree.body)
            except End:
                pass
            finally:
                self.scopes, self.when = outer, before
        return self.modules[path]

    def do_FunctionDef(self, node):
        self.assign_name(node.name, Function(node, list(self.scopes)))

    def do_ClassDef(self, node):
        bases = [bare(self.value(base)) for base in node.bases]
        self.assign_name(node.name, Class(node, bases, list(self.scopes)))

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
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars:
                self.assign(item.optional_vars, value)
        self.run(node.body)

    def do_Try(self, node):
        self.run(node.body)
        self.run(node.orelse)
        self.run(node.finalbody)

    def do_While(self, node):
        self.number += 1
        self.under(self.number, lambda: self.run(node.body))

    def do_For(self, node):
        for item in self.each(self.value(node.iter)):
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

    def each(self, value):
        """The items of a loop over the value."""
        return self.tree.read(bare(value)).splitlines() if isinstance(bare(value), File) else items(value)

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
        elif isinstance(target, ast.Attribute):
            holder = bare(self.value(target.value))
            if isinstance(holder, Object) and OFF not in self.when:
                old, number = holder.scope.get(target.attr), max(self.when, key=abs, default=0)
                holder.scope[target.attr] = Slot(value if not number else joined(old.value, value, number) if old else
                                                 marked(value, self.when))

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
        """The value of a name that setup.py does not define."""
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
        if isinstance(value, list) and node.attr in ("major", "minor") and len(value) > 1:
            return value[node.attr == "minor"]
        if isinstance(value, (Module, Object)) and node.attr in value.scope:
            return value.scope[node.attr].value
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
        return "".join(text_of(self.value(part)) for part in node.values)

    def of_FormattedValue(self, node):
        return self.value(node.value) if node.conversion == -1 and not node.format_spec else UNKNOWN

    def add(self, left, right):
        soft = isinstance(left, Soft) or isinstance(right, Soft)
        left, right = bare(left), bare(right)
        if isinstance(left, (list, tuple)) or isinstance(right, (list, tuple)):
            if len(items(left)) + len(items(right)) > MOST_ITEMS:
                raise OverflowError("too many items")
            return items(left) + items(right)
        if isinstance(left, str) or isinstance(right, str):
            sum_ = text_of(left) + text_of(right)
            return UNKNOWN if len(sum_) > LARGEST else Soft(sum_) if soft else sum_
        return left + right if type(left) is int and type(right) is int else UNKNOWN

    def of_BinOp(self, node):
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add):
            return self.add(left, right)
        if all(type(bare(value)) is int for value in (left, right)):
            return {ast.Mult: operator.mul, ast.Sub: operator.sub}.get(type(node.op), lambda *_: UNKNOWN)(bare(left), bare(right))
        if isinstance(node.op, ast.Sub) and isinstance(bare(left), list):
            return [item for item in bare(left) if bare(item) not in [bare(other) for other in items(right)]]
        if isinstance(node.op, ast.Div) and isinstance(bare(right), str):
            return posixpath.join(text_of(left), text_of(right))
        if isinstance(node.op, ast.Mod) and isinstance(bare(left), str):
            values = iter(right if isinstance(right, tuple) else [right])
            return re.sub("%[sd]", lambda found: text_of(next(values, UNKNOWN)), bare(left))
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
        if left == "cu" and isinstance(right, str) and right == FACTS["torch.__version__"]:
            return name == "In"
        if isinstance(left, str) and left[:1].isdigit() and isinstance(right, str) and right.isalpha():
            return name == "NotEq"  # a version is not a word
        if name in ("In", "NotIn") and isinstance(right, (list, tuple)) and known(left) and \
                all(known(bare(item)) for item in right) and left not in [bare(item) for item in right]:
            return name == "NotIn"
        if right is None and isinstance(left, (list, dict, str, Function)) and not isinstance(left, Ref):
            return name in ("IsNot", "NotEq")
        first = order(left, right) if len(values) == 2 else None
        if first is not None and name in COMPARISONS and name not in ("Is", "IsNot", "In", "NotIn"):
            return COMPARISONS[name](first, 0)
        if len(values) > 2 or (soft and self.soft_is_unknown) or not (known(left) and known(right)):
            return UNKNOWN
        try:
            found = COMPARISONS[name](left, right)
        except TypeError:
            return UNKNOWN
        return Soft(found) if soft else found

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
            plain = isinstance(holder, (list, tuple, dict)) or known(holder)
            return bare(holder[key]) if plain else UNKNOWN
        except (KeyError, IndexError, TypeError):
            return UNKNOWN

    def comprehension(self, node, make):
        found, scope = [], {}

        def turn(depth):
            if depth == len(node.generators):
                found.append(make())
                return
            generator = node.generators[depth]
            for item in self.each(self.value(generator.iter)):
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

    def of_Yield(self, node):
        if self.yields and node.value:
            self.yields[-1].extend(self.added([bare(self.value(node.value))]))
        return UNKNOWN

    def of_YieldFrom(self, node):
        if self.yields:
            self.yields[-1].extend(self.added(items(self.value(node.value))))
        return UNKNOWN

    # Calls.

    def of_Call(self, node):
        named = {word.arg: self.value(word.value) for word in node.keywords if word.arg}
        for word in node.keywords:
            if not word.arg and isinstance(bare(self.value(word.value)), dict):
                named.update(bare(self.value(word.value)))
        placed = self.sequence(node.args)
        self.saw_call(node, placed, named)
        if isinstance(node.func, ast.Attribute):
            if node.func.attr == "__init__" and self.is_of_base(node.func.value):
                return self.supers[-1].append((placed if isinstance(node.func.value, ast.Call) else placed[1:], named))
            holder = self.value(node.func.value)
            if isinstance(bare(holder), Object):
                return self.method_of(bare(holder), node.func.attr, placed, named)
            if not isinstance(holder, (Ref, Module)):
                return self.method(holder, node.func.attr, placed, named)
        callee = self.value(node.func)
        if isinstance(callee, Function):
            return self.function(callee, placed, named)
        if isinstance(callee, Class):
            return self.instance(callee, placed, named)
        return self.known_call(callee, placed, named) if isinstance(callee, Ref) else UNKNOWN

    def is_of_base(self, node):
        """super(), or a class by its name, where a class is being made."""
        plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
        return bool(self.supers) and (plain or isinstance(bare(self.value(node)), (Ref, Class)))

    def base_arguments(self, of, placed, named):
        """The arguments of the outermost base's constructor."""
        node, owner = of.method("__init__")
        if not node or self.depth > 30:
            return placed, named
        self.supers.append([])
        self.function(Function(node, owner.scopes), [UNKNOWN] + list(placed), named)
        calls = self.supers.pop()
        inner = [base for base in owner.bases if isinstance(base, Class)]
        if not calls:
            return [], {}
        return self.base_arguments(inner[0], *calls[-1]) if inner else calls[-1]

    def object(self, of, placed, named):
        made = Object(of)
        outer, self.scopes = self.scopes, of.scopes + [made.scope]
        try:
            for node in reversed(of.nodes()):
                self.run([part for part in node.body if isinstance(part, (ast.Assign, ast.AnnAssign))])
        finally:
            self.scopes = outer
        self.method_of(made, "__init__", placed, named)
        return made

    def method_of(self, made, name, placed, named):
        node, owner = made.of.method(name)
        if not isinstance(node, ast.FunctionDef):
            return UNKNOWN
        kinds = [word.id for word in node.decorator_list if isinstance(word, ast.Name)]
        first = [] if "staticmethod" in kinds else [made]
        return self.function(Function(node, owner.scopes), first + list(placed), named)

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
        if node.args.vararg:
            scope[node.args.vararg.arg] = Slot(list(placed[len(names):]), self.when)
        if node.args.kwarg:
            scope[node.args.kwarg.arg] = Slot({key: named[key] for key in named if key not in names}, self.when)
        outer, before = self.scopes, self.when
        self.scopes, self.depth = callee.scopes + [scope], self.depth + 1
        self.returns.append([])
        self.yields.append([])
        try:
            self.run(node.body)
        except End:
            pass
        finally:
            self.scopes, self.depth, self.when = outer, self.depth - 1, before
            made = self.yields.pop()
            returns = [(value, when - before) for value, when in self.returns.pop() if OFF not in when]
        result = returns[-1][0] if returns else made or None
        for value, when in reversed(returns[:-1]):
            result = joined(value, result, -max(when, key=abs)) if when else value
        return result
