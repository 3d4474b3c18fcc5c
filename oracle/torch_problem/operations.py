"""What forward() does, by the operators that it runs: how many operations, and over how many terms
its sums go. Fused recurrent layers are counted as the products they stand for."""

import math

from torch.utils._python_dispatch import TorchDispatchMode

from .problem import is_out_of_memory

# What only brings values elsewhere, picks or makes them.
MOVES = {"alias", "arange", "cat", "clone", "constant_pad_nd", "contiguous", "copy_", "detach",
         "embedding", "empty", "empty_like", "empty_strided", "fill_", "flip", "full", "full_like",
         "gather", "im2col", "index", "index_put", "index_put_", "index_select", "masked_fill",
         "masked_fill_", "new_empty", "new_full", "new_zeros", "one_hot", "ones", "ones_like",
         "pixel_shuffle", "pixel_unshuffle", "reflection_pad1d", "reflection_pad2d",
         "reflection_pad3d", "repeat", "replication_pad1d", "replication_pad2d",
         "replication_pad3d", "roll", "scalar_tensor", "scatter", "scatter_", "select_scatter",
         "slice_scatter", "stack", "tril", "triu", "unsafe_chunk", "unsafe_split",
         "unsafe_split_with_sizes", "upsample_nearest1d", "upsample_nearest2d",
         "upsample_nearest3d", "where", "zero_", "zeros", "zeros_like", "_copy_from", "_to_copy",
         "_unsafe_view", "_cudnn_rnn_flatten_weight", "_efficientzerotensor"}
# Sums whose rounding stays in their results: from all that is read to what is written.
SUMS = {"sum", "nansum", "mean", "prod", "var", "var_mean", "std", "std_mean", "norm",
        "linalg_vector_norm", "logsumexp", "dot", "vdot", "_adaptive_avg_pool2d",
        "_adaptive_avg_pool3d", "adaptive_avg_pool1d", "mse_loss", "l1_loss", "smooth_l1_loss",
        "huber_loss", "nll_loss_forward", "nll_loss2d_forward", "binary_cross_entropy",
        "trace", "index_add", "scatter_add", "segment_reduce"}
RUNNING_SUMS = {"cumsum", "cumsum_", "cumprod", "cumprod_", "logcumsumexp"}
POOLS = {"avg_pool2d": 2, "avg_pool3d": 3, "max_pool2d_with_indices": 2,
         "max_pool3d_with_indices": 3}  # by the axes of a window
# Means, deviations and sums that what is read is then scaled by: a statistic's own rounding hardly
# moves what it normalizes. Find the greatest or the mean, subtract, raise or square, add up, scale.
NORMALIZATIONS = ("_softmax", "_log_softmax", "softmax", "batch_norm", "layer_norm", "group_norm",
                  "instance_norm", "rms_norm")
NORMALIZING = 5
# No sum is longer for the tolerance, unless products are: whoever adds up more does it in parts,
# and a bound that grew on would let lower precisions pass.
LONGEST_SUM = 1 << 16


def tensors_in(values):
    out = []
    for value in values:
        if isinstance(value, (list, tuple)):
            out += tensors_in(value)
        elif hasattr(value, "numel"):
            out.append(value)
    return out


def place_of(tensor):
    """Which memory it lies in: views have that of what they look at."""
    storage = getattr(tensor, "untyped_storage", None) or tensor.storage
    return storage().data_ptr()


def product(name, args, out):
    """Operations and terms of a product; None: it is none."""
    if name in ("mm", "bmm", "mv", "dot", "vdot", "linear"):
        terms = args[0].shape[-1]
    elif name in ("addmm", "baddbmm", "addmv", "_addmm_activation"):
        terms = args[1].shape[-1]
    elif name == "addbmm":
        terms = args[1].shape[-1] * args[1].shape[0]
    elif name == "_cdist_forward":
        terms = args[0].shape[-1]
    elif name == "convolution":
        given, weight, transposed = args[0], args[1], args[6]
        # A weight is [to, from a group, …], transposed [from, to a group, …].
        window = math.prod(weight.shape[2:])
        if transposed:
            groups = args[8]
            # Strides leave holes: on the average an output has fewer terms than the window.
            ops = 2 * given.numel() * weight.shape[1] * window
            return ops, max(1, round(ops / (2 * max(1, out.numel()))))
        terms = weight.shape[1] * window
    else:
        return None
    return 2 * terms * out.numel(), terms


def attention(name, args):
    if "scaled_dot_product" not in name and name not in ("_flash_attention_forward",
                                                         "_efficient_attention_forward"):
        return None
    query, key, value = args[:3]
    pairs = query.numel() // query.shape[-1] * key.shape[-2]
    return (2 * pairs * (query.shape[-1] + value.shape[-1]) + NORMALIZING * pairs,
            query.shape[-1] + key.shape[-2])


def recurrence(name, args):
    """A fused recurrent layer: at each step each of its matrices is multiplied once. Operations of
    products and of the rest, terms of a sum, terms one behind the other; None: it is none."""
    if name not in ("_cudnn_rnn", "mkldnn_rnn_layer", "miopen_rnn"):
        return None
    weights = args[1] if isinstance(args[1], (list, tuple)) else tensors_in(args[1:])
    matrices = [weight for weight in weights if weight.dim() == 2]
    if name == "mkldnn_rnn_layer":
        matrices = matrices[:2]  # then come states
    states = math.prod(args[0].shape[:2])  # steps times batch
    gates = sum(weight.shape[0] for weight in matrices)
    ops = 2 * states * sum(weight.numel() for weight in matrices)
    width = max(weight.shape[1] for weight in matrices)
    batch_first = name != "mkldnn_rnn_layer" and len(args) > 10 and args[10]
    return ops, 3 * states * gates, width, width * args[0].shape[1 if batch_first else 0]


def is_normalization(name):
    return any(name.endswith(one) or one + "_" in name for one in NORMALIZATIONS)


def other(name, args, read, out):
    """Operations and terms of what is no product."""
    if name in MOVES or read == 0:
        return 0, 0
    written = out.numel()
    if is_normalization(name):
        return NORMALIZING * max(read, written), 0
    if name in POOLS:
        window = args[1]
        terms = math.prod(window) if len(window) > 1 else window[0] ** POOLS[name]
        return terms * written, terms if name.startswith("avg") else 0
    if name in RUNNING_SUMS:
        return read, args[0].shape[args[1]] if args[0].dim() else 1
    if name in SUMS:
        return read, read // max(1, written)
    if name.startswith("_fft_"):
        return round(5 * read * math.log2(max(2, read // max(1, args[0].shape[0])))), 0
    return max(read, written), 0


class Operations(TorchDispatchMode):
    """Counts while it is entered."""

    def __init__(self):
        super().__init__()
        self.total = 0
        self.products = 0
        self.longest = 1  # sum
        self.chains = {}  # of each memory, the terms behind what lies in it, sum after sum
        self.operators = {}  # by name: calls and operations

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        found = func(*args, **kwargs)
        outputs = tensors_in([found])
        if outputs:
            self.count(func, args, kwargs, outputs)
        return found

    def count(self, func, args, kwargs, outputs):
        name = func._schema.name.split("::")[-1]
        inputs = tensors_in(list(args) + list(kwargs.values()))
        behind = max((self.chains.get(place_of(one), 0) for one in inputs), default=0)
        if is_view(func):
            return
        ops, terms, chain = self.work_of(name, args, inputs, outputs[0])
        self.total += ops
        self.longest = max(self.longest, terms)
        for out in outputs:
            self.chains[place_of(out)] = behind + chain
        if ops > 0:
            calls, before = self.operators.get(name, (0, 0))
            self.operators[name] = (calls + 1, before + ops)

    def work_of(self, name, args, inputs, out):
        """Operations, terms of the longest sum, terms one behind the other."""
        found = recurrence(name, args)
        if found:
            products, others, terms, chain = found
            self.products += products
            return products + others, terms, chain
        found = product(name, args, out) or attention(name, args)
        if found:
            self.products += found[0]
            return (*found, found[1])
        if not any(one.is_floating_point() for one in [*inputs, out]):
            return 0, 0, 0
        read = max((one.numel() for one in inputs), default=0)
        ops, terms = other(name, args, read, out)
        terms = min(terms, LONGEST_SUM)
        return ops, terms, terms

    def reduction(self, outputs):
        """Over how many terms rounding adds up: those of the sums one behind the other, but no more
        than the products come to for each output, since steps of a recurrence forget."""
        chain = max([self.chains.get(place_of(one), 0) for one in outputs], default=0)
        elements = sum(one.numel() for one in outputs)
        most = max(self.longest, self.products // max(1, 2 * elements))
        return max(1, min(chain, most))


def is_view(func):
    """Whether it only looks at its argument otherwise."""
    return any(one.alias_info is not None and not one.alias_info.is_write
               for one in func._schema.returns)


def operations_of(problem, given, state):
    counter = Operations()
    problem.set_state(state, problem.model)
    try:
        with counter:
            outputs = problem.call(problem.model, given)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        return {"flops": None, "reduction": 1}  # an operator that cannot be watched
    operators = sorted(counter.operators.items(), key=lambda one: (-one[1][1], one[0]))
    return {"flops": counter.total, "products": counter.products,
            "reduction": counter.reduction(outputs),
            "operators": [{"name": name, "calls": calls, "flops": ops}
                          for name, (calls, ops) in operators]}


def kernels_of(problem, given, state):
    """The kernels that a call launches on a GPU, by their share of its time there."""
    if problem.device == "cpu":
        return []
    torch = problem.torch
    problem.forward(given, state)
    problem.set_state(state, problem.model)
    torch.cuda.synchronize()
    try:
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CUDA]) as recorded:
            problem.call(problem.model, given)
            torch.cuda.synchronize()
        return by_share(torch, recorded.events())
    except (ImportError, AttributeError, RuntimeError):
        return []  # this is told, and needed by nobody


def by_share(torch, events):
    taken = {}
    for event in events:
        if event.device_type == torch.autograd.DeviceType.CUDA:
            launches, before = taken.get(event.name, (0, 0))
            taken[event.name] = (launches + 1, before + event.time_range.elapsed_us())
    total = sum(took for _, took in taken.values())
    longest = sorted(taken.items(), key=lambda one: (-one[1][1], one[0]))
    return [{"name": name, "launches": launches, "share": took / total}
            for name, (launches, took) in longest if total > 0]
