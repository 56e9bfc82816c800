#!/usr/bin/env python3
"""Breaks each wall on purpose and checks that walls.py says so."""

import pathlib
import subprocess
import tempfile
import unittest

import walls


class WallsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for station in walls.MAY_INCLUDE:
            (self.root / station).mkdir()
        self.install([], [])

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def install(self, doors, others):
        self.write("cmake/installed_headers.cmake",
                   f"set(infeed_doors\n  {' '.join(doors)})\n"
                   f"set(infeed_behind_doors\n  {' '.join(others)})\n")

    def fill(self, room, pairs=4):
        for i in range(pairs):
            self.write(f"{room}/{i}.h", "")

    def breaches(self, check):
        return list(check(self.root))

    def test_the_way_is_one_way(self):
        self.write("records/a.cc", '#include "pipeline/b.h"\n')
        self.assertIn("one-way", self.breaches(walls.check_includes)[0])

    def test_the_two_middle_stations_do_not_know_each_other(self):
        self.write("preprocess/a.cc", '#include "records/b.h"\n')
        self.assertEqual(len(self.breaches(walls.check_includes)), 1)

    def test_downward_is_fine(self):
        self.write("trainer/a.cc", '#include "records/b.h"\n')
        self.assertEqual(self.breaches(walls.check_includes), [])

    def test_benchmarks_use_the_builders_of_the_tests(self):
        self.write("bench/a.cc", '#include "tests/support/b.h"\n')
        self.assertEqual(self.breaches(walls.check_includes), [])
        self.write("tools/a.cc", '#include "tests/support/b.h"\n')
        self.assertEqual(len(self.breaches(walls.check_includes)), 1)

    def test_sources_lie_in_rooms(self):
        self.fill("records/a")
        self.fill("base", 6)
        self.assertEqual(self.breaches(walls.check_rooms), [])
        self.write("records/a.cc", "")
        self.fill("records/a/deep")
        found = self.breaches(walls.check_rooms)
        for name in ("records/a.cc", "records/a/deep/0.h"):
            self.assertIn(f"{name}: sources lie in rooms, FOLDER/ROOM/", found)

    def test_the_library_without_torch_includes_no_room_with_it(self):
        self.write("trainer/loop/step.h", "#include <torch/torch.h>\n")
        self.write("trainer/feed/infeed.cc", "")
        self.write("trainer/feed/CMakeLists.txt",
                   "infeed_room(trainer_host\n  SOURCES\n    infeed.cc)\n")
        self.assertEqual(self.breaches(walls.check_torch), [])
        self.write("trainer/feed/infeed.h", '#include "trainer/loop/step.h"\n')
        self.assertEqual(
            self.breaches(walls.check_torch),
            ["trainer/feed/infeed.cc: includes trainer/loop/step.h, whose room "
             "uses LibTorch"])

    def test_a_room_with_torch_has_no_source_in_the_library_without_it(self):
        self.write("trainer/loop/CMakeLists.txt",
                   "infeed_room(trainer_host SOURCES step.cc)\n")
        self.assertEqual(
            self.breaches(walls.check_torch),
            ["trainer/loop/step.cc: the room uses LibTorch, the library does "
             "not"])

    def test_rooms_are_neither_tiny_nor_large(self):
        self.fill("records/a", 3)
        self.fill("records/b", 4)
        self.fill("records/c", 20)
        self.fill("records/d", 21)
        self.assertEqual(
            self.breaches(walls.check_rooms),
            [f"records/{room} pairs, rooms have 4 to 20"
             for room in ("a: 3", "d: 21")])

    def test_between_rooms_there_is_one_way(self):
        self.fill("records/a")
        self.fill("records/b")
        self.write("records/a/0.h", '#include "records/b/0.h"\n')
        self.assertEqual(self.breaches(walls.check_rooms), [])
        self.write("records/b/0.h", '#include "records/a/0.h"\n')
        self.assertEqual(len(self.breaches(walls.check_rooms)), 2)

    def test_longer_circles_of_rooms_are_found(self):
        for room in "abc":
            self.fill(f"records/{room}")
        for room, other in ("ab", "bc", "ca"):
            self.write(f"records/{room}/0.h",
                       f'#include "records/{other}/0.h"\n')
        self.assertIn("circle", self.breaches(walls.check_rooms)[0])

    def test_each_library_has_one_door(self):
        self.write("pipeline/order/a.cc", "#include <jpeglib.h>\n")
        self.write("preprocess/jpeg/a.cc", "#include <jpeglib.h>\n")
        self.assertEqual(len(self.breaches(walls.check_doors)), 1)

    def test_a_library_without_a_door_is_found(self):
        self.write("records/a.cc", "#include <boost/any.hpp>\n")
        self.assertIn("nowhere", self.breaches(walls.check_doors)[0])

    def test_an_installed_header_includes_installed_ones_alone(self):
        self.write("preprocess/jpeg/jpeg.h", "#include <jpeglib.h>\n")
        self.write("records/a/a.h", '#include "records/a/b.h"\n')
        self.assertEqual(self.breaches(walls.check_doors), [])
        self.write("records/a/b.h", "")
        self.install(["preprocess/jpeg/jpeg.h", "records/a/a.h"], [])
        self.assertEqual(
            self.breaches(walls.check_doors),
            ["records/a/a.h: an installed header includes records/a/b.h",
             "preprocess/jpeg/jpeg.h: an installed header includes jpeglib.h"])

    def test_a_header_that_no_door_includes_is_not_installed(self):
        self.write("records/a.h", '#include "records/b.h"\n')
        self.write("records/b.h", "")
        self.write("records/c.h", '#include "records/b.h"\n')
        self.install(["records/a.h"], ["records/b.h", "records/c.h"])
        self.assertEqual(
            self.breaches(walls.check_doors),
            ["records/c.h: is installed, and no door includes it"])

    def test_an_installed_header_is_there(self):
        self.install(["records/a.h"], [])
        self.assertIn("no records/a.h", self.breaches(walls.check_doors)[0])

    def test_few_headers_are_installed(self):
        names = [f"records/{i}.h" for i in range(walls.MOST_INSTALLED + 1)]
        for name in names:
            self.write(name, "")
        self.install(names[1:], [])
        self.assertEqual(self.breaches(walls.check_doors), [])
        self.install(names, [])
        self.assertIn("more than", self.breaches(walls.check_doors)[0])

    def test_examples_include_what_is_installed(self):
        self.write("pipeline/a/a.h", "")
        self.install(["pipeline/a/a.h"], [])
        self.write("examples/a.cc", "#include <infeed/pipeline/a/a.h>\n")
        self.assertEqual(self.breaches(walls.check_doors), [])
        self.write("examples/a.cc", "#include <infeed/pipeline/a/b.h>\n")
        self.assertIn("not installed", self.breaches(walls.check_doors)[0])

    def test_long_files_and_functions_are_found(self):
        self.write("base/a.h", "\n" * (walls.MAX_HEADER + 1))
        body = "  f('{', \"}\");  // }\n" * 60
        self.write("base/b.cc",
                   "namespace a {\nstruct B {\n  int c = 0;\n};\n"
                   f"int Long(int x) {{\n{body}}}\n}}\n")
        found = self.breaches(walls.check_sizes)
        self.assertEqual(len(found), 2)
        self.assertIn("base/b.cc:5: a function of 62 lines", found[1])

    def test_links_and_pictures_of_pages_lead_to_files(self):
        (self.root / "docs/guides").mkdir(parents=True)
        self.write("README.md",
                   "## It's *here*\n[a](docs/guides/a.md#top) "
                   "[b](#its-here) [c](#there)\n")
        self.write("docs/guides/a.md",
                   "# Top\n[up](../../README.md) "
                   "[out](https://example.org/x)\n"
                   "![lost](lost-picture.svg)\n")
        self.assertEqual(
            self.breaches(walls.check_links),
            ["README.md: #there leads nowhere",
             "docs/guides/a.md: lost-picture.svg leads nowhere"])

    def test_a_page_has_at_most_120_columns(self):
        self.write("README.md", f"# Top\n{'-' * 121}\n{'é' * 120}\n")
        self.assertEqual(self.breaches(walls.check_columns),
                         ["README.md:2: 121 columns; at most 120"])

    def test_a_row_behind_an_empty_line_is_the_head_of_a_table(self):
        self.write("README.md", "# Top\n\n| a | b |\n|:--|---|\n| 1 | 2 |\n"
                   "\n| 3 | 4 |\n| 5 | 6 |\n\nText\n\n| c |\n|---|\n\n| d |\n")
        self.assertEqual(
            [line.split(": ")[0] for line in
             self.breaches(walls.check_columns)], ["README.md:7", "README.md:15"])

    def test_tests_that_a_page_names_exist(self):
        self.write("tests/a/a_test.cc", "TEST_F(ATest, Holds) {\n")
        self.write("tests/a/b_test.py", "    def test_b(self):\n")
        table = "| failure | test |\n|---|---|\n| x | `%s` |\n| y | |\n\n"
        other = "| a | b |\n|---|---|\n| `C` | `D` |\n"
        self.write("docs/data.md", table % "ATest" + other)
        claims = ("# A heading\n\ndata | a | ATest.Holds\n"
                  "data | c | b_test.test_b\n")
        self.write("tests/walls/claims.txt", claims)
        self.assertEqual(self.breaches(walls.check_claims), [])
        self.write("docs/data.md", table % "BTest" + other)
        self.write("tests/walls/claims.txt", claims +
                   "data | d | ATest.Gone\nnone | e | ATest\ndata | f\n")
        name = "tests/walls/claims.txt:"
        self.assertEqual(self.breaches(walls.check_claims), [
            "docs/data.md: BTest: there is no such test",
            name + "5: ATest.Gone: there is no such test",
            name + "6: none: there is no such page",
            name + "7: : there is no such test"])

    def test_defaults_that_a_page_names_are_the_programs(self):
        self.write("docs/options.md", "- `memory` (default 4GiB; size): a.\n"
                   "- `rate` (default 0.1): b.\n- `checked` (default\n  1000;"
                   " at least 0): c.\n- `kind` (default none): d.\n")
        self.write("python/infeed/loader.py", "class Loader:\n"
                   "    def __init__(self, *, layout: str = 'rgb') -> None: ...\n")
        self.write("docs/a.md", "`memory` (default 4 GiB), `rate` is 0.1 by "
                   "default,\n`checked` (1,000), `kind` (a word), `own` (7)\n")
        self.write("docs/python.md", '| `layout="rgb"` | a |\n')
        self.assertEqual(self.breaches(walls.check_defaults), [])
        self.write("docs/a.md", "`memory` (8 GiB), `rate` is 1 by default, "
                   "`checked`\n(100), `kind` (default all)\n")
        self.write("docs/python.md", '| `layout="words"` | a |\n')
        self.assertEqual(
            [breach.split("default of ")[1]
             for breach in self.breaches(walls.check_defaults)],
            ["memory: 8 GiB; it is 4gib", "checked: 100; it is 1000",
             "kind: all; it is none", "rate: 1; it is 0.1",
             'layout: "words"; it is rgb'])

    def test_a_version_is_the_same_everywhere(self):
        self.write("CMakeLists.txt", "project(infeed VERSION 1.2.0\n")
        self.write("pyproject.toml", '[project]\nversion = "1.2.0"\n')
        self.write("python/infeed/__init__.py", '__version__ = "1.1.0"\n')
        self.write("packaging/conda/recipe/recipe.yaml",
                   'context:\n  version: "1.1.1"\n')
        self.write("CHANGELOG.md", "# Changelog\n## 1.2.0\n## 1.1.0\n")
        for command in (["init", "-q"], ["add", "."],
                        ["-c", "user.name=a", "-c", "user.email=a@b", "commit",
                         "-qm", "a"], ["tag", "v1.3.0"]):
            subprocess.run(["git", "-C", self.root, *command], check=True)
        self.assertEqual(
            self.breaches(walls.check_version),
            ["python/infeed/__init__.py: version 1.1.0, CMakeLists.txt has "
             "1.2.0",
             "packaging/conda/recipe/recipe.yaml: version 1.1.1, "
             "CMakeLists.txt has 1.2.0",
             "tag v1.3.0: CMakeLists.txt has 1.2.0"])

    def test_a_long_table_is_no_function(self):
        rows = '    {"a", &P::a, Between(0, 1)},\n' * 80
        self.write("base/b.cc",
                   f"const auto kTable = std::to_array<Row>({{\n{rows}}});\n")
        self.assertEqual(self.breaches(walls.check_sizes), [])

    def test_a_function_of_sixty_lines_is_fine(self):
        body = "  f();\n" * 58
        self.write("base/b.cc", f"int Fits(int x) {{\n{body}}}\n")
        self.assertEqual(self.breaches(walls.check_sizes), [])

    def test_a_type_has_one_definition(self):
        self.write("records/a.h", "namespace infeed {\nstruct A final : B {};\n"
                   "enum class E : int { kE };\nusing U = int;\n}\n")
        self.assertEqual(self.breaches(walls.check_types), [])
        self.write("tools/b.h", "namespace infeed {\nclass [[nodiscard]] A {};\n"
                   "enum class E { kE };\nusing U = long;\n}\n")
        self.assertEqual(self.breaches(walls.check_types),
                         [f"infeed::{name}: defined in records/a.h and tools/b.h"
                          for name in "AEU"])

    def test_a_source_may_not_define_the_type_of_a_header(self):
        self.write("records/a.h", "namespace infeed {\nstruct A {};\n}\n")
        self.write("tools/b.cc", "namespace infeed {\nstruct A {};\n}\n")
        self.assertEqual(len(self.breaches(walls.check_types)), 1)

    def test_types_of_other_scopes_may_share_a_name(self):
        self.write("records/a.h",
                   "namespace infeed {\nstruct A { struct C {}; };\n}\n")
        self.write("tools/b.h", "namespace infeed {\nclass A;\nA F();\n"
                   "struct B { struct A {}; using C = int; };\n"
                   "// struct A {};\nnamespace inner { struct A {}; }\n}\n")
        self.write("tools/b.cc", "namespace infeed {\nnamespace {\n"
                   "struct A {};\n}\nstruct B::A {};\n"
                   "void F() { struct A {}; }\n}\n")
        self.assertEqual(self.breaches(walls.check_types), [])


if __name__ == "__main__":
    unittest.main()
