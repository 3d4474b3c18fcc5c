"""PyTorch's modes, and the clock of its calls."""

import time

MODES = ("eager", "eager-fp32", "eager-tf32", "compile")
FLUSH_BYTES = 256 << 20  # as the benchmark flushes


def set_mode(torch, mode):
    """What PyTorch may use from here on, in this process."""
    if mode != "eager":
        torch.backends.cuda.matmul.allow_tf32 = mode == "eager-tf32"
        torch.backends.cudnn.allow_tf32 = mode == "eager-tf32"


class Clock:
    """Times the calls of a round: on a GPU by its own stamps, from caches that hold nothing of the
    call's. Calls are enqueued one behind the other, as those of a candidate are."""

    def __init__(self, torch, device, warm=False):
        self.torch = torch
        self.gpu = device != "cpu"
        self.stamps = []  # of the calls since the last total
        self.host_ns = 0
        if self.gpu:
            self.flush = None if warm else torch.empty(FLUSH_BYTES, dtype=torch.uint8,
                                                       device=device)

    def time(self, work):
        """What `work` returns."""
        if not self.gpu:
            start = time.perf_counter_ns()
            found = work()
            self.host_ns += time.perf_counter_ns() - start
            return found
        if self.flush is not None:
            self.flush.fill_(1)
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        found = work()
        end.record()
        self.stamps.append((begin, end))
        return found

    def total_ns(self):
        """The nanoseconds of all calls since the last time."""
        if self.gpu:
            self.torch.cuda.synchronize()
        total = self.host_ns + sum(round(begin.elapsed_time(end) * 1e6)
                                   for begin, end in self.stamps)
        self.stamps, self.host_ns = [], 0
        return total
