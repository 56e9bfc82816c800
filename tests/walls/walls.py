#!/usr/bin/env python3
"""Checks the walls of the source tree; see docs/internals/architecture.md.

usage: walls.py CHECK ROOT

CHECK: includes, rooms, doors, sizes, types, format, links, columns, claims,
defaults or version.

Prints one line for each breach and exits 1 when there is one.
"""

import ast
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
    "python": {"pipeline", "records", "preprocess", "base"},
    "bench": set(STATIONS),
    "examples": {"pipeline", "records", "preprocess", "base"},
}

# The rooms of trainer/ that use LibTorch. No other room includes it, and no
# source of the library without it includes a header of theirs.
TORCH_ROOMS = "cuda|groups|launch|loop|network|optimizer"

# One door per dependency: pattern of the include -> where it may stand; a room
# where the dependency has one of its own.
DOORS = [
    (r"j(peglib|error|morecfg)\.h",
     r"preprocess/jpeg(_\w+)?/.*|bench/decoder/rivals\.cc"),
    (r"png\.h", r"preprocess/codecs/png_codec\.cc"),
    (r"webp/.*", r"preprocess/codecs/webp_codec\.cc"),
    (r"zlib\.h", r"records/tfrecord/byte_stream\.cc"),
    (r"opencv2/.*",
     r"preprocess/codecs/opencv_codecs\.cc|bench/decoder/rivals\.cc|"
     r"bench/micro/resize_bench\.cc"),
    (r"(oneapi/)?tbb/.*",
     r"pipeline/engine/(input_graph|closed_arena)\.cc|tools/convert/graph\.cc"),
    (r"google/protobuf/.*|.*\.pb\.h",
     r"trainer/(formats/(onnx_file|tensor_bundle)|log/summary_writer)\.cc"),
    (r"grpc(pp)?/.*", r"pipeline/rpc/.*"),
    (r"(torch|ATen|c10)/.*",
     rf"trainer/({TORCH_ROOMS})/.*|bench/micro/optimizer_bench\.cc"),
    (r"(cuda|cooperative_groups|cub)\w*(/.*|\.h)|nccl\.h",
     r"trainer/(cuda|kernels)/.*"),
    (r"cudnn\w*\.h", r"trainer/kernels/cudnn_graph\.cc"),
    (r"nlohmann/.*",
     r"records/(files/dataset_info\.cc|http/google_token\.cc|bytes/json\.h)|"
     r"pipeline/(engine/bad_record_ledger|stats/text|order/stream_state|"
     r"remote/stream_settings)\.cc|"
     r"tools/(cli/report_table|convert/finished_shard|rewrite/shard_repair)\.h|"
     r"(trainer|tools|bench)/.*\.cc"),
    (r"curl/.*", r"records/http/http_client\.cc"),
    (r"pugixml\.hpp", r"records/http/object_xml\.cc|tools/images/voc\.cc"),
    (r"fmt/.*", r"(base/charts|pipeline/(options|order|stats)|trainer|tools|bench)/.*"),
    (r"CLI/.*", r"(tools|bench)/.*"),
    (r"yaml-cpp/.*", r"trainer/params/.*\.cc|tools/images/data_yaml\.cc"),
    (r"openssl/.*",
     r"records/(bytes/sha256|http/(google_token|key_pair|sigv4))\.cc"),
    (r"infeed/.*", r"examples/.*"),
    (r"nanobind/.*", r"python/module/.*"),
    (r"benchmark/.*", r"bench/micro/.*\.cc"),
    (r"isa-l/.*", r"records/(bytes/crc32c|archives/zip_entry)\.cc"),
    (r"utf8proc\.h", r"records/bytes/plain_text\.cc"),
    (r"linux/perf_event\.h", r"bench/common/cpu_counters\.cc"),
    (r"hwy/.*|immintrin\.h",
     r"preprocess/\w+/[\w-]+(-inl\.h|\.cc)|"
     r"pipeline/order/permutation_lanes\.cc|records/example/varint_block\.cc"),
]

# Headers that are part of C, C++ or POSIX.
STANDARD = re.compile(r"[a-z_0-9]+|[a-z_0-9]+\.h|(sys|netinet|arpa)/\w+\.h")

MAX_HEADER, MAX_SOURCE, MAX_FUNCTION = 200, 500, 60
MOST_COLUMNS = 120  # of a page
LEAST_PAIRS, MOST_PAIRS = 4, 20

# The folders whose sources lie in rooms.
ROOMY = [*STATIONS, "bench", "python"]

# What a page of Markdown links to or shows, and which of it is elsewhere.
LINK = re.compile(r"\]\(([^)\s]+)\)")
URL = re.compile(r"[a-z]+:")
SEPARATOR = re.compile(r"\|([ :-]+\|)+")  # below the head of a table

# Tests, and how pages name a default: `a` (3), `a` (default 3), `a` is 3 by
# default; an argument of a table.
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", re.M)
PYTHON_TEST = re.compile(r"^\s+def (test_\w+)", re.M)
DEFAULTS = [re.compile(pattern) for pattern in (
    r"`(\w+)` \((?:default:? )?`?(-?\d[\d.,]*(?: ?[KMG]i?B)?)`?\)",
    r"`(\w+)` \(default:? `?([\w.]+)`?[);]",
    r"`(\w+)` is `?(-?\d[\d.,]*\w*)`? by default")]
ARGUMENT = re.compile(r"^\| `(\w+)=([\w.\"]+)` \|", re.M)

HEADER_LIST = re.compile(r"\bset\((\w+)\s+([^)]*)\)")
MOST_INSTALLED = 40  # headers

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


def room_of(name):
    """The folder of a source: a room, or a station's own."""
    return name.rsplit("/", 1)[0]


def check_includes(root):
    for path, name in sources(root, MAY_INCLUDE):
        folder = name.split("/")[0]
        for _, target in INCLUDE.findall(path.read_text()):
            other = target.split("/")[0]
            if other in ("tests", "bench") and folder != "bench":
                yield f"{name}: includes {target}: nothing includes {other}/"
            elif (other in STATIONS and other != folder and
                  other not in MAY_INCLUDE[folder]):
                yield f"{name}: includes {target}: the way is one-way"


def host_sources(root):
    """The sources of trainer/ in the library without LibTorch."""
    for path in (root / "trainer").glob("*/CMakeLists.txt"):
        for names in re.findall(r"infeed_room\(trainer_host\s([^)]*)\)",
                                path.read_text()):
            for name in re.findall(r"[\w-]+\.cc", names):
                yield path.parent / name


def check_torch(root):
    """LibTorch's boundary is one of rooms: see TORCH_ROOMS."""
    for source in sorted(host_sources(root)):
        name = source.relative_to(root).as_posix()
        if re.match(rf"trainer/({TORCH_ROOMS})/", name):
            yield f"{name}: the room uses LibTorch, the library does not"
        for path in (source, source.with_suffix(".h")):
            text = path.read_text() if path.exists() else ""
            for _, target in INCLUDE.findall(text):
                if re.match(rf"trainer/({TORCH_ROOMS})/", target):
                    yield f"{name}: includes {target}, whose room uses LibTorch"


def circles(edges):
    """The nodes of {node: {node, ...}} that lead back to themselves."""
    def reached(start):
        found, todo = set(), [start]
        while todo:
            for node in edges.get(todo.pop(), ()):
                if node not in found:
                    found.add(node)
                    todo.append(node)
        return found
    return {node for node in edges if node in reached(node)}


def check_rooms(root):
    """Two levels, neither large nor tiny rooms, and between rooms one way."""
    pairs, edges = {}, {}
    for path, name in sources(root, ROOMY):
        room = room_of(name)
        if room.count("/") != 1 and room != "base":
            yield f"{name}: sources lie in rooms, FOLDER/ROOM/"
        pairs.setdefault(room, set()).add(name.rsplit(".", 1)[0])
        for kind, target in INCLUDE.findall(path.read_text()):
            other = room_of(target) if "/" in target else room
            if kind == '"' and other != room and target.split("/")[0] in ROOMY:
                edges.setdefault(room, {}).setdefault(other, (name, target))
    for room, found in sorted(pairs.items()):
        if not LEAST_PAIRS <= len(found) <= MOST_PAIRS:
            yield (f"{room}: {len(found)} pairs, rooms have {LEAST_PAIRS} to "
                   f"{MOST_PAIRS}")
    yield from check_torch(root)
    inside = circles(edges)
    for room in sorted(inside):
        for other, (name, target) in sorted(edges[room].items()):
            if other in inside and room in edges.get(other, ()):
                yield (f"{name}: includes {target}, and {other} includes "
                       f"{room}: between rooms there is one way")
    if inside and not any(a in edges.get(b, ()) for a in inside
                          for b in edges[a]):
        yield f"{', '.join(sorted(inside))}: include each other in a circle"


def door_of(target):
    """Where an include may stand: a pattern, or None for the standard's."""
    for pattern, allowed in DOORS:
        if re.fullmatch(pattern, target):
            return allowed
    return None if STANDARD.fullmatch(target) else "nowhere"


def installed_headers(root):
    """The headers that programs outside include, and the other installed ones,
    as cmake/installed_headers.cmake lists them."""
    lists = dict(HEADER_LIST.findall(
        (root / "cmake/installed_headers.cmake").read_text()))
    return (lists["infeed_doors"].split(), lists["infeed_behind_doors"].split())


def check_installed(root, doors, others):
    """What is installed is what the doors need, and not much."""
    needed, todo = set(), list(doors)
    while todo:
        name = todo.pop()
        path = root / name
        if not path.exists():
            yield f"cmake/installed_headers.cmake: there is no {name}"
        elif name not in needed:
            needed.add(name)
            todo += [target for kind, target
                     in INCLUDE.findall(path.read_text()) if kind == '"']
    for name in others:
        if name not in needed:
            yield f"{name}: is installed, and no door includes it"
    count = len(doors) + len(others)
    if count > MOST_INSTALLED:
        yield f"{count} headers are installed, more than {MOST_INSTALLED}"


def check_doors(root):
    doors, others = installed_headers(root)
    yield from check_installed(root, doors, others)
    public = {*doors, *others}
    for path, name in sources(root, MAY_INCLUDE):
        for kind, target in INCLUDE.findall(path.read_text()):
            if kind == '"' and not target.endswith(".pb.h"):
                if name in public and target not in public:
                    yield f"{name}: an installed header includes {target}"
                continue
            door = door_of(target)
            if door is None:
                continue
            own = target.removeprefix("infeed/")
            if own != target and own not in public:
                yield f"{name}: includes {target}, which is not installed"
            if not re.fullmatch(door, name):
                yield f"{name}: {target} has its door elsewhere ({door})"
            elif name in public:
                yield f"{name}: an installed header includes {target}"


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


def pages(root):
    return sorted({*root.glob("*.md"), *root.glob("*/README.md"),
                   *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")})


def check_columns(root):
    for page in pages(root):
        for number, line in enumerate(page.read_text().split("\n"), 1):
            if len(line) > MOST_COLUMNS:
                yield (f"{page.relative_to(root)}:{number}: {len(line)} "
                       f"columns; at most {MOST_COLUMNS}")
        yield from (f"{page.relative_to(root)}:{number}: a table begins with "
                    "this row, but without a line such as |---|---| below: "
                    "remove the empty line above"
                    for number in headless(page))


def headless(page):
    """The rows behind an empty line that are not the head of a table."""
    lines = page.read_text().split("\n") + [""]
    return [number for number in range(2, len(lines))
            if lines[number - 1].startswith("|") and not lines[number - 2]
            and not SEPARATOR.fullmatch(lines[number])]


def check_links(root):
    for page in pages(root):
        for target in LINK.findall(page.read_text()):
            path, _, anchor = target.partition("#")
            to = page.parent / path if path else page
            if not URL.match(target) and not (
                    to.exists() and (not anchor or anchor in anchors(to))):
                yield f"{page.relative_to(root)}: {target} leads nowhere"


def test_names(root):
    """What a page may call a test: the suites and tests of GoogleTest, the
    methods of Python's tests with their file, and files under tests/ and
    bench/."""
    names = set()
    for path in [*root.glob("tests/**/*.cc"), *root.glob("tests/**/*.py"),
                 *root.glob("bench/**/*.py")]:
        names |= {path.stem, path.name, f"{path.parent.name}/{path.stem}"}
        text = path.read_text()
        for suite, name in TEST.findall(text):
            names |= {suite, name, f"{suite}.{name}"}
        names |= {f"{path.stem}.{name}" for name in PYTHON_TEST.findall(text)}
    return names


def tables(page):
    """The tables of a page: the cells of their rows, the head first."""
    table = []
    for line in page.read_text().split("\n") + [""]:
        if line.startswith("|"):
            table.append([cell.strip() for cell in
                          re.split(r"(?<!\\)\|", line)[1:-1]])
        elif table:
            yield table
            table = []


def check_claims(root):
    """Tables with a last column of tests name tests that there are; the list of
    guarantees, tests/walls/claims.txt, names a page and a test for each."""
    known = test_names(root)
    for page in pages(root):
        for head, _, *rows in tables(page):
            if not head[-1].startswith("test"):
                continue
            yield from (f"{page.relative_to(root)}: {test}: there is no such "
                        "test" for row in rows
                        for test in re.findall(r"`([^`]+)`", row[-1])
                        if test not in known)
    titles = {page.stem for page in pages(root)}
    claims = (root / "tests/walls/claims.txt").read_text()
    for number, line in enumerate(claims.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        title, _, test = (line.split(" | ") + ["", ""])[:3]
        name = f"tests/walls/claims.txt:{number}"
        if title not in titles:
            yield f"{name}: {title}: there is no such page"
        if test not in known:
            yield f"{name}: {test}: there is no such test"


def same_value(value):
    """A default in a form in which its spellings are equal."""
    return re.sub(r"[\s,`\"]", "", value).removesuffix(".0").lower()


def listed_defaults(root):
    """Of docs/options.md, which the program's own tables write: a parameter and
    an option of one name may differ."""
    text = " ".join((root / "docs/options.md").read_text().split())
    defaults = {}
    for name, value in re.findall(r"- `(\w+)` \(default ([^\s;)]*)", text):
        defaults.setdefault(name, set()).add(same_value(value))
    return defaults


def loader_defaults(root):
    """Of infeed.Loader's own arguments."""
    module = ast.parse((root / "python/infeed/loader.py").read_text())
    loader = next(node for node in module.body
                  if isinstance(node, ast.ClassDef) and node.name == "Loader")
    init = next(node for node in loader.body
                if isinstance(node, ast.FunctionDef) and
                node.name == "__init__")
    return {argument.arg: {same_value(ast.unparse(value).replace("'", ""))}
            for argument, value in zip(init.args.kwonlyargs,
                                       init.args.kw_defaults) if value}


def check_defaults(root):
    """A default that a page names is the program's."""
    listed, arguments = listed_defaults(root), loader_defaults(root)
    for page in sorted(root.glob("docs/**/*.md")):
        text = " ".join(page.read_text().split())
        found = [(name, value, listed) for pattern in DEFAULTS
                 for name, value in pattern.findall(text)]
        if page.name == "python.md":
            found += [(name, value, listed | arguments) for name, value in
                      ARGUMENT.findall(page.read_text())]
        for name, value, known in found:
            if name in known and same_value(value) not in known[name]:
                yield (f"{page.relative_to(root)}: default of {name}: {value}; "
                       f"it is {' or '.join(sorted(known[name]))}")


def check_version(root):
    """The version is the same wherever it stands, and in a release's tag."""
    project = re.search(r"project\(infeed VERSION (\S+)",
                        (root / "CMakeLists.txt").read_text())[1]
    for name, pattern in (
            ("pyproject.toml", r'^version = "(.*)"'),
            ("python/infeed/__init__.py", r'^__version__ = "(.*)"'),
            ("packaging/conda/recipe/recipe.yaml", r'^  version: "(.*)"'),
            ("CHANGELOG.md", r"^## .*?(\d[\w.]*)")):
        found = re.search(pattern, (root / name).read_text(), re.M)
        if not found or found[1] != project:
            yield (f"{name}: version {found and found[1]}, CMakeLists.txt has "
                   f"{project}")
    tags = subprocess.run(["git", "-C", root, "tag", "--points-at", "HEAD"],
                          capture_output=True, text=True, check=False).stdout
    for tag in tags.split():
        if re.fullmatch(r"v\d.*", tag) and tag != f"v{project}":
            yield f"tag {tag}: CMakeLists.txt has {project}"


def main():
    check, root = sys.argv[1], pathlib.Path(sys.argv[2])
    checks = {"includes": check_includes, "rooms": check_rooms,
              "doors": check_doors,
              "sizes": check_sizes, "types": check_types,
              "format": check_format, "links": check_links,
              "columns": check_columns, "claims": check_claims,
              "defaults": check_defaults, "version": check_version}
    breaches = list(checks[check](root))
    print("\n".join(breaches) or f"{check}: no breach")
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
