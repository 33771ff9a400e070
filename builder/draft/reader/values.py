"""values.py - the kinds of values in a setup.py that is read

A value that only running would give is UNKNOWN, in a text HOLE. An UNKNOWN condition gets a number: items that its branches add are marked with +number or -number.
"""
HOLE = "\x01"
UNKNOWN = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()
OFF = "off"  # beside the numbers: only if an environment variable is set


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
    """The dotted name of something that the sources do not define."""


class Function:
    def __init__(self, node, scopes):
        self.node, self.scopes = node, scopes


class Class:
    """A class of the sources; its methods are run only where an object is made of it."""
    def __init__(self, node, bases, scopes):
        self.node, self.bases, self.scopes = node, bases, scopes

    def root(self):
        """The dotted name of the outermost base that the sources do not define; "" when there is none."""
        for base in self.bases:
            name = base.root() if isinstance(base, Class) else base if isinstance(base, Ref) else ""
            if name:
                return name
        return ""

    def method(self, name):
        found = [node for node in self.node.body if getattr(node, "name", None) == name]
        inner = [base for base in self.bases if isinstance(base, Class)]
        return (found[-1], self) if found else inner[0].method(name) if inner else (None, self)

    def nodes(self):
        """The definitions of this class and of its bases."""
        return [self.node] + [node for base in self.bases if isinstance(base, Class) for node in base.nodes()]


class Object:
    """An object of a class of the sources that is not an extension: its attributes, by name."""
    def __init__(self, of):
        self.of, self.scope = of, {}


class Module:
    """A file of the sources that setup.py imports."""
    def __init__(self, path, scope):
        self.path, self.scope = path, scope


class File(str):
    """The path of a file of the sources that was opened."""


class End(Exception):
    """return, break, continue, raise: what follows in this branch is not reached."""
    def __init__(self, kind):
        self.kind = kind


class Slot:
    """The value of a name, and the conditions of its assignment."""
    def __init__(self, value, when=frozenset()):
        self.value, self.when = value, when


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
    """The value of a name after an assignment under a condition."""
    old, new = bare(old), bare(new)
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: joined(old.get(key, []), new.get(key, []), number) for key in {**old, **new}}
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)) and not isinstance(old, Choice):
        had, has = [bare(item) for item in old], [bare(item) for item in new]
        return [Maybe(item, {-number}) for item in old if bare(item) not in has] + \
            [item if bare(item) in had else Maybe(item, {number}) for item in new]
    if type(old) is type(new) and old == new:
        return old
    if any(isinstance(value, (dict, tuple, Ref, Function, Class, Object, Module)) or value is UNKNOWN for value in (old, new)):
        return UNKNOWN
    return Choice(marked(old if isinstance(old, Choice) else [old], {-number}) +
                  marked(new if isinstance(new, Choice) else [new], {number}))


def known(value):
    """True if no part of it is UNKNOWN."""
    if isinstance(value, (list, tuple)):
        return all(known(item) for item in value)
    if isinstance(value, str):
        return HOLE not in value and not isinstance(value, (Ref, File))
    return value is None or isinstance(value, (int, float, dict))


def text_of(value):
    value = bare(value)
    plain = isinstance(value, (str, int, float)) and not isinstance(value, (Ref, File))
    return str(value) if plain else HOLE
