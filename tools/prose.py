#!/usr/bin/env python3
"""Counts the sentences of comments and Markdown that are hard to read.

usage: tools/prose.py [--list] [PATH...]

A sentence counts if it has a marker: a construction that native readers stumble over. CONTRIBUTING
says how to write instead. Without a path it reads all tracked files. Exits with 1 where more than
1 % of the sentences of a kind of file have a marker. With --list it prints each of them. Examples
of code and tables are left out.
"""
import re
import subprocess
import sys
from pathlib import Path

MOST_PERCENT = 1
CODE = {".rs", ".cpp", ".hpp", ".c", ".h", ".cu", ".cuh"}
# Files with text that tools compare with compilers or with earlier versions, or that are generated.
SKIPPED = ("tests/abi/frozen/", "/compile_fail/", "capi/include/tenure/", "docs/support.md")
MARKERS = [
    re.compile(marker)
    for marker in (
        r"^What\b(?!.*\?$)",
        r"^Of\b",
        r"^(Those|That of|That which|The others|The same|The rest)\b",
        r"^As [`\[a-z]",
        r"\bof which\b",
        r"\bone's own\b",
        r"\b(nobody|somebody|whoever)\b",
        r"\bwhat (is|are|was|were|has|have|it|they|stands|lies|others|follows)\b",
        r"(?<!left )\balone\b",
        r"\b(beside|side by side)\b",
        r"\bin the place of\b",
        r"\bbut for\b",
        r"\bso many\b",
        r"\b(is|are|was|were|be) (told|asked|said)\b",
        r"\b(that|which) (is|are) there\b",
    )
]


def lines_of_text(path, text):
    """Yields each line of prose; None between paragraphs."""
    is_fenced = False
    for line in text.split("\n"):
        line = line.strip()
        if path.suffix in CODE:
            comment = re.match(r"(//[/!]?|/\*+!?|\*+/?)\s?(.*)", line)
            line = comment[2].strip() if comment else ""
        if line.startswith("```"):
            is_fenced = not is_fenced
        if is_fenced or not line or line.startswith(("```", "|", "#", "<")):
            yield None
            continue
        item = re.match(r"([-*]|\d+\.)\s+", line)
        if item:
            yield None
        yield line[item.end() :] if item else line


def sentences(path, text):
    paragraph = []
    for line in [*lines_of_text(path, text), None]:
        if line is not None:
            paragraph.append(line)
            continue
        for sentence in re.split(r"(?<=[.:;!?])\s+(?=[A-Z`])", " ".join(paragraph)):
            if len(sentence) >= 12 and re.search(r"[a-z]{3}", sentence):
                yield sentence
        paragraph = []


def kind_of(path):
    if path.suffix == ".md":
        return "Markdown"
    return "tests" if "tests" in path.parts else "code"


def main():
    arguments = sys.argv[1:]
    is_listing = "--list" in arguments
    paths = [argument for argument in arguments if argument != "--list"]
    tracked = subprocess.run(
        ["git", "ls-files", "--", *paths], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    counts = {}
    for name in tracked:
        path = Path(name)
        if path.suffix not in CODE | {".md"} or any(part in name for part in SKIPPED):
            continue
        if not path.is_file():
            continue
        count = counts.setdefault(kind_of(path), [0, 0])
        for sentence in sentences(path, path.read_text(encoding="utf-8", errors="ignore")):
            is_marked = any(marker.search(sentence) for marker in MARKERS)
            count[0] += 1
            count[1] += is_marked
            if is_marked and is_listing:
                print(f"{name}: {sentence[:160]}")
    is_readable = True
    for kind, (total, marked) in sorted(counts.items()):
        share = 100 * marked / max(total, 1)
        is_readable &= share <= MOST_PERCENT
        print(f"{kind}: {marked} of {total} sentences are hard to read, {share:.1f} %")
    sys.exit(not is_readable)


if __name__ == "__main__":
    main()
