"""draft.py - the text of a draft: a recipe in the order of recipes/README.md, with comments

Each note becomes a line "// check: ..." above the key that it is about. A key is the path to a value,
("extensions", 0, "sources"); a value that is None has no line of its own, only its notes.
"""
import json

WIDEST = 110  # columns of a list on one line, and of a comment


class Comment(str):
    """Lines of a list that are written unchanged."""


class Draft:
    def __init__(self, order):
        self.order, self.recipe, self.notes, self.incomplete = order, {}, [], []
        self.missing = 0  # files that setup.py compiles and these sources do not have

    def note(self, key, text):
        """Control characters are made harmless."""
        plain = "".join(c if c >= " " and c != "\x7f" else "?" for c in text)
        if (key, plain) not in self.notes:
            self.notes.append((key, plain))

    def lost(self, text):
        """Something that the wheel needs and the draft does not say: its first line tells."""
        if text not in self.incomplete:
            self.incomplete.append(text)

    def list(self, items, most=6):
        more = " and %d more" % (len(items) - most) if len(items) > most else ""
        return ", ".join(items[:most]) + more

    # The text.

    def text(self):
        origin = self.order.get("from")
        first = []
        if self.incomplete:
            first += self.comment("INCOMPLETE: %s." % "; ".join(self.incomplete), 0)
        if self.order.get("base_version"):
            first += self.comment("The recipe of %s, changed as %s differs from its sources. Comments of the old one are not here; what a "
                                  "person must decide is marked \"check:\";" % (self.order["base_version"], origin), 0)
        elif origin:
            first.append("// A draft from %s" % origin)
            first.append("// and the setup.py in it, which was read and not run. What is marked \"check:\" is a guess;")
        else:
            first.append("// A form: nothing of it was read off sources. Fill in what is marked \"check:\";")
        return "\n".join(first + ["// recipes/README.md says what each key means.", self.value(self.recipe, (), 0)]) + "\n"

    def comment(self, text, depth):
        """Lines of a comment, broken at blanks."""
        lines, lead, room = [], "// ", WIDEST - 2 * depth
        while text:
            cut = len(text) if len(text) <= room else text.rfind(" ", 0, room + 1)
            cut = cut if cut > 0 else text.find(" ") if " " in text else len(text)
            lines.append("  " * depth + lead + text[:cut])
            text, lead = text[cut + 1:], "//    "
        return lines

    def notes_of(self, key, depth):
        return [line for of, text in self.notes if of == key for line in self.comment("check: " + text, depth)]

    def has_notes(self, key):
        return any(of[:len(key)] == key for of, _ in self.notes)

    def value(self, value, key, depth):
        plain = self.one_line(value, key)
        if not isinstance(value, (dict, list)):
            return plain
        if plain is not None and len(plain) + len(str(key[-1:])) + 2 * depth < WIDEST:
            return plain
        pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
        lines, waiting = [], []  # waiting: notes of what has no line
        last = max((i for i, (_, inner) in enumerate(pairs) if inner is not None and not isinstance(inner, Comment)),
                   default=-1)
        for i, (name, inner) in enumerate(pairs):
            waiting += self.notes_of(key + (name,), depth + 1)
            if isinstance(inner, Comment):
                waiting += ["  " * (depth + 1) + line for line in inner.split("\n")]
            elif inner is not None:
                label = json.dumps(name, ensure_ascii=False) + ": " if isinstance(value, dict) else ""
                comma = "," if i < last else ""
                lines += waiting + ["  " * (depth + 1) + label + self.value(inner, key + (name,), depth + 1) + comma]
                waiting = []
        ends = "{}" if isinstance(value, dict) else "[]"
        return "\n".join([ends[0]] + lines + waiting + ["  " * depth + ends[1]])

    def one_line(self, value, key):
        """The value without line breaks; None when it is an object of several keys, or has notes inside."""
        if not isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, list):
            if any(isinstance(item, (list, Comment)) for item in value) or self.has_inner_notes(key):
                return None
            parts = [self.one_line(item, key + (i,)) for i, item in enumerate(value)]
            return None if None in parts else "[%s]" % ", ".join(parts)
        small = [name for name in value if value[name] is not None]
        short = key[-2:-1] == ("sources",) or (len(small) == 1 and len(key) == 1 and key[0] != "metadata")
        if not short or self.has_inner_notes(key):
            return None
        parts = [self.one_line(value[name], key + (name,)) for name in small]
        return None if None in parts else "{%s}" % ", ".join(
            "%s: %s" % (json.dumps(name, ensure_ascii=False), part) for name, part in zip(small, parts))

    def has_inner_notes(self, key):
        return any(of[:len(key)] == key and len(of) > len(key) for of, _ in self.notes)
