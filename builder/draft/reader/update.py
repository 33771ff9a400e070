"""update.py - the recipe of a newer version: a recipe, changed as the draft of its version and that of the new one differ

Values that are equal in both drafts stay as in the recipe, so a person's corrections are kept. Differences are applied to the recipe and listed. If the recipe already differed from its draft, the change is also marked. Shared members are part of each extension in the comparison.
"""
import json

from tree import folder_matches

LISTS = ("include", "sources", "device", "c_flags", "cxx_flags", "nvcc_flags", "link_flags")
KEPT = {"patches": "made for %s; `recipe check --fetch` tells whether they apply to these sources",
        "prebuilt": "what was published of %s; this version may have other wheels",
        "known_bad": "found with %s; these may be corrected in this version"}


def spread(recipe):
    """Each extension by its module, with what all of them share."""
    every = recipe.get("every_extension") or {}
    return {one["module"]: {key: (every.get(key) or []) + (one.get(key) or []) if key in LISTS else one.get(key, every.get(key))
                            for key in list(every) + list(one)} for one in recipe.get("extensions") or []}


def shown(value):
    return "nothing" if value in (None, [], {}) else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Update:
    def __init__(self, recipe, old, new, trees, draft):
        self.recipe, self.old, self.new, (self.old_tree, self.new_tree), self.draft = recipe, old, new, trees, draft
        self.changes = []

    def tell(self, name, before, after):
        self.changes.append("%s: %s is now %s" % (name, shown(before), shown(after)))

    def tell_list(self, name, gone, come):
        self.changes.append("%s: %s" % (name, self.signed(gone, come)))

    def signed(self, gone, come):
        return ", ".join([self.draft.list([sign + shown(item) for item in items])
                          for sign, items in (("-", gone), ("+", come)) if items])

    def files(self, items, tree):
        """Paths, with patterns replaced by their files."""
        return [path for item in items or [] for path in
                ([item] if isinstance(item, str) else self.matched(item["glob"], tree))]

    @staticmethod
    def matched(glob, tree):
        return [path for path in tree.files if path.count("/") == glob.count("/") and folder_matches(glob, path)]

    def merge_list(self, ours, old, new, key, name):
        """As the recipe has it, less what is gone, and what has come."""
        old, new = list(old or []), list(new or [])
        if old == new:
            return ours
        gone, come = [item for item in old if item not in new], [item for item in new if item not in old]
        self.tell_list(name, gone, come)
        if (ours or []) == old:
            return new or None
        self.draft.note(key, "the recipe was not what its draft said; the changes were made to it: " + self.signed(gone, come))
        return [item for item in ours or [] if item not in gone] + [item for item in come if item not in (ours or [])] or None

    def merge_sources(self, ours, old, new, key, name):
        """By the files; the counts of patterns are those of the new sources."""
        old, new = self.files(old, self.old_tree), self.files(new, self.new_tree)
        gone, come = [path for path in old if path not in new], [path for path in new if path not in old]
        if gone or come:
            self.tell_list(name, gone, come)
        result = []
        for item in ours or []:
            if isinstance(item, dict):
                count = len(self.matched(item["glob"], self.new_tree))
                result += [dict(item, count=count)] if count else []
            elif item not in gone:
                result.append(item)
        there = self.files(result, self.new_tree)
        return result + [path for path in come if path not in there] or None

    def merge(self, ours, old, new, key):
        """Any other value."""
        if old == new:
            return ours
        if all(isinstance(value, dict) or value is None for value in (ours, old, new)) and (ours or old) and new:
            ours, old = dict(ours or {}), old or {}
            for name in list(ours) + [name for name in new if name not in ours]:
                ours[name] = self.merge(ours.get(name), old.get(name), new.get(name), key + (name,))
            return {name: value for name, value in ours.items() if value is not None} or None
        name = ".".join(str(part) for part in key)
        if all(isinstance(value, list) for value in (ours, old, new)):
            return self.merge_list(ours, old, new, key, name)
        self.tell(name, old, new)
        if ours == old:
            return new
        self.draft.note(key, "the recipe has its own; the draft of its version said %s, now it says %s" %
                        (shown(old), shown(new)))
        return ours

    def write_extensions(self):
        ours, old, new = spread(self.recipe), spread(self.old), spread(self.new)
        every = self.recipe.get("every_extension") or {}
        kept = []
        for one in self.recipe.get("extensions") or []:
            module = one["module"]
            if module in old and module not in new:
                self.changes.append("module %s is gone" % module)
                continue
            kept.append(one)
            if module not in new:
                continue  # a person's own
            at = ("extensions", len(kept) - 1)
            for key in dict.fromkeys(list(one) + list(old.get(module, {})) + list(new[module])):
                before, after = old.get(module, {}).get(key), new[module].get(key)
                name, merge = "%s of %s" % (key, module), self.merge_sources if key in ("sources", "device") else self.merge_list
                if key == "module":
                    continue
                if key not in LISTS:
                    if before != after:
                        one[key] = self.merge(ours[module].get(key), before, after, at + (key,))
                    continue
                whole = merge(ours[module].get(key), before, after, at + (key,), name)
                shared = every.get(key) or []
                if whole != ours[module].get(key):
                    if (whole or [])[:len(shared)] != shared:  # what is said once is no longer the same for all
                        self.unshare(key, shared, one)
                        shared = []
                    one[key] = (whole or [])[len(shared):] or None
        for module in new:
            if module not in ours:
                self.changes.append("module %s is new" % module)
                self.draft.note(("extensions", len(kept)), "new in this version")
                kept.append({key: value for key, value in new[module].items() if value})
        self.recipe["extensions"] = kept or None

    def unshare(self, key, shared, but):
        """A list that every extension had is written into each of them."""
        every = self.recipe["every_extension"]
        every.pop(key)
        for one in self.recipe["extensions"]:
            if one is not but:
                one[key] = shared + (one.get(key) or [])
        if not every:
            self.recipe["every_extension"] = None

    def write(self):
        version = self.recipe["version"]
        for key in dict.fromkeys(list(self.recipe) + list(self.new)):
            if key == "source":
                if len(self.recipe[key]) > 1:
                    self.draft.note((key,), "the recipe of %s named other ways to its sources as well: %s" % (
                        version, shown(self.recipe[key][1:])))
                self.recipe[key] = self.new[key][:1]
            elif key in ("$schema", "version"):
                self.recipe[key] = self.new.get(key, self.recipe.get(key))
            elif key not in ("name", "extensions", "every_extension"):
                self.recipe[key] = self.merge(self.recipe.get(key), self.old.get(key), self.new.get(key), (key,))
            if key in KEPT and self.recipe.get(key):
                self.draft.note((key,), KEPT[key] % version)
        self.write_extensions()
        self.draft.recipe = {key: value for key, value in self.recipe.items() if value is not None}
        return self.changes
