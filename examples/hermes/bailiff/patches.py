"""Patches as a program for the session's sandbox. Each path stands in it where it is opened, so that the policies see it."""

from .calls import Unfit


class Change:
    """What becomes of one file: add, update or delete. edits are (hint, old lines, new lines), or one replacement."""

    def __init__(self, kind, path, edits=(), to=""):
        self.kind, self.path, self.edits, self.to = kind, path, list(edits), to


def replacement(path, old, new, everywhere):
    return Change("replace", path, [(old, new, everywhere)])


def sections(text):
    """Reads a patch in the V4A form."""
    lines = text.strip("\n").split("\n")
    if lines[0].strip() == "*** Begin Patch":
        lines = lines[1:]
    if lines and lines[-1].strip() == "*** End Patch":
        lines = lines[:-1]
    changes = []
    for line in lines:
        _take(changes, line)
    if not changes:
        raise Unfit("patch: it changes no file")
    if len({c.path for c in changes}) != len(changes):
        raise Unfit("patch: it names a file twice")
    return changes


_HEADS = {"*** Add File: ": "add", "*** Update File: ": "update", "*** Delete File: ": "delete"}


def _take(changes, line):
    for head, kind in _HEADS.items():
        if line.startswith(head):
            changes.append(Change(kind, _named(line[len(head):])))
            return
    if not changes:
        raise Unfit("patch: want *** Add File, *** Update File or *** Delete File first, not %r" % line[:80])
    change = changes[-1]
    if line.startswith("*** Move to: ") and change.kind == "update" and not change.to:
        change.to = _named(line[len("*** Move to: "):])
    elif change.kind == "add" and line.startswith("+"):
        change.edits.append(line[1:])
    elif change.kind == "update" and not line.startswith("***"):
        _take_edit(change, line)
    elif line.strip() and line.strip() != "*** End of File":
        raise Unfit("patch: this belongs to no change: %r" % line[:80])


def _named(path):
    path = path.strip()
    if not path or "\0" in path:
        raise Unfit("patch: a file has no name")
    return path


def _take_edit(change, line):
    if line.startswith("@@"):
        change.edits.append((line[2:].strip().removesuffix("@@").strip(), [], []))
        return
    if not change.edits:
        change.edits.append(("", [], []))
    _, old, new = change.edits[-1]
    mark, rest = line[:1], line[1:]
    if mark not in ("", " ", "-", "+"):
        raise Unfit("patch: a line must begin with a space, - or +: %r" % line[:80])
    if mark != "+":
        old.append(rest)
    if mark != "-":
        new.append(rest)


def program(changes):
    """The program: all files are read and changed in memory first, so that a patch that does not fit changes none."""
    body = [_FUNCTIONS, "    before, after = {}, {}"]
    for c in changes:
        body += _READ[c.kind](c)
    for c in changes:
        body += _write(c)
    body.append("    report(before, after)")
    return "def bailiff_patch():\n" + "\n".join(body) + _RUN


def _open(path, mode=""):
    path = repr(path) if not path.startswith("~/") else "os.path.expanduser(%r)" % path
    return "    with open(%s%s, newline='', encoding='utf-8') as file:" % (path, mode)


def _read_file(path):
    return [_open(path), "        before[%r] = file.read()" % path]


def _replaced(c):
    old, new, everywhere = c.edits[0]
    return _read_file(c.path) + ["    after[%r] = replaced(before[%r], %r, %r, %r)" % (c.path, c.path, old, new, everywhere)]


def _added(c):
    text = "\n".join(c.edits) + ("\n" if c.edits else "")
    return ["    absent(%r)" % c.path, "    after[%r] = %r" % (c.path, text)]


def _updated(c):
    absent = ["    absent(%r)" % c.to] if c.to else []
    return absent + _read_file(c.path) + ["    after[%r] = edited(%r, before[%r], %r)" % (c.to or c.path, c.path, c.path, c.edits)]


def _deleted(c):
    return _read_file(c.path)


_READ = {"replace": _replaced, "add": _added, "update": _updated, "delete": _deleted}


def _write(c):
    to = c.to or c.path
    lines = []
    if c.kind != "delete":
        folder = to.rpartition("/")[0]
        if c.kind == "add" or c.to:
            lines += ["    os.makedirs(os.path.expanduser(%r), exist_ok=True)" % folder] if folder and folder != "~" else []
            lines += [_open(to, ", 'x'")]
        else:
            lines += [_open(to, ", 'w'")]
        lines += ["        file.write(after[%r])" % to]
    if c.kind == "delete" or c.to:
        lines += ["    os.remove(os.path.expanduser(%r))" % c.path if c.path.startswith("~/") else "    os.remove(%r)" % c.path]
    return lines


_FUNCTIONS = '''    import difflib, json, os

    def ends(text, like):
        return text.replace("\\r\\n", "\\n").replace("\\n", "\\r\\n") if "\\r\\n" in like else text

    def replaced(text, old, new, everywhere):
        old, new = ends(old, text), ends(new, text)
        count = text.count(old)
        if count == 0:
            raise ValueError("Could not find a match for old_string in the file")
        if count > 1 and not everywhere:
            raise ValueError("Found %d matches for old_string. Provide more context to make it unique, or use replace_all=true." % count)
        return text.replace(old, new)

    def place(lines, block, start):
        for same in (str, str.rstrip, str.strip):
            want = [same(line) for line in block]
            for at in range(start, len(lines) - len(block) + 1):
                if [same(line) for line in lines[at:at + len(block)]] == want:
                    return at
        return -1

    def edited(path, text, edits):
        end = "\\r\\n" if "\\r\\n" in text else "\\n"
        lines, at = text.split(end), 0
        for hint, old, new in edits:
            if hint:
                found = place(lines, [hint], at)
                at = found + 1 if found >= 0 else at
            while old and new and not old[-1] and not new[-1] and place(lines, old, at) < 0:
                old, new = old[:-1], new[:-1]
            if not old and not hint:
                at = len(lines) - 1 if lines and not lines[-1] else len(lines)
            found = place(lines, old, at) if old else at
            if found < 0:
                raise ValueError("Could not find these lines in %s: %s" % (path, "\\n".join(old)[:500]))
            lines[found:found + len(old)] = new
            at = found + len(new)
        return end.join(lines)

    def absent(path):
        if os.path.lexists(os.path.expanduser(path)):
            raise ValueError("%s is there already" % path)

    def report(before, after):
        diff = []
        for path in sorted(set(before) | set(after)):
            was, now = before.get(path, ""), after.get(path, "")
            diff += difflib.unified_diff(was.splitlines(), now.splitlines(), "a/" + path, "b/" + path, lineterm="")
        told = {"success": True, "diff": "\\n".join(diff)[:20000],
                "files_modified": sorted(set(before) & set(after)), "files_created": sorted(set(after) - set(before)),
                "files_deleted": sorted(set(before) - set(after))}
        print(json.dumps({name: value for name, value in told.items() if value}))
'''

_RUN = '''

try:
    bailiff_patch()
except (OSError, ValueError) as bailiff_fault:
    import json
    print(json.dumps({"success": False, "error": str(bailiff_fault)}))
del bailiff_patch
'''
