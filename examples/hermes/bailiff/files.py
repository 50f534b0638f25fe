"""Hermes' file tools as commands in the session's sandbox that the policies can read: nothing of this machine is opened."""

import json
import posixpath
import re
import shlex

from .calls import Arguments, Request, Unfit, usual_timeout
from .patches import program, replacement, sections

LONGEST_READ = 45000  # bytes; less than a command may print
LONGEST_LINE = 2000  # characters
MOST_FOUND = 500


class NotThere(Exception):
    """What the sandbox printed makes no result; why, in words."""


def read_file(values):
    a = Arguments("read_file", values)
    path, first = _path(a), a.whole("offset", 1, least=1, most=1 << 40)
    limit = a.whole("limit", 500, least=1, most=2000)
    a.no_others()
    last, word = first + limit - 1, _word(path)
    command = "wc -c < %s && { grep -c '' -- %s; sed -n '%d,%dp;%dq' -- %s | head -c %d; }" % (
        word, word, first, last, last, word, LONGEST_READ)
    return _command(command, "", lambda answer: _read(answer, path, first, last))


def _read(answer, path, first, last):
    head = answer.output_bytes.split(b"\n", 2)
    if answer.exit_code != 0 or len(head) < 3 or not head[0].strip().isdigit() or not head[1].strip().isdigit():
        raise NotThere(_why(answer, path))
    if b"\0" in head[2]:
        raise NotThere("Binary file (%s bytes): it cannot be shown as text." % head[0].decode().strip())
    text, whole = head[2], len(head[2]) < LONGEST_READ
    if not whole and b"\n" in text:
        text = text[:text.rindex(b"\n") + 1]
    lines = text.decode("utf-8", "replace").removesuffix("\n").split("\n") if text else []
    total, reached = int(head[1]), first + len(lines) - 1
    result = {"content": "\n".join("%d|%s" % (first + i, _cut(line)) for i, line in enumerate(lines)), "total_lines": total,
              "file_size": int(head[0]), "truncated": reached < total, "is_binary": False, "is_image": False}
    if reached < total:
        result["hint"] = "Use offset=%d to continue reading (showing %d-%d of %d lines)" % (reached + 1, first, reached, total)
    return result


def _cut(line):
    line = line.removesuffix("\r")
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + "... [truncated]"


def write_file(values):
    a = Arguments("write_file", values)
    path, content = _path(a), a.text("content")
    a.any_of(("cross_profile",))
    a.no_others()
    folder = posixpath.dirname(path)
    makes = "mkdir -p -- %s && " % _word(folder) if folder not in ("", "/", "~") else ""
    command = "%stee -- %s > /dev/null && wc -c < %s" % (makes, _word(path), _word(path))
    return _command(command, content, lambda answer: _written(answer, path, content, bool(makes)))


def _written(answer, path, content, made):
    size = len(content.encode("utf-8"))
    if answer.exit_code != 0 or answer.output.strip() != str(size):
        raise NotThere(_why(answer, path))
    return {"bytes_written": size, "dirs_created": made, "verified": True}


def patch(values):
    a = Arguments("patch", values)
    mode = a.text("mode", "replace")
    a.any_of(("cross_profile",))
    if mode == "replace":
        path, old, new = _path(a), a.text("old_string"), a.text("new_string")
        if not old:
            raise Unfit("patch: old_string is empty; use write_file to write a whole file")
        changes = [replacement(path, old, new, a.truth("replace_all"))]
        a.any_of(("patch",))
    elif mode == "patch":
        changes = sections(a.text("patch"))
        a.any_of(("path", "old_string", "new_string", "replace_all"))
    else:
        raise Unfit("patch: want replace or patch as mode")
    a.no_others()
    return Request("execute_code", {"code": program(changes)}, _patched)


def _patched(answer):
    try:
        result = json.loads(answer.output)
    except ValueError:
        result = None
    if not isinstance(result, dict):
        raise NotThere("The patch program failed in the sandbox: " + answer.output[-500:].strip())
    return result


def search_files(values):
    a = Arguments("search_files", values)
    pattern, path = a.text("pattern"), a.text("path", ".") or "."
    target = a.text("target", "content")
    target = {"grep": "content", "find": "files"}.get(target, target)
    glob, mode = a.text("file_glob", ""), a.text("output_mode", "content")
    offset, limit = a.whole("offset", 0, most=1 << 20), a.whole("limit", 50, least=1, most=MOST_FOUND)
    context = a.whole("context", 0, most=20)
    a.no_others()
    if target not in ("content", "files") or mode not in ("content", "files_only", "count"):
        raise Unfit("search_files: want content or files as target; content, files_only or count as output_mode")
    if target == "files":
        command, shape = _find(pattern, path), _files
    else:
        command, shape = _grep(pattern, path, glob, mode, context), {"content": _matches, "files_only": _names, "count": _counts}[mode]
    command += " | head -n %d" % (offset + limit + 1 if context == 0 or shape is not _matches else (offset + limit + 1) * (2 * context + 2))
    return _command(command, "", lambda answer: _page(answer, shape, offset, limit))


def _find(pattern, path):
    kind = "-path" if "/" in pattern else "-name"
    pattern = "*/" + pattern.removeprefix("**/") if kind == "-path" and not pattern.startswith(("/", "*")) else pattern
    return "find %s -type f -not -path '*/.*' %s %s -printf '%%T@ %%p\\n' | sort -rn" % (_word(path), kind, shlex.quote(pattern))


def _grep(pattern, path, glob, mode, context):
    options = {"content": "-nH", "files_only": "-l", "count": "-cH"}[mode]
    words = ["grep", "-rIP", options, "--null" if mode == "content" else "", "-C %d" % context if context and mode == "content" else "",
             "--exclude-dir='.?*'", "--include=" + shlex.quote(glob) if glob else "", "-e", shlex.quote(pattern), "--", _word(path)]
    after = {"content": " | cut -c 1-600", "count": " | grep -v ':0$'"}.get(mode, "")
    return " ".join(word for word in words if word) + after


def _page(answer, shape, offset, limit):
    lines = [line for line in answer.output.split("\n") if line]
    found = shape(lines)
    key, all_found = next(iter(found.items()))
    if not all_found and lines:
        raise NotThere(" ".join(lines)[:500])
    page = dict(list(all_found.items())[offset:offset + limit]) if isinstance(all_found, dict) else all_found[offset:offset + limit]
    result = {"total_count": len(all_found)}
    if page:
        result[key] = page
    if len(all_found) > offset + limit or answer.truncated:
        result.update(truncated=True, total_count_is_lower_bound=True,
                      hint="Use offset=%d to see more, or narrow with a more specific pattern or file_glob." % (offset + limit))
    return result


_MATCH = re.compile(r"(?s)(.*?)\0(\d+)([:-])(.*)")


def _matches(lines):
    found = [m for m in map(_MATCH.fullmatch, lines) if m]
    return {"matches": [{"path": m[1], "line": int(m[2]), "content": m[4][:500]} for m in found]}


def _names(lines):
    return {"files": [line for line in lines if not line.startswith("grep: ")]}


def _counts(lines):
    pairs = (line.rpartition(":") for line in lines if not line.startswith("grep: "))
    return {"counts": {path: int(count) for path, _, count in pairs if count.isdigit()}}


def _files(lines):
    found = (re.fullmatch(r"\d+\.\d+ (.*)", line) for line in lines)
    return {"files": [m[1] for m in found if m]}


def _command(command, stdin, shape):
    return Request("terminal", {"command": command, "stdin": stdin, "timeout": usual_timeout()}, shape)


def _path(a):
    path = a.text("path")
    if not path or "\0" in path or "\n" in path:
        raise Unfit("want a path without line breaks as path")
    return path


def _word(path):
    """A path as one word of a command; only a home folder at its start is left to the shell."""
    home, slash, rest = path.partition("/")
    if home != "~":
        return shlex.quote(path)
    return "~" + slash + (shlex.quote(rest) if rest else "")


def _why(answer, path):
    said = answer.output.strip()
    if "No such file or directory" in said:
        return "File not found: " + path
    return said[-500:] or "%s: it failed with exit code %d" % (path, answer.exit_code)
