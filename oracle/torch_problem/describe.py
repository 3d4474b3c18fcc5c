"""What a problem is: its tensors, what has no effect, how it could be passed without the work."""

from .problem import MODEL_SEED, Problem, Refused, distance, is_out_of_memory, last_line
from .protocol import MAX_RANK, MAX_TENSORS

DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64",
          "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "u8"}


def tensor_description(name, tensor, role):
    dtype = str(tensor.dtype).replace("torch.", "")
    if dtype not in DTYPES:
        raise Refused(f"{name} is of {dtype}, which no candidate can be given")
    if tensor.dim() > MAX_RANK:
        raise Refused(f"{name} has {tensor.dim()} axes; at most {MAX_RANK} are possible")
    return {"name": name, "dtype": DTYPES[dtype], "shape": list(tensor.shape), "role": role}


RANDOM = 1e-3
MOST_TRIED = 8  # parameters that are changed one by one; of more, all buffers at once


def insensitive_inputs(problem, given, state, outputs, noise):
    """Which inputs may hold anything without a change of the outputs."""
    torch = problem.torch
    other_given, other_state = problem.draw(MODEL_SEED + 1)
    for i, value in enumerate(other_state):
        if torch.equal(value, state[i]):  # such as the ones and zeros of a fresh normalization
            other_state[i] = value + 0.5
    found = []

    def no_change(changed_given, changed_state):
        torch.manual_seed(1)
        return distance(torch, problem.forward(changed_given, changed_state), outputs) <= 2 * noise

    for i, value in enumerate(given):
        if torch.is_tensor(value):
            if no_change(given[:i] + [other_given[i]] + given[i + 1:], state):
                found.append(f"input {i}")
    if problem.names and no_change(given, other_state):
        return found + problem.names
    if len(problem.names) <= MOST_TRIED:
        for i, name in enumerate(problem.names):
            if no_change(given, state[:i] + [other_state[i]] + state[i + 1:]):
                found.append(name)
        return found
    buffers = [name in dict(problem.model.named_buffers()) for name in problem.names]
    if any(buffers) and no_change(given, [other_state[i] if buffer else state[i]
                                          for i, buffer in enumerate(buffers)]):
        found += [name for name, buffer in zip(problem.names, buffers) if buffer]
    return found


def first_outputs(problem, given, state):
    """The outputs, when they are those of the inputs alone; and how far two calls are apart."""
    torch = problem.torch
    kept = [value.clone() for value in given if torch.is_tensor(value)]
    try:
        torch.manual_seed(1)
        outputs = problem.forward(given, state)
    except Refused:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise Refused("it does not fit into the memory of this "
                          f"{'machine' if problem.device == 'cpu' else 'GPU'}") from error
        raise Refused(f"its forward() fails: {last_line(error)}") from error
    if any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in
           zip((value for value in given if torch.is_tensor(value)), kept)):
        raise Refused("its forward() changes its own inputs, which candidates may only read")
    del kept
    torch.manual_seed(2)
    noise = distance(torch, problem.forward(given, state), outputs)
    if noise > RANDOM:
        raise Refused("it is random in itself (dropout, say) or keeps a state between calls: the "
                      "same inputs give other outputs, so no output can be called right")
    return outputs, noise


def describe_problem(problem, given, state, outputs, noise):
    from .operations import kernels_of, operations_of  # it cannot be read without PyTorch
    torch = problem.torch
    inputs, scalars = [], []
    for i, value in enumerate(given):
        if torch.is_tensor(value):
            inputs.append(tensor_description(f"input_{i}", value, "input"))
        elif isinstance(value, (int, float)):
            scalars.append({"name": f"scalar_{i}", "value": float(value)})
        else:
            raise Refused(f"get_inputs() returns a {type(value).__name__}; expected tensors and "
                          "numbers")
    out = {"torch": torch.__version__, "device": device_name(problem), "scalars": scalars,
           "outputs": [tensor_description(f"output_{i}", value, "output")
                       for i, value in enumerate(outputs)],
           "kernels": kernels_of(problem, given, state),
           "insensitive_to": insensitive_inputs(problem, given, state, outputs, noise)}
    out |= operations_of(problem, given, state)
    if problem.packed:
        buffers = dict(problem.model.named_buffers())
        inputs.append(tensor_description("parameters", problem.pack(state)[0], "parameter"))
        out["packed"] = [{"name": name, "offset": at, "shape": list(shape),
                          "buffer": name in buffers}
                         for name, (at, shape) in zip(problem.names, problem.places()[0])]
    else:
        inputs += [tensor_description(name, value, "parameter")
                   for name, value in zip(problem.names, state)]
    if len(inputs) + len(outputs) > MAX_TENSORS:
        raise Refused(f"it has {len(inputs) + len(outputs)} tensors; at most {MAX_TENSORS} are "
                      "possible")
    return out | {"inputs": inputs}


def device_name(problem):
    return "cpu" if problem.device == "cpu" else problem.torch.cuda.get_device_name()


def describe(path):
    problem = Problem(path)
    given, state = problem.draw(MODEL_SEED)
    outputs, noise = first_outputs(problem, given, state)
    out = describe_problem(problem, given, state, outputs, noise)
    return out | {"degenerate": degenerate(problem, given, outputs, out)}


# ---- degenerate problems ----

SMALL = 1e-4  # the benchmark's own tolerance


def close(torch, first, second):
    return torch.allclose(first, second, rtol=SMALL, atol=SMALL)


def degenerate(problem, given, outputs, described):
    """Why a candidate could pass without doing the work, as far as measuring shows."""
    torch = problem.torch
    out = []
    floating = all(value.is_floating_point() and value.numel() > 0 for value in outputs)
    if floating and all(float(value.abs().max()) <= SMALL for value in outputs):
        out.append(f"zeros pass at {SMALL:.0e}")
    elif floating:
        # On other inputs: an output of one element is its own constant.
        constants = [value.mean() for value in outputs]
        others = problem.forward(*problem.draw(MODEL_SEED + 2))
        if all(close(torch, constant.expand_as(value), value)
               for constant, value in zip(constants, others)):
            out.append(f"a constant passes at {SMALL:.0e}")
        del others
    if floating and len(outputs) == 1 and any(
            torch.is_tensor(value) and value.shape == outputs[0].shape
            and value.dtype == outputs[0].dtype and close(torch, value, outputs[0])
            for value in given):
        out.append(f"an input passes at {SMALL:.0e}")
    # A single parameter may be without effect for good reasons: a bias before a normalization.
    without = set(described["insensitive_to"])
    out += [f"the outputs do not depend on input {i}" for i in range(len(given))
            if f"input {i}" in without]
    weights = [name for name, _ in problem.model.named_parameters()]
    if weights and without.issuperset(weights):
        out.append("the outputs do not depend on the weights")
    return out
