"""Passes of one loader: one after the other, at once, and interrupted."""

import copy
import gc
import importlib.util
import itertools
import sys
import threading
import time
import unittest
import unittest.mock

import infeed
import support
from infeed.prefetching import Prefetch


def loader(**options):
    return infeed.Loader(support.shards(), **{
        "batch_size": 40, "image_size": support.SIZE, "seed": 3, **options})


def numbers(batches):
    return [(batch.epoch, batch.number) for batch in batches]


WHOLE = [(0, number) for number in range(5)]


class TwoPassesTest(unittest.TestCase):
    def told(self):
        return self.assertRaisesRegex(RuntimeError, "another pass of this loader")

    def test_a_pass_within_a_pass_ends_that(self):
        for begin in (iter, lambda made: made.repeat()):
            for inner in (iter, lambda made: made.repeat()):
                train, taken = loader(), []
                with self.told():
                    for batch in begin(train):
                        taken.append(next(inner(train)).number)
                self.assertEqual(taken, [0])
                self.assertEqual(numbers(train), WHOLE)

    def test_the_later_pass_has_each_batch_once(self):
        train = loader()
        first, second = iter(train), iter(train)
        self.assertEqual(numbers(itertools.islice(first, 2)), WHOLE[:2])
        self.assertEqual(numbers(itertools.islice(second, 2)), WHOLE[:2])
        with self.told():
            next(first)
        self.assertEqual(numbers(second), WHOLE[2:])
        with self.told():
            next(first)
        for _ in range(2):
            self.assertEqual(numbers(second), [])

    def test_a_pass_that_is_dropped_changes_nothing(self):
        train = loader()
        first = iter(train)
        next(first)
        second = iter(train)
        next(second)
        del first
        gc.collect()
        self.assertEqual(numbers(second), WHOLE[1:])

    def test_zip(self):
        train = loader()
        with self.told():
            list(zip(train, train))
        train = loader()
        self.assertEqual(len(list(zip(train, copy.copy(train)))), 5)

    def test_other_places_end_a_pass(self):
        for move in (lambda made: made.set_epoch(3),
                     lambda made: made.load_state_dict(made.state_dict())):
            train = loader()
            going = iter(train)
            next(going)
            move(train)
            with self.told():
                next(going)
            self.assertTrue(list(train))

    def test_evaluations(self):
        evaluation = loader(training=False)
        first = iter(evaluation)
        next(first)
        self.assertEqual(len(list(evaluation)), 2)
        with self.told():
            next(first)
        self.assertEqual(len(list(evaluation)), 2)

    def test_an_evaluation_is_over_after_its_last_batch(self):
        evaluation = loader(training=False)
        for epoch in range(3):
            taken = itertools.islice(evaluation, len(evaluation))
            self.assertEqual(numbers(taken), [(epoch, 0), (epoch, 1)])

    def test_after_an_epochs_last_batch_place_and_state_are_the_next_epochs(self):
        """Also where the iterator has not been asked for one batch more."""
        for training in (True, False):
            made = loader(training=training)
            for epoch in range(1, 3):
                *_, last = itertools.islice(made, len(made))
                self.assertEqual(made.epoch, epoch)
                state = made.state_dict()
                self.assertEqual((state["epoch"], state["position"]), (epoch, 0))
                self.assertEqual(last.state_dict(), state)
            made.set_epoch(2)
            self.assertEqual(made.state_dict(), state)
            self.assertEqual(next(iter(made)).epoch, 2)

    def test_an_endless_pass_does_not_take_over(self):
        train = loader()
        first = train.repeat()
        list(itertools.islice(first, 5))  # Its epoch is over.
        second = iter(train)
        next(second)
        with self.told():
            next(first)
        self.assertEqual(len(list(second)), 4)

    def test_passes_in_two_threads(self):
        train, ends = loader(), []

        def consume():
            try:
                ends.append(len(list(itertools.islice(train.repeat(), 200))))
            except RuntimeError as error:
                ends.append(str(error))
        threads = [threading.Thread(target=consume) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertIn(200, ends)
        for end in ends:
            self.assertTrue(end == 200 or "another pass" in end)

    def test_a_pass_that_another_thread_closes_is_not_at_its_end(self):
        train, kept, ends = loader(max_lent=0, batches_in_pool=2), [], []

        def consume():
            try:
                kept.extend(train)
            except RuntimeError as error:
                ends.append(str(error))
        thread = threading.Thread(target=consume)
        with self.assertLogs("infeed"):  # All batches are held.
            thread.start()
            while thread.is_alive() and len(kept) < 2:
                time.sleep(0.01)
            time.sleep(0.3)  # It waits.
        train.close()
        thread.join()
        self.assertRegex(ends[0], "the loader was closed while")

    def test_len_is_that_of_the_pass(self):
        """Loops that take len() batches, and then ask for a new iterator, go on."""
        train = loader(last_batch="carry", batch_size=48)  # 4 1/6 an epoch
        lengths = [(len(train), sum(1 for _ in train)) for _ in range(7)]
        self.assertEqual(lengths, [(5, 5)] + [(4, 4)] * 5 + [(5, 5)])
        for batches in (loader(last_batch="carry", batch_size=48),
                        loader(last_batch="carry", batch_size=48).dicts()):
            for epoch in range(7):
                place = batches.state_dict()
                self.assertEqual(place["epoch"], epoch)
                taken = list(itertools.islice(batches, len(batches)))
                self.assertEqual(len(taken), lengths[epoch][0])
        train.set_epoch(1)
        next(iter(train))
        self.assertEqual(len(train), 5)  # Its epoch begins with a batch.

    def test_a_loop_that_sets_the_samplers_epoch_has_that_epoch(self):
        """As Lightning does, also where limit_train_batches leaves a pass."""
        train = loader()
        for epoch in range(3):
            train.dicts().sampler.set_epoch(epoch)
            self.assertEqual(numbers(itertools.islice(train, 2)),
                             [(epoch, 0), (epoch, 1)])
        self.assertIsNone(train.batch_sampler)

    def test_lightnings_trainer_refuses_epochs_that_differ(self):
        """It reads len() once, and asks for the sampler before an epoch."""
        for name in ("lightning.pytorch.loops.fit_loop",
                     "pytorch_lightning.loops.fit_loop"):
            trainer = {"__name__": name}
            exec("def begin_epoch(data): return data.sampler", trainer)
            train = loader(last_batch="carry", batch_size=48)
            self.assertIs(train.sampler, train)
            for batches in (train, train.dicts(), Prefetch(train, None, 2)):
                with self.assertRaisesRegex(ValueError, "carry.* Lightning's"):
                    trainer["begin_epoch"](batches)
            for same in (loader(last_batch="carry"),  # 200 / 40
                         loader(last_batch="pad", batch_size=48)):
                self.assertIs(trainer["begin_epoch"](same), same)

    def test_a_pass_that_was_interrupted_while_it_was_made_is_dropped(self):
        from infeed.passes import Pass
        with unittest.mock.patch("sys.unraisablehook") as hook:
            with self.assertRaises(TypeError):
                Pass(loader())
            gc.collect()
        hook.assert_not_called()

    def test_repeat_has_no_end(self):
        for training in (True, False):
            made = loader(training=training)
            epochs = [batch.epoch for batch
                      in itertools.islice(made.repeat(), 3 * len(made))]
            self.assertEqual(epochs, sorted([0, 1, 2] * len(made)))

    def test_epochs_are_counted_by_the_loop(self):
        for training in (True, False):
            with self.assertRaisesRegex(ValueError, "repeat=2: each pass of a loa"):
                loader(training=training, repeat=2)
            loader(training=training, repeat=0)

    @unittest.skipUnless(importlib.util.find_spec("torch"),
                         "torch is not installed")
    def test_prefetches(self):
        import torch
        from infeed.torch import Prefetch, _Direct
        for depth in (0, 2):
            train = loader(framework="torch")
            first = iter(Prefetch(train, _Direct(torch.device("cpu")), depth))
            next(first)
            second = iter(train)
            next(second)
            first.close()  # Gives nothing back: its pass does not go on.
            self.assertEqual(numbers(second), WHOLE[1:])
            with self.told():
                for batch in Prefetch(train, _Direct(torch.device("cpu")), depth):
                    next(iter(train))


    @unittest.skipUnless(importlib.util.find_spec("torch"),
                         "torch is not installed")
    def test_a_prefetchs_state_is_that_of_its_loader_once_that_went_on(self):
        from infeed.torch import prefetch
        for move in (lambda made: made.set_epoch(3),
                     lambda made: made.load_state_dict(loader().state_dict()),
                     lambda made: next(iter(made)), list):
            train = loader(framework="torch")
            ahead = prefetch(train, "cpu")
            going = iter(ahead)
            list(itertools.islice(going, 3))
            move(train)
            self.assertEqual(ahead.state_dict(), train.state_dict())
        evaluation = loader(framework="torch", training=False)
        ahead = prefetch(evaluation, "cpu")
        list(ahead)
        ahead.load_state_dict(ahead.state_dict())
        self.assertEqual(len(list(ahead)), 2)
        for wrong, kind in ((loader(), ValueError), (None, TypeError)):
            with self.assertRaisesRegex(kind, "torch|^batches"):
                prefetch(wrong, "cpu")


class InterruptTest(unittest.TestCase):
    """Ctrl-C in each line that Python runs for a batch."""

    def interrupted(self, train, line):
        """What next() gives if the line-th line raises; None: it did."""
        left = line

        def trace(frame, event, _):
            nonlocal left
            if "infeed" not in frame.f_code.co_filename:
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt
            return trace
        going = iter(train)
        sys.settrace(trace)
        try:
            return next(going), left
        except KeyboardInterrupt:
            return None, left
        finally:
            sys.settrace(None)

    def test_the_place_is_not_past_a_batch_that_nobody_has(self):
        expected = next(iter(loader())).images.tobytes()
        second = list(itertools.islice(loader(), 2))[1].images.tobytes()
        lines = 0
        while True:
            train = loader()
            lines += 1
            batch, left = self.interrupted(train, lines)
            if left > 0:
                break
            self.assertIsNone(batch)
            self.assertEqual(train.state_dict()["position"], 0)
            if lines % 2:  # A new pass, or it resumed.
                train.load_state_dict(train.state_dict())
            self.assertEqual(next(iter(train)).images.tobytes(), expected)
        self.assertGreater(lines, 30)
        self.assertEqual(batch.images.tobytes(), expected)
        self.assertEqual(train.state_dict(), batch.state_dict())
        self.assertNotEqual(second, expected)

    def test_a_resumed_place_is_kept(self):
        """By the next pass, if the first one was interrupted."""
        begun = loader()
        state = list(itertools.islice(begun, 2))[1].state_dict()
        for line in itertools.count(1):
            train = loader()
            train.load_state_dict(state)
            batch, left = self.interrupted(train, line)
            if left > 0:
                break
            self.assertEqual(next(iter(train)).number, 2, line)
        self.assertEqual(batch.number, 2)

    def test_an_interrupted_pass_can_go_on(self):
        """With every batch once, in whatever line it was."""
        for line in range(1, 40):
            train = loader()
            going, taken = iter(train), []
            taken.append(next(going).number)
            left = line

            def trace(frame, event, _):
                nonlocal left
                if "infeed" in frame.f_code.co_filename:
                    left -= event == "line"
                    if left == 0 and event == "line":
                        raise KeyboardInterrupt
                    return trace
                return None
            sys.settrace(trace)
            try:
                taken.append(next(going).number)
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(None)
            taken += [batch.number for batch in going]
            self.assertEqual(taken, list(range(5)), line)

    def test_an_error_of_on_bad_loses_no_batch(self):
        lines = []

        def fail(line):
            lines.append(line)
            if len(lines) == 1:
                raise ArithmeticError(line)
        bad = infeed.Loader(support.damaged(), batch_size=40,
                            image_size=support.SIZE, seed=3, on_bad=fail)
        going, taken = iter(bad), []
        with self.assertRaises(ArithmeticError):
            for batch in going:
                taken.append(batch.number)
        taken += [batch.number for batch in going]
        self.assertEqual(taken, list(range(5)))


if __name__ == "__main__":
    unittest.main()
