"""The types of Loader's options are those of the engine's table."""

import importlib.util
import pathlib
import unittest

import infeed

ROOT = pathlib.Path(__file__).resolve().parents[2]


class OptionsTest(unittest.TestCase):
    def test_types_follow_the_table(self):
        spec = importlib.util.spec_from_file_location(
            "make_options", ROOT / "python" / "module" / "make_options.py")
        make_options = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(make_options)
        self.assertEqual((ROOT / "python/infeed/_options.py").read_text(),
                         make_options.render(infeed.option_table()),
                         "run python/module/make_options.py")

    def test_every_option_is_explained(self):
        table = infeed.option_table()
        self.assertGreater(len(table), 30)
        for row in table:
            self.assertTrue(row["help"].strip().endswith("."), row["name"])


if __name__ == "__main__":
    unittest.main()
