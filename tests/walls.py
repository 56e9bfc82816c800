#!/usr/bin/env python3
"""Checks the walls of the source tree; see docs/architecture.md.

usage: walls.py includes|doors|sizes|types|format|links ROOT

Prints one line for each breach and exits 1 when there is one.
"""

import pathlib
import re
import subprocess
import sys

STATIONS = ["base", "records", "preprocess", "pipeline", "trainer", "tools"]

# Whom a folder's files may include, itself apart.
MAY_INCLUDE = {
    "base": set(),
    "records": {"base"},
    "preprocess": {"base"},
    "pipeline": {"records", "preprocess", "base"},
    "trainer": {"pipeline", "records", "preprocess", "base"},
    "tools": {"trainer", "pipeline", "records", "preprocess", "base"},
    "bench": set(STATIONS),
    "examples": {"pipeline", "records", "preprocess", "base"},
}

# One door per dependency: pattern of the include -> where it may stand.
DOORS = [
    (r"j(peglib|error|morecfg)\.h",
     r"preprocess/jpeg\w*\.(cc|h)|bench/decode_rivals\.cc"),
    (r"png\.h", r"preprocess/png_image\.cc"),
    (r"zlib\.h", r"records/(inflate_stream|deflate_sink)\.cc"),
    (r"opencv2/.*",
     r"preprocess/opencv_(image|codecs)\.cc|bench/(resize_bench|decode_rivals)\.cc"),
    (r"(oneapi/)?tbb/.*",
     r"pipeline/(input_graph|closed_arena)\.cc|tools/conversion_graph\.cc"),
    (r"google/protobuf/.*|.*\.pb\.h",
     r"(records/(imagenet_example|example_reader)|"
     r"trainer/(onnx_file|summary_writer|tensor_bundle))\.cc"),
    (r"(torch|ATen|c10)/.*",
     r"trainer/(batch_norm\w*|convolution|cuda_\w*|device_\w*|flat_\w*|fused_\w*|gloo_\w*|"
     r"gradient_\w*|group_seat|loss|lenet|network\w*|optimizer\w*|rank_store|"
     r"resnet(_block)?|tcp_\w*|torch\w*)\.(cc|h|cu)"),
    (r"(cuda|cooperative_groups|cub)\w*(/.*|\.h)|nccl\.h",
     r"trainer/cuda_\w*\.(cc|h|cu)"),
    (r"nlohmann/.*", r"records/(dataset_info\.cc|google_token\.cc|json\.h)|"
                     r"pipeline/(bad_record_report|stats_json|stream_state)\.cc|"
                     r"(trainer|tools|bench)/.*\.cc"),
    (r"zip\.h", r"trainer/zip_archive\.cc"),
    (r"curl/.*", r"records/http_client\.cc"),
    (r"pugixml\.hpp", r"records/object_xml\.cc"),
    (r"(CLI|fmt)/.*", r"(trainer|tools|bench)/.*"),
    (r"yaml-cpp/.*", r"trainer/param\w*\.cc"),
    (r"openssl/.*", r"records/(sigv4|google_token)\.cc|tools/duplicates\.cc|"
                    r"bench/.*\.cc"),
    (r"benchmark/.*", r"bench/.*\.cc"),
    (r"isa-l/.*", r"records/crc32c\.cc"),
    (r"linux/perf_event\.h", r"bench/cpu_counters\.cc"),
    (r"hwy/.*|immintrin\.h", r"preprocess/\w+(-inl\.h|\.cc)"),
]

# Headers that are part of C, C++ or POSIX.
STANDARD = re.compile(r"[a-z_0-9]+|[a-z_0-9]+\.h|(sys|netinet|arpa)/\w+\.h")

MAX_HEADER, MAX_SOURCE, MAX_FUNCTION = 200, 500, 60

# What a page of Markdown links to or shows, and which of it is elsewhere.
LINK = re.compile(r"\]\(([^)\s]+)\)")
URL = re.compile(r"[a-z]+:")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


# How a type is defined: the character that ends it -> what stands before.
DEFINITION = {
    "{": re.compile(r"\b(?:struct|class|enum|union)\s+"
                    r"(?:alignas\([^()]*\)\s*|\[\[[^\]]*\]\]\s*)?"
                    r"(\w+)\s*(?:\bfinal\s*)?(?::(?!:)[^()]*)?$"),
    ";": re.compile(r"\busing\s+(\w+)\s*="),
}


def sources(root, folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc", ".cu"):
                yield path, path.relative_to(root).as_posix()


def check_includes(root):
    for path, name in sources(root, MAY_INCLUDE):
        folder = name.split("/")[0]
        for _, target in INCLUDE.findall(path.read_text()):
            other = target.split("/")[0]
            if other in ("tests", "bench") and folder != "bench":
                yield f"{name}: includes {target}: nothing includes {other}/"
            elif other in STATIONS and other != folder:
                if other not in MAY_INCLUDE[folder]:
                    yield f"{name}: includes {target}: the way is one-way"
    for folder in STATIONS:
        for path in (root / folder).iterdir():
            if path.is_dir():
                yield f"{folder}/{path.name}: station folders are flat"
    if len(list((root / "base").glob("*.[hc]*"))) > 6:
        yield "base: holds more than six files"


def door_of(target):
    """Where an include may stand: a pattern, or None for the standard's."""
    for pattern, allowed in DOORS:
        if re.fullmatch(pattern, target):
            return allowed
    return None if STANDARD.fullmatch(target) else "nowhere"


def check_doors(root):
    for path, name in sources(root, MAY_INCLUDE):
        for kind, target in INCLUDE.findall(path.read_text()):
            if kind == '"' and not target.endswith(".pb.h"):
                continue
            door = door_of(target)
            if door is None:
                continue
            if not re.fullmatch(door, name):
                yield f"{name}: {target} has its door elsewhere ({door})"
            elif name.endswith(".h") and not may_show_libraries(name):
                yield f"{name}: a public header includes {target}"


def may_show_libraries(header):
    # Headers that are not installed.
    return re.match(r"(trainer|tools|bench)/|records/json\.h|"
                    r"preprocess/(jpeg_\w+|.*-inl)\.h",
                    header)


def without_literals(text):
    """The text with comments, strings and characters blanked out."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def braces(text):
    """Yields (character, what stands before it, line) of every ; { and }."""
    text = without_literals(text)
    text = re.sub(r"^\s*#[^\n]*(\\\n[^\n]*)*", lambda m: re.sub(
        r"[^\n]", " ", m.group()), text, flags=re.M)
    start, line = 0, 1
    for i, c in enumerate(text):
        if c == "\n":
            line += 1
        elif c in ";{}":
            yield c, text[start:i], line
            start = i + 1


def functions(text):
    """Yields (first line, lines) of every function body in a file."""
    stack = []
    for c, head, line in braces(text):
        if c == "{":
            outside = all(kind == "scope" for kind, _ in stack)
            if re.search(r"\b(namespace|class|struct|enum|union|extern)\b[^()]*$",
                         head):
                kind = "scope"
            else:
                is_data = head.rstrip().endswith(("(", ",", "="))
                kind = ("function" if outside and "(" in head and not is_data
                        else "block")
            stack.append((kind, line))
        elif c == "}" and stack:
            kind, first = stack.pop()
            if kind == "function":
                yield first, line - first + 1


def types(text):
    """Yields the name of every type that a file defines for the whole program,
    with its namespaces: a::B."""
    stack = []  # the namespaces; None: a brace of another kind, or unnamed
    for c, head, _ in braces(text):
        if None not in stack:
            defined = re.search(DEFINITION[c], head) if c in DEFINITION else None
            if defined:
                yield "::".join([*stack, defined.group(1)])
        if c == "{":
            space = re.search(r"\bnamespace\s+([\w:]+)\s*$", head)
            stack.append(space.group(1) if space else None)
        elif c == "}" and stack:
            stack.pop()


def check_sizes(root):
    for path, name in sources(root, MAY_INCLUDE):
        text = path.read_text()
        lines = text.count("\n")
        is_header = name.endswith(".h") and not name.endswith("-inl.h")
        limit = MAX_HEADER if is_header else MAX_SOURCE
        if lines > limit:
            yield f"{name}: {lines} lines, more than {limit}"
        for first, length in functions(text):
            if length > MAX_FUNCTION:
                yield (f"{name}:{first}: a function of {length} lines, more "
                       f"than {MAX_FUNCTION}")


def check_types(root):
    places = {}
    for path, name in sources(root, [*MAY_INCLUDE, "tests"]):
        for type_name in types(path.read_text()):
            places.setdefault(type_name, []).append(name)
    for type_name, names in places.items():
        if len(names) > 1:
            yield f"{type_name}: defined in {' and '.join(names)}"


def check_format(root):
    names = [str(p) for p, _ in sources(root, [*MAY_INCLUDE, "tests"])]
    result = subprocess.run(["clang-format", "--dry-run", *names],
                            capture_output=True, text=True, check=True)
    for line in result.stderr.splitlines():
        if "clang-format-violations" in line:
            yield line


def anchors(page):
    """What a link's # may name in a page: its headings, as GitHub does."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in headings}


def check_links(root):
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"),
             *root.glob("examples/**/*.md")]
    for page in sorted(pages):
        for target in LINK.findall(page.read_text()):
            path, _, anchor = target.partition("#")
            to = page.parent / path if path else page
            if not URL.match(target) and not (
                    to.exists() and (not anchor or anchor in anchors(to))):
                yield f"{page.relative_to(root)}: {target} leads nowhere"


def main():
    check, root = sys.argv[1], pathlib.Path(sys.argv[2])
    checks = {"includes": check_includes, "doors": check_doors,
              "sizes": check_sizes, "types": check_types,
              "format": check_format, "links": check_links}
    breaches = list(checks[check](root))
    print("\n".join(breaches) or f"{check}: no breach")
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
