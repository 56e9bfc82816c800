"""torch and JAX: their arrays, whole trainings, exact resumes."""

import itertools
import os
import socket
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import infeed
import support


def loader(**options):
    return infeed.Loader(support.shards(), **{
        "batch_size": 20, "image_size": support.SIZE, "seed": 5, **options})


@unittest.skipUnless(support.has("torch"), "torch is not installed")
class TorchTest(unittest.TestCase):
    def train(self, steps, state=None):
        """A small network's weights after so many steps, and what resumes it."""
        import torch
        torch.manual_seed(1)
        model = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, 2), torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(),
            torch.nn.Linear(128, 10))
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        train = loader(framework="torch", threads=1 if state else 2)
        if state:
            model.load_state_dict(state["model"])
            optimizer.load_state_dict(state["optimizer"])
            train.load_state_dict(state["data"])
        for batch in itertools.islice(train.repeat(), steps):
            images = batch.images.float() / 255
            loss = torch.nn.functional.cross_entropy(model(images), batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return {"model": model.state_dict(), "data": batch.state_dict(),
                "optimizer": optimizer.state_dict()}

    def test_tensors(self):
        import torch
        batch = next(iter(loader(framework="torch")))
        self.assertEqual(batch.images.shape, (20, 3, support.SIZE, support.SIZE))
        self.assertTrue(batch.images.is_contiguous(
            memory_format=torch.channels_last))
        self.assertEqual((batch.images.dtype, batch.labels.dtype),
                         (torch.uint8, torch.int64))
        plain = next(iter(loader()))
        np.testing.assert_array_equal(
            batch.images.permute(0, 2, 3, 1).numpy(), plain.images)

    def test_a_resumed_training_has_the_same_weights(self):
        import torch
        whole, first = self.train(25), self.train(13)
        rest = self.train(12, first)
        for name, weights in whole["model"].items():
            self.assertTrue(torch.equal(weights, rest["model"][name]), name)

    def test_all_batches_may_be_kept(self):
        kept = list(itertools.islice(loader(framework="torch").repeat(), 25))
        plain = itertools.islice(loader().repeat(), 25)
        for mine, theirs in zip(kept, plain, strict=True):
            np.testing.assert_array_equal(
                mine.images.permute(0, 2, 3, 1).numpy(), theirs.images)

    def test_prefetch_on_a_cpu(self):
        from infeed.torch import prefetch
        labels = [b.labels.tolist() for b in prefetch(
            loader(framework="torch"), "cpu")]
        self.assertEqual(labels, [b.labels.tolist() for b in loader()])

    def test_a_prefetchs_state_is_that_of_the_last_batch_yielded(self):
        from infeed.torch import Prefetch, _Direct
        import torch
        whole = [b.labels.tolist() for b in itertools.islice(
            loader().repeat(), 20)]
        for depth in (0, 2):
            for stop in (3, 9, 10):  # An epoch has 10.
                ahead = Prefetch(loader(framework="torch"),
                                 _Direct(torch.device("cpu")), depth)
                taken = list(itertools.islice(ahead, stop))
                state = ahead.state_dict()
                self.assertEqual(state, taken[-1].state_dict())
                again = Prefetch(loader(framework="torch"),
                                 _Direct(torch.device("cpu")), depth)
                again.load_state_dict(state)
                self.assertEqual(again.state_dict(), state)
                self.assertEqual(
                    [b.labels.tolist() for b in again],
                    whole[stop:10] or whole[10:], (depth, stop))
                # A pass that was left begins its epoch again.
                self.assertEqual([b.labels.tolist() for b in ahead],
                                 whole[:10] if stop < 10 else whole[10:])

    def test_a_batch_moves_as_a_tensor_does(self):
        import torch
        batch = next(iter(loader(framework="torch")))
        moved = batch.to("meta", non_blocking=True)
        self.assertEqual([tensor.device.type for tensor in moved], ["meta"] * 3)
        self.assertEqual(batch.images.device, torch.device("cpu"))
        self.assertEqual(moved.state_dict(), batch.state_dict())
        for device in (torch.device("meta"), "meta"):
            self.assertEqual(batch.to(device).labels.dtype, torch.int64)
        for other in (torch.bfloat16, torch.float16, batch.weights):
            with self.assertRaisesRegex(
                    TypeError, r"(?s)takes a device.*batch\.images\.to\("):
                batch.to(other)

    def two_ranks(self, code):
        """What each of two processes prints that meet at a file."""
        with tempfile.TemporaryDirectory() as folder:
            meet = ("import sys, torch, infeed\n"
                    "def load(): return infeed.Loader(\n"
                    "    sys.argv[1], batch_size=10, image_size=32)\n"
                    "def join(): torch.distributed.init_process_group(\n"
                    f"    'gloo', init_method='file://{folder}/meet',\n"
                    "    rank=int(sys.argv[2]), world_size=2)\n")
            processes = [subprocess.Popen(
                [sys.executable, "-c", meet + code, support.shards(), str(rank)],
                stdout=subprocess.PIPE, text=True) for rank in (0, 1)]
            return [process.communicate()[0] for process in processes]

    def test_ranks_come_from_torch_distributed(self):
        for rank, text in enumerate(self.two_ranks("join(); print(load())")):
            self.assertIn(f"rank {rank} of 2", text)

    def test_a_loader_made_too_early_says_so(self):
        for text in self.two_ranks(
                "early = load()\n"
                "join()\n"
                "try: list(early)\n"
                "except RuntimeError as error: print(error)\n"):
            self.assertIn("make the loader after torch.distributed", text)


@unittest.skipUnless(support.has("jax"), "jax is not installed")
class JaxTest(unittest.TestCase):
    def test_the_plainest_loop_never_stands_still(self):
        import jax
        import jax.numpy as jnp

        @jax.jit
        def step(state, words):
            return state + jnp.sum(words >> 24)

        for pool in (3, 8):
            state = jnp.zeros((), jnp.uint32)
            train = loader(layout="words", batches_in_pool=pool)
            for batch in itertools.islice(train.repeat(), 40):
                state = step(state, np.asarray(batch.images))
            self.assertGreater(int(state), 0)

    def test_arrays(self):
        import jax
        from infeed.jax import unpack
        words = next(iter(loader(framework="jax", layout="words")))
        plain = next(iter(loader()))
        np.testing.assert_array_equal(jax.jit(unpack)(words.images),
                                      plain.images)
        np.testing.assert_array_equal(words.labels, plain.labels)

    def test_global_arrays(self):
        code = ("import os; os.environ['XLA_FLAGS'] = "
                "'--xla_force_host_platform_device_count=4'\n"
                "import sys, jax, numpy as np, infeed\n"
                "from jax.sharding import Mesh, NamedSharding, PartitionSpec\n"
                "mesh = Mesh(np.array(jax.devices()), ('data',))\n"
                "kind = NamedSharding(mesh, PartitionSpec('data'))\n"
                "def load(**k): return infeed.Loader(sys.argv[1], "
                "batch_size=20, image_size=32, **k)\n"
                "for a, b in zip(load(framework='jax', sharding=kind), load()):\n"
                "    assert a.images.sharding == kind\n"
                "    np.testing.assert_array_equal(a.images, b.images)\n"
                "print('equal')\n")
        done = subprocess.run([sys.executable, "-c", code, support.shards()],
                              capture_output=True, text=True)
        self.assertEqual(done.stdout, "equal\n", done.stderr)

    def test_processes_share_each_global_batch(self):
        """Two processes of two devices hold the rows of one process's batches."""
        code = ("import sys, jax, numpy as np, infeed\n"
                "from jax.sharding import Mesh, NamedSharding, PartitionSpec\n"
                "rank = int(sys.argv[3])\n"
                "jax.distributed.initialize(sys.argv[2], 2, rank)\n"
                "mesh = Mesh(np.array(jax.devices()), ('data',))\n"
                "kind = NamedSharding(mesh, PartitionSpec('data'))\n"
                "def load(**k): return infeed.Loader(sys.argv[1], "
                "global_batch_size=20, image_size=32, **k)\n"
                "total = jax.jit(lambda labels: labels.sum())\n"
                "for a, b in zip(load(framework='jax', sharding=kind),\n"
                "                load(rank=0, world_size=1), strict=True):\n"
                "    rows = set()\n"
                "    for mine, whole in zip(a, b):\n"
                "        assert mine.shape == whole.shape\n"
                "        for part in mine.addressable_shards:\n"
                "            np.testing.assert_array_equal(\n"
                "                part.data, whole[part.index])\n"
                "            rows.update(range(20)[part.index[0]])\n"
                "    assert total(a.labels) == b.labels.sum()\n"
                "print(*sorted(rows))\n")
        with socket.create_server(("127.0.0.1", 0)) as free:
            meet = f"127.0.0.1:{free.getsockname()[1]}"
        processes = [subprocess.Popen(
            [sys.executable, "-c", code, support.shards(), meet, str(rank)],
            stdout=subprocess.PIPE, text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu",
                 "XLA_FLAGS": "--xla_force_host_platform_device_count=2"})
            for rank in (0, 1)]
        # Gloo prints lines of its own before.
        rows = [process.communicate()[0].splitlines()[-1]
                for process in processes]
        self.assertEqual(rows, [" ".join(map(str, range(10))),
                                " ".join(map(str, range(10, 20)))])


if __name__ == "__main__":
    unittest.main()
