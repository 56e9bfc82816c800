"""What editors and readers see: types, stubs, docstrings."""

import ast
import importlib
import importlib.util
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import infeed
from infeed import _engine, _options

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
PACKAGE = pathlib.Path(infeed.__file__).parent


def mypy(*arguments):
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache,
             *map(str, arguments)], capture_output=True, text=True,
            cwd=EXAMPLES, env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
    return done.stdout + done.stderr


def has(name):
    return importlib.util.find_spec(name) is not None


@unittest.skipUnless(has("mypy"), "mypy is not installed")
class TypesTest(unittest.TestCase):
    @unittest.skipUnless(has("torch") and has("jax"), "torch or jax is missing")
    def test_the_package(self):
        self.assertIn("Success", mypy("-p", "infeed"))

    def test_the_examples(self):
        """Strict about the examples; frameworks may lack types, or be missing."""
        self.assertIn("Success", mypy(
            "--ignore-missing-imports", "--allow-untyped-calls",
            "--implicit-reexport", "--allow-subclassing-any",
            *sorted(EXAMPLES.glob("*.py"))))

    def test_a_wrong_option_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "wrong.py"
            path.write_text(
                "import infeed\n"
                "infeed.Loader('x', batch_size=1, recipe='best')\n"
                "infeed.Loader('x', batch_size=1, shufle='none')\n"
                "infeed.Field('int65')\n"
                "infeed.Objects('box', keep='center')\n"
                "infeed.View(recipe='best')\n"
                "infeed.View('mask', labels='int64', seed=3)\n")
            text = mypy(path)
        self.assertIn('"recipe" to "Loader" has incompatible type', text)
        self.assertIn('Unexpected keyword argument "shufle"', text)
        self.assertIn('1 to "Field" has incompatible type', text)
        self.assertIn('"keep" to "Objects" has incompatible type', text)
        self.assertIn('"recipe" to "View" has incompatible type', text)
        self.assertIn('"labels" to "View" has incompatible type', text)
        self.assertIn('Unexpected keyword argument "seed"', text)


class StubsTest(unittest.TestCase):
    def test_have_what_the_module_has(self):
        tree = ast.parse((PACKAGE / "_engine.pyi").read_text())
        stubs = {node.name: node for node in tree.body
                 if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        self.assertEqual(set(stubs), {
            name for name in vars(_engine) if not name.startswith("_")})
        for name, node in stubs.items():
            if isinstance(node, ast.ClassDef):
                self.assertEqual(
                    public(member.name for member in node.body
                           if isinstance(member, ast.FunctionDef)),
                    public(vars(getattr(_engine, name))), name)

    def test_each_option_has_a_type_and_words(self):
        own = inspect.signature(infeed.Loader).parameters
        for row in infeed.option_table():
            self.assertTrue(row["help"], row)
            # A loader refuses repeat.
            self.assertTrue(row["name"] in _options.Options.__annotations__
                            or row["name"] in {*own, "repeat"}, row["name"])


class DocstringsTest(unittest.TestCase):
    def test_all_that_is_public_has_one(self):
        bare = []
        for module in modules():
            if not module.__doc__:
                bare.append(module.__name__)
            for name in getattr(module, "__all__", ()):
                item = getattr(module, name)
                for path, part in parts(f"{module.__name__}.{name}", item):
                    if not inspect.getdoc(part):
                        bare.append(path)
        self.assertEqual(bare, [])


def public(names):
    return {name for name in names if not name.startswith("_")}


def modules():
    yield infeed
    yield infeed.records
    for name in ("torch", "jax"):
        if has(name):
            yield importlib.import_module(f"infeed.{name}")


def parts(path, item):
    """It and, of a class, its public methods and properties."""
    yield path, item
    if inspect.isclass(item):
        slots = getattr(item, "__slots__", ())
        for name, part in vars(item).items():
            if not name.startswith("_") and name not in slots and (
                    callable(part) or isinstance(part, (property, classmethod))):
                yield f"{path}.{name}", part


if __name__ == "__main__":
    unittest.main()
