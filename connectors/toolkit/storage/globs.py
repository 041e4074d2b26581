"""Path patterns of Hadoop (``GlobPattern``, ``GlobExpander``, ``Globber``). Both sides.

``*``, ``?``, ``[abc]``, ``[a-c]``, ``[^a]``, ``[!a]``, ``{one,other}`` and a backslash before a character are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from connector_spi.errors import FileMissingError
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, join_path

__all__ = ["find_paths", "glob_regex", "is_glob"]

_PARTS = {"*": ".*", "?": ".", "{": "(?:", "}": ")", ",": "|", "[": "["}
_SPECIAL = frozenset("*?[{\\")
_ROOT = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:(?://[^/]*)?)?/")


def glob_regex(pattern: str) -> str:
    """The regular expression of a pattern, to match whole texts; ``*`` and ``?`` match slashes, too.

    Raises:
        ValueError: A bracket, brace or backslash is not closed.
    """
    regex, braces, brackets = "", 0, False
    letters = iter(pattern)
    for letter in letters:
        if letter == "\\":
            following = next(letters, None)
            if following is None:
                raise _unclosed(pattern)
            regex += re.escape(following)
        elif brackets:
            regex += "^" if letter == "!" and regex.endswith("[") else letter if letter in "^-]" else re.escape(letter)
            brackets = letter != "]"
        elif letter in _PARTS and (letter not in ",}" or braces):
            regex += _PARTS[letter]
            braces += {"{": 1, "}": -1}.get(letter, 0)
            brackets = letter == "["
        else:
            regex += re.escape(letter)
    if braces or brackets:
        raise _unclosed(pattern)
    return regex


def is_glob(path: str) -> bool:
    """Whether a path is a pattern. A file whose name has such a character is named with a backslash before it."""
    return not _SPECIAL.isdisjoint(path)


def find_paths(files: FileSystem, pattern: str) -> list[FileInfo]:
    """The files and directories that a pattern matches, hidden ones included, sorted by path, each once.

    Directories are listed only where a component of the path is a pattern.

    Args:
        files: Storage.
        pattern: A path as ``FileSystem`` takes it, with patterns anywhere behind its root; one without patterns
            matches the file or directory of that name.

    Raises:
        ValueError: A bracket, brace or backslash is not closed.
        StorageError: It is no absolute path, or storage refused.
    """
    found = {info.path: info for one in _without_slashes_in_braces(pattern) for info in _find(files, one)}
    return [found[path] for path in sorted(found)]


def _find(files: FileSystem, pattern: str) -> Iterable[FileInfo]:
    root = _ROOT.match(pattern)
    if root is None:
        # FileSystem says what it expects.
        info = files.info(pattern)
        return [] if info is None else [info]
    components = [component for component in pattern[root.end() :].split("/") if component]
    directories = [root[0]]
    for component in components[:-1]:
        if is_glob(component):
            found = (info for one in directories for info in _matches(files, one, component))
            directories = [info.path for info in found if info.is_directory]
        else:
            directories = [join_path(one, component) for one in directories]
    if not components or not is_glob(components[-1]):
        paths = [join_path(one, components[-1]) if components else one for one in directories]
        return [info for info in map(files.info, paths) if info is not None]
    return [info for one in directories for info in _matches(files, one, components[-1])]


def _matches(files: FileSystem, directory: str, component: str) -> Iterator[FileInfo]:
    """What of a directory matches; nothing where it is missing, or is a file."""
    fits = re.compile(glob_regex(component), re.DOTALL).fullmatch
    try:
        listed = files.list(directory)
    except FileMissingError:
        return
    yield from (info for info in listed if fits(info.name))


def _without_slashes_in_braces(pattern: str) -> list[str]:
    """The patterns that together match the same, with no slash inside of braces."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        group = _first_group_with_slash(one)
        if group is None:
            done.append(one)
            continue
        start, end = group
        waiting += [one[:start] + part + one[end + 1 :] for part in _alternatives(one[start + 1 : end])]
    return done


def _first_group_with_slash(pattern: str) -> tuple[int, int] | None:
    depth, start, has_slash = 0, 0, False
    for at, letter in _unescaped(pattern):
        if letter == "{":
            start, has_slash = (at, False) if depth == 0 else (start, has_slash)
            depth += 1
        elif letter == "}" and depth:
            depth -= 1
            if depth == 0 and has_slash:
                return start, at
        elif letter == "/":
            has_slash = has_slash or depth > 0
    if depth and has_slash:
        raise _unclosed(pattern)
    return None


def _alternatives(text: str) -> list[str]:
    depth, parts, start = 0, [], 0
    for at, letter in _unescaped(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def _unescaped(text: str) -> Iterator[tuple[int, str]]:
    escaped = False
    for at, letter in enumerate(text):
        if not escaped and letter != "\\":
            yield at, letter
        escaped = letter == "\\" and not escaped


def _unclosed(pattern: str) -> ValueError:
    return ValueError(f"the pattern {pattern!r} has a bracket, brace or backslash that is not closed")
