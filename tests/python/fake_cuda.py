"""CUDA as infeed.torch uses it, on the CPU: late, and as unkind as allowed."""

import collections
import contextlib
import ctypes
import random
import weakref
from unittest import mock

import torch

import infeed.loader

POISON = 0xA5


class Stream:
    """Work that is done in its order, sometime; by FakeCuda.run()."""

    def __init__(self, cuda):
        self._cuda = cuda
        self.work = collections.deque()  # (event to wait for or None, function)

    def wait_event(self, event):
        self.work.append((event, lambda: None))

    def synchronize(self):
        self._cuda.waits.append("stream")
        while self.work:
            self._cuda.run()


class Event:
    def __init__(self, cuda):
        self._cuda = cuda
        self.is_over = False

    def record(self, stream):
        def end():
            self.is_over = True
        stream.work.append((None, end))
        self._cuda.events.append(self)

    def query(self):
        return self.is_over

    def synchronize(self):
        self._cuda.waits.append("event")
        while not self.is_over:
            self._cuda.run()


class Runtime:
    """torch.cuda.cudart()."""

    def __init__(self, cuda, most):
        self._cuda = cuda
        self._left = most
        self.registered = {}  # bytes by address
        self.calls = collections.Counter()

    def cudaHostRegister(self, address, size, flags):
        assert flags == 1, flags
        self.calls["register"] += 1
        if self._left == 0:
            return 2
        self._left -= 1
        assert address not in self.registered
        self.registered[address] = size
        return 0

    def cudaHostUnregister(self, address):
        self.calls["unregister"] += 1
        size = self.registered.pop(address)
        ctypes.string_at(address, size)  # It is mapped.
        for source in self._cuda.sources:
            assert not address <= source < address + size, "a copy is on its way"
        return 0

    def has(self, address):
        return any(begin <= address < begin + size
                   for begin, size in self.registered.items())


class FakeCuda:
    """Takes the place of torch.cuda and of some of Tensor's functions.

    waits: what the host waited for. synchronous: copies from memory that is not
    pinned, for which CUDA would wait. staged: bytes that the host copied into
    pinned memory. most: how many blocks can be registered. idle: nothing is done
    before it is waited for.
    """

    def __init__(self, seed=0, most=-1, idle=False):
        self._random = random.Random(seed)
        self._idle = idle
        self.runtime = Runtime(self, most)
        self.main, self._streams = Stream(self), []
        self.current = self.main
        self.waits, self.synchronous, self.staged = [], 0, 0
        self.events = []
        self.sources = []  # host addresses of copies on their way
        self._staging = {}  # bytes by address
        self._recorded = set()  # addresses on the device that the main stream uses
        self._memory = {}  # of the device, kept for ever, by address
        self._host_copy = torch.Tensor.copy_

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for owner, name, value in (
                    (torch.cuda, "Stream", self._new_stream),
                    (torch.cuda, "Event", lambda: Event(self)),
                    (torch.cuda, "stream", self._within),
                    (torch.cuda, "current_stream", lambda _: self.current),
                    (torch.cuda, "cudart", lambda: self.runtime),
                    (torch.cuda, "device", contextlib.nullcontext),
                    (torch.Tensor, "is_pinned", self._is_pinned),
                    (torch.Tensor, "pin_memory", self._pin_memory),
                    (torch.Tensor, "record_stream", self._record_stream),
                    (torch.Tensor, "copy_", self._copy),
                    (torch.Tensor, "to", self._to)):
                # Of a function in a class Python makes a method.
                if owner is torch.Tensor:
                    value = (lambda done: lambda tensor, *arguments, **options:
                             done(tensor, *arguments, **options))(value)
                stack.enter_context(mock.patch.object(owner, name, value))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        self.drain()
        for reference in list(infeed.loader._loaders):
            train = reference()
            if train is not None:
                train.close()
        self._stack.close()

    def launch(self, kernel, tensor):
        """Work of the loop with a tensor's bytes. Then some of all work is done."""
        address, size = tensor.data_ptr(), tensor.nbytes
        self.current.work.append(
            (None, lambda: kernel(ctypes.string_at(address, size))))
        # At most one batch is on its way then.
        while not self._idle and (
                len(self.main.work) > 9
                or sum(not event.is_over for event in self.events) > 1):
            self.run()

    def drain(self):
        while any(stream.work for stream in (self.main, *self._streams)):
            self.run()

    def run(self):
        """A piece of the work of some stream that does not wait."""
        ready = [stream for stream in (self.main, *self._streams)
                 if stream.work and (stream.work[0][0] is None
                                     or stream.work[0][0].is_over)]
        _, work = self._random.choice(ready).work.popleft()
        work()

    def _new_stream(self, device):
        self._streams.append(Stream(self))
        return self._streams[-1]

    @contextlib.contextmanager
    def _within(self, stream):
        before, self.current = self.current, stream
        yield
        self.current = before

    def _is_pinned(self, tensor):
        return (self.runtime.has(tensor.data_ptr())
                or tensor.data_ptr() in self._staging)

    def _pin_memory(self, tensor):
        made = tensor.clone()
        self.staged += made.nbytes
        self._staging[made.data_ptr()] = made  # torch keeps it until it is copied.
        return made

    def _record_stream(self, tensor, stream):
        assert stream is self.main
        self._recorded.add(tensor.data_ptr())

    def _copy(self, target, tensor):
        source, to, size = tensor.data_ptr(), target.data_ptr(), tensor.nbytes
        if source not in self._memory:
            return self._host_copy(target, tensor)
        assert target.stride() == tensor.stride()
        self.current.work.append((None, lambda: ctypes.memmove(to, source, size)))
        return target

    def _to(self, tensor, device, non_blocking=False):
        assert torch.device(device).type == "cuda" and non_blocking
        size, source = tensor.nbytes, tensor.data_ptr()
        self.synchronous += not self._is_pinned(tensor)
        memory = torch.full((size + 1,), POISON, dtype=torch.uint8)
        address = memory.data_ptr()
        self._memory[address] = memory
        made = memory[:size].view(tensor.dtype).as_strided(
            tensor.shape, tensor.stride())
        self.sources.append(source)

        def copy():
            self.sources.remove(source)
            assert (self.runtime.has(source) or source in self._staging
                    or not self._is_pinned(tensor))
            ctypes.memmove(address, source, size)
        self.current.work.append((None, copy))
        weakref.finalize(made, self._free, address, size)
        return made

    def _free(self, address, size):
        """The next tensor may have the memory: at once, or, where another stream
        uses it, after what that stream has to do.
        """
        def overwrite():
            ctypes.memset(address, POISON, size)
        if address in self._recorded:
            self.main.work.append((None, overwrite))
        else:
            overwrite()
