"""Batches that are sent ahead: to a fake GPU, to CPUs, to JAX's devices."""

import copy
import itertools
import os
import subprocess
import sys
import unittest
import zlib
from unittest import mock

import infeed
import infeed.records
import support

if support.has("torch"):
    import torch

    import fake_cuda
    import infeed.torch


def loader(**options):
    return infeed.Loader(support.shards(), **{
        "batch_size": 20, "image_size": support.SIZE, "seed": 5,
        "framework": "torch", **options})


def content(batch):
    """All that a batch has, but the bytes of tensors on the device."""
    return {
        "place": (batch.epoch, batch.number, len(batch), batch.fingerprint),
        "ids": batch.ids.tolist(), "positions": batch.positions.tolist(),
        "state": batch.state_dict(), "described": batch.describe(),
        "matrices": [view.matrix().tolist() for view in batch.geometry],
        "repr": repr(batch)}


def tensors(batch):
    """Images with their channels last: as they lie in memory."""
    return [tensor.permute(0, 2, 3, 1) if tensor.dim() == 4
            and tensor.shape[1] == 3 else tensor for tensor in batch._tensors()]


def of_host(batch):
    return [zlib.crc32(tensor.numpy().tobytes()) for tensor in tensors(batch)]


class Loop:
    """A loop whose steps read their batches on the device, later."""

    def __init__(self, cuda):
        self._cuda = cuda
        self.seen = []

    def step(self, batch):
        row = [None] * len(batch._tensors())
        self.seen.append(row)
        for place, tensor in enumerate(batch._tensors()):
            self._cuda.launch(
                lambda data, place=place: row.__setitem__(
                    place, zlib.crc32(data)), tensor)


@unittest.skipUnless(support.has("torch"), "torch is not installed")
class GpuTest(unittest.TestCase):
    def run_pass(self, cuda, batches, steps=None):
        """What the steps of a pass saw, and waits before its last step."""
        loop, waits = Loop(cuda), []
        for batch in itertools.islice(batches, steps):
            loop.step(batch)
            waits = list(cuda.waits)
            del batch
        cuda.drain()
        return loop.seen, waits

    def test_batches_are_the_plain_ones_and_the_loop_waits_for_nothing(self):
        wanted = [of_host(batch) for batch in loader()]
        for seed, depth in itertools.product(range(4), (0, 1, 2, 5)):
            with (self.subTest(seed=seed, depth=depth),
                  fake_cuda.FakeCuda(seed) as cuda):
                train = loader(threads=2)
                seen, waits = self.run_pass(cuda, infeed.torch.prefetch(
                    train, "cuda", depth=depth))
                self.assertEqual(seen, wanted)
                self.assertEqual((waits, cuda.synchronous), ([], 0))
                # Labels alone are converted on the host, to int64.
                self.assertEqual(cuda.staged, 8 * 200)
                self.assertEqual(train.stats["copied_batches"], 0)
                train.close()

    def test_the_memory_is_pinned_once_until_the_loader_is_closed(self):
        with fake_cuda.FakeCuda() as cuda:
            train = loader()
            for _ in range(3):
                self.run_pass(cuda, infeed.torch.prefetch(train, "cuda"))
            calls = cuda.runtime.calls
            self.assertEqual(calls, {"register": 4})
            self.assertGreaterEqual(min(cuda.runtime.registered.values()),
                                    20 * 3 * support.SIZE**2)
            train.close()
            self.assertEqual(calls, {"register": 4, "unregister": 4})
            self.run_pass(cuda, infeed.torch.prefetch(train.repeat(), "cuda"), 12)
            self.assertEqual(calls["register"], 8)
            del train
            self.assertEqual(cuda.runtime.registered, {})

    def test_a_plain_pass_has_memory_that_is_not_pinned(self):
        """Else to(device, non_blocking=True) would send what is overwritten."""
        with fake_cuda.FakeCuda() as cuda:
            train = loader()
            self.run_pass(cuda, infeed.torch.prefetch(train, "cuda"))
            plain = next(iter(train))
            self.assertEqual(cuda.runtime.registered, {})
            self.run_pass(cuda, infeed.torch.prefetch([plain], "cuda"))
            self.assertEqual(cuda.runtime.registered, {})
            self.assertGreater(cuda.staged, plain.images.nbytes)

    def test_a_pass_that_goes_on_without_prefetch_is_not_pinned(self):
        with fake_cuda.FakeCuda() as cuda:
            batches = iter(loader().repeat())
            ahead = iter(infeed.torch.prefetch(batches, "cuda", depth=0))
            next(ahead)
            self.assertNotEqual(cuda.runtime.registered, {})
            ahead.close()
            next(batches)
            self.assertEqual(cuda.runtime.registered, {})

    def test_a_batch_that_is_kept_on_the_device_is_not_on_loan(self):
        with fake_cuda.FakeCuda() as cuda:
            train, loop, kept = loader(), Loop(cuda), []
            for batch in infeed.torch.prefetch(train, "cuda"):
                loop.step(batch)
                kept.append(batch)
            cuda.drain()
            self.assertEqual(train.stats["copied_batches"], 0)
            self.assertEqual([content(batch) for batch in kept],
                             [content(batch) for batch in loader()])

    def test_where_nothing_ends_by_itself_two_batches_are_on_loan(self):
        wanted = [of_host(batch) for batch in loader()]
        with fake_cuda.FakeCuda(idle=True) as cuda:
            for most in (2, 0):  # 0: all of the pool but one
                train = loader(max_lent=most, batches_in_pool=3 + (most > 0))
                cuda.waits.clear()
                seen, waits = self.run_pass(cuda, infeed.torch.prefetch(
                    train, "cuda", depth=4))
                self.assertEqual(seen, wanted)
                self.assertEqual(waits, ["event"] * 8)
                self.assertEqual(train.stats["copied_batches"], 0)

    def test_memory_that_cannot_be_pinned_is_copied_with_a_warning(self):
        wanted = [of_host(batch) for batch in loader()]
        with (fake_cuda.FakeCuda(most=2) as cuda,
              mock.patch.object(torch, "ones", side_effect=RuntimeError) as ones,
              self.assertLogs("infeed", "WARNING") as told):
            train = loader()
            ahead = infeed.torch.prefetch(train, "cuda")
            for _ in range(2):
                seen, waits = self.run_pass(cuda, ahead)
                self.assertEqual(waits, [])
            self.assertEqual(len(seen), 10)
            self.assertEqual(cuda.runtime.calls,
                             {"register": 3, "unregister": 2})
            ones.assert_called_once()  # CUDA's last error is taken.
            self.assertEqual(cuda.synchronous, 0)
        self.assertEqual(len(told.output), 1)
        self.assertIn("cannot be pinned (ulimit -l", told.output[0])
        with (fake_cuda.FakeCuda(most=0) as cuda,
              mock.patch.object(torch, "ones", side_effect=RuntimeError),
              self.assertLogs("infeed", "WARNING")):
            self.assertEqual(self.run_pass(cuda, infeed.torch.prefetch(
                loader(), "cuda"))[0], wanted)

    def test_a_pass_that_is_left_returns_its_batches_after_their_copies(self):
        with fake_cuda.FakeCuda(idle=True) as cuda:
            train = loader()
            for batch in infeed.torch.prefetch(train, "cuda"):
                break
            self.assertEqual((cuda.waits, cuda.sources), (["stream"], []))
            self.assertEqual(batch.number, 0)
            train.close()
            self.assertEqual(cuda.runtime.registered, {})
            self.assertEqual([b.number for b in train], list(range(10)))

    def test_an_interrupt_while_a_batch_is_sent_waits_for_its_copies(self):
        class Interrupt(BaseException):
            pass

        class Interrupting(fake_cuda.FakeCuda):
            left = 3 * 2 + 2  # Images, labels and weights of two batches.

            def _to(self, *arguments, **options):
                self.left -= 1
                if self.left == 0:
                    raise Interrupt
                return super()._to(*arguments, **options)
        with Interrupting(idle=True) as cuda:
            train = loader()
            taken = iter(infeed.torch.prefetch(train, "cuda"))
            self.assertEqual(next(taken).number, 0)
            cuda.drain()
            with self.assertRaises(Interrupt):
                next(taken)
            self.assertEqual((cuda.waits, cuda.sources), (["stream"], []))
            self.assertEqual(next(iter(loader())).state_dict(),
                             train.state_dict())

    def test_static_batches_have_the_same_tensors(self):
        wanted = [of_host(batch) for batch in loader()]
        with fake_cuda.FakeCuda(3) as cuda:
            ahead = infeed.torch.prefetch(loader(), "cuda", static=True)
            places = set()
            for _ in range(2):
                loop = Loop(cuda)
                for batch in ahead:
                    loop.step(batch)
                    places.add(tuple(part.data_ptr() for part in batch))
                cuda.drain()
                self.assertEqual(len(loop.seen), 10)
            self.assertEqual(len(places), 1)
            ahead.load_state_dict(loader().state_dict())
            self.assertEqual(self.run_pass(cuda, ahead)[0], wanted)


@unittest.skipUnless(support.has("torch"), "torch is not installed")
class PartsTest(support.WritesRecords):
    """Fields, boxes, views and masks: on a fake GPU, and on the CPU."""

    def load(self, **options):
        def example(number):
            boxes = [[8, 8, 200, 180], [20, 30, 90, 80]][:1 + number % 2]
            return {
                "image/encoded": support.photograph(),
                "image/class/label": 1 + number % 3, "row": [number] * 3,
                "list": list(range(number % 4)), "text": f"{number}",
                "boxes": [float(side) for box in boxes for side in box],
                "kinds": [7] * len(boxes)}
        path = self.write([example(number) for number in range(24)])
        return infeed.Loader(path, **{
            "batch_size": 4, "image_size": support.SIZE, "framework": "torch",
            "recipe": "torchvision", "crop_scale": 0.8, "label_key":
                "image/class/label", "seed": 2,
            "fields": {"row": infeed.Field("int32", 4, pad=-1), "list": "int64",
                       "text": infeed.Field("bytes", ()), "kinds": "int64"},
            "views": [infeed.View(), infeed.View(image_size=16)],
            "objects": infeed.Objects("boxes", labels="kinds"), **options})

    def check(self, sent, plain, seen=None):
        self.assertEqual(content(sent), content(plain))
        for key in ("list", "text"):
            self.assertEqual(str(sent[key]), str(plain[key]))
        self.assertEqual(sent.as_dict().keys(), plain.as_dict().keys())
        self.assertEqual(of_host(sent) if seen is None else seen, of_host(plain))
        if seen is None:
            self.assertEqual(str(sent.targets()), str(plain.targets()))

    def test_on_a_gpu(self):
        with fake_cuda.FakeCuda(1) as cuda:
            plain, loop, kept = self.load(), Loop(cuda), []
            train = copy.copy(plain)
            for batch in infeed.torch.prefetch(train, "cuda"):
                loop.step(batch)
                kept.append(batch)
            cuda.drain()
            self.assertEqual(train.stats["copied_batches"], 0)
            for sent, wanted, seen in zip(kept, plain, loop.seen, strict=True):
                self.check(sent, wanted, seen)

    def test_on_a_cpu(self):
        plain = self.load()
        for batch, wanted in zip(infeed.torch.prefetch(copy.copy(plain), "cpu"),
                                 plain, strict=True):
            self.check(batch, wanted)
            self.check(batch.to("cpu"), wanted)

    def test_static_needs_one_shape(self):
        with self.assertRaisesRegex(ValueError, "static=True.*pad_to"):
            list(infeed.torch.prefetch(self.load(), "cpu", static=True))
        plain = self.load(objects=infeed.Objects("boxes", labels="kinds",
                                                 pad_to=2))
        for batch, wanted in zip(infeed.torch.prefetch(
                copy.copy(plain), "cpu", static=True), plain, strict=True):
            self.check(batch, wanted)


@unittest.skipUnless(support.has("jax"), "jax is not installed")
class JaxTest(unittest.TestCase):
    def test_batches_stay_as_they_are_on_four_devices(self):
        code = """
import sys, jax, numpy as np, infeed, infeed.jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
mesh = Mesh(np.array(jax.devices()), ("data",))
spread = NamedSharding(mesh, PartitionSpec("data"))
def load(**more):
    return infeed.Loader(sys.argv[1], batch_size=20, image_size=32, seed=1, **more)
wanted = [tuple(map(np.array, batch)) for batch in load()]
for place in (spread, jax.devices()[2]):
    for depth in (0, 2):
        ahead = infeed.jax.prefetch(load(framework="jax"), place, depth=depth)
        kept, summed = [], 0
        for batch in ahead:
            kept.append(batch)
            summed += batch.images.sum()  # Deleted or not, it is read later.
            assert ahead.state_dict() == batch.state_dict()
        for batch, plain in zip(kept, wanted, strict=True):
            for array, expected in zip(batch, plain, strict=True):
                assert array.devices() == (
                    set(jax.devices()) if place is spread else {place})
                np.testing.assert_array_equal(array, expected)
print("equal")
"""
        done = subprocess.run(
            [sys.executable, "-c", code, support.shards()], capture_output=True,
            text=True, env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS":
                            "--xla_force_host_platform_device_count=4"})
        self.assertEqual(done.stdout, "equal\n", done.stderr)

    def test_wrong_arguments(self):
        import infeed.jax
        import jax
        with self.assertRaisesRegex(ValueError, "framework='jax'"):
            infeed.jax.prefetch(loader(framework="numpy"), jax.devices()[0])
        with self.assertRaisesRegex(TypeError, "place=.*Sharding"):
            infeed.jax.prefetch(loader(framework="jax"), "cpu")


if __name__ == "__main__":
    unittest.main()
