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
    """Times calls: on a GPU by its own stamps, from caches that hold nothing of the call's."""

    def __init__(self, torch, device, warm=False):
        self.torch = torch
        self.gpu = device != "cpu"
        if self.gpu:
            self.begin = torch.cuda.Event(enable_timing=True)
            self.end = torch.cuda.Event(enable_timing=True)
            self.flush = None if warm else torch.empty(FLUSH_BYTES, dtype=torch.uint8,
                                                       device=device)

    def time(self, work):
        """What `work` returns, and its nanoseconds."""
        if not self.gpu:
            start = time.perf_counter_ns()
            found = work()
            return found, time.perf_counter_ns() - start
        self.torch.cuda.synchronize()
        if self.flush is not None:
            self.flush.fill_(1)
        self.begin.record()
        found = work()
        self.end.record()
        self.torch.cuda.synchronize()
        return found, round(self.begin.elapsed_time(self.end) * 1e6)
