// The last part of torch_loader() in torch_export.cpp: the problem's module, and its arguments and
// parameters as inputs of the kernel.
#pragma once

#include <string_view>

namespace kernelpro::report {

inline constexpr std::string_view torch_problem = R"py(

# ---- the problem's module ----

def _kp_problem(text, name):
    """The problem's module, from its text: a namespace of its own."""
    module = types.ModuleType(name)
    module.__file__ = f"<{name}>"
    linecache.cache[module.__file__] = (len(text), None, text.splitlines(True), module.__file__)
    sys.modules[name] = module
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    return module


def _kp_state_places(module):
    """Where the module keeps its parameters and floating buffers, in the task's order."""
    def place(name, kind):
        path, _, leaf = name.rpartition(".")
        return getattr(module.get_submodule(path), kind), leaf, name

    return ([place(name, "_parameters") for name, _ in module.named_parameters()] +
            [place(name, "_buffers") for name, value in module.named_buffers()
             if value.is_floating_point()])


class _KpBinding:
    """A module's arguments and parameters as the kernel's inputs."""

    def __init__(self, kernel, problem, drawn):
        self.kernel = kernel
        self.problem = problem
        self.drawn = drawn  # tensors for the constructor may hold other values than those judged
        spec = kernel.spec
        self.arguments = spec["arguments"]  # the index of an input, or a number as text
        self.given = sum(isinstance(one, int) for one in self.arguments)
        # Several outputs may be arranged in some way, and bytes may be of bool: then the module
        # tells.
        plain = len(spec["outputs"]) == 1 and spec["outputs"][0]["dtype"] != "u8"
        self.skeleton = _KP_DTYPES[spec["outputs"][0]["dtype"]] if plain else None
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(_KP_SEED)
            self.init = tuple(problem.get_init_inputs())

    # ---- is this what was judged? Each says why not, or None. ----

    def other_construction(self, module, values, named):
        """`values`, `named`: what the module was made with."""
        signature = inspect.signature(self.problem.Model.__init__)
        made, judged = signature.bind(module, *values, **named), signature.bind(module, *self.init)
        made.apply_defaults()
        judged.apply_defaults()
        for name, value in judged.arguments.items():
            other = made.arguments.get(name)
            if other is not module and not _kp_same(other, value, self.drawn):
                return f"made with {name} = {other!r}, judged with {value!r}"
        return None

    def arguments_as_inputs(self, values):
        """The tensors among the arguments of a call, and why the arguments are not those judged."""
        if len(values) != len(self.arguments):
            return [], f"called with {len(values)} arguments, judged with {len(self.arguments)}"
        found = []
        for place, (value, wanted) in enumerate(zip(values, self.arguments)):
            if isinstance(wanted, int):
                if not torch.is_tensor(value):
                    return [], f"argument {place} is no tensor"
                truths = value.dtype == torch.bool and self.kernel.dtypes[wanted] == torch.uint8
                found.append(value.view(torch.uint8) if truths else value)
            elif not isinstance(value, (int, float)) or float(value) != float(wanted):
                return [], f"argument {place} is {value!r}, judged with {wanted} only"
        return found, None

    def other_inputs(self, inputs):
        """`inputs`: all that the kernel would be called with."""
        kernel = self.kernel
        if len(inputs) != len(kernel.shapes):
            return (f"it has {len(inputs) - self.given} parameters, judged with "
                    f"{len(kernel.shapes) - self.given}")
        device = inputs[0].device if inputs else kernel.device
        for place, tensor in enumerate(inputs):
            if tensor.shape != kernel.shapes[place] or tensor.dtype != kernel.dtypes[place]:
                return (f"{kernel.spec['inputs'][place]['name']} is {tensor.dtype} of "
                        f"{list(tensor.shape)}, judged as {kernel.dtypes[place]} of "
                        f"{list(kernel.shapes[place])}")
            if tensor.device != device or device.type != kernel.device.type:
                return (f"{kernel.spec['inputs'][place]['name']} is on {tensor.device}, judged "
                        f"with all on one {kernel.device.type} device")
        return None

    # ---- parameters ----

    def is_packed(self, names):
        """Many parameters are one flat input, called so."""
        rest = self.kernel.spec["inputs"][self.given:]
        return (len(rest) == 1 and rest[0]["name"] == "parameters" and len(rest[0]["shape"]) == 1
                and "parameters" not in names)

    def packed_state(self, module, state):
        """The flat input, or why there is none. The module's parameters become views of it, so
        that what is written to them later is seen; when they are no longer, it is made anew."""
        pointers = [value.data_ptr() for value in state]
        kept, flat = module.__dict__.get("_kp_flat", (None, None))
        if pointers == kept:
            return flat, None
        if any(value.dtype != torch.float32 for value in state):
            return None, "not all of its parameters are float32"
        if any(value.device != state[0].device for value in state):
            return None, "its parameters are not all on one device"
        starts, elements = _kp_packing(state)
        with torch.inference_mode(False), torch.no_grad():
            flat = torch.zeros(elements, dtype=torch.float32, device=state[0].device)
            for value, start in zip(state, starts):
                view = flat[start:start + value.numel()].view(value.shape)
                view.copy_(value)
                value.data = view
        module.__dict__["_kp_flat"] = ([value.data_ptr() for value in state], flat)
        return flat, None

    # ---- what forward() returns ----

    def look_at_module(self, module, values):
        """Runs the module's own forward() on a copy: how outputs are arranged, and which are of
        bool. Returns the buffers that it changes."""
        twin = _kp_deepcopy(module)
        with torch.no_grad():
            self.skeleton = _kp_skeleton(self.problem.Model.forward(twin, *values))
        after = dict(twin.named_buffers())
        return [name for name, value in module.named_buffers()
                if not torch.equal(value.nan_to_num(), after[name].nan_to_num())]

    def arranged(self, outputs):
        """The outputs as forward() returns them."""
        return _kp_filled(self.skeleton, iter(outputs))


def _kp_same(first, second, drawn):
    if torch.is_tensor(first) and torch.is_tensor(second):
        return first.shape == second.shape and (drawn or torch.equal(first.cpu(), second.cpu()))
    if type(first) is not type(second):
        return False
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(
            _kp_same(one, other, drawn) for one, other in zip(first, second))
    return bool(first == second)


def _kp_packing(state):
    """The first element of each in the flat tensor, and how many elements that has."""
    starts, at = [], 0
    for value in state:
        starts.append(at)
        at += -(-value.numel() // _KP_PACK_ELEMENTS) * _KP_PACK_ELEMENTS
    return starts, at


def _kp_skeleton(found):
    if torch.is_tensor(found):
        return found.dtype
    return type(found), [_kp_skeleton(part) for part in found]


def _kp_filled(skeleton, outputs):
    if isinstance(skeleton, torch.dtype):
        value = next(outputs)
        return value.view(torch.bool) if skeleton == torch.bool else value
    kind, parts = skeleton
    filled = [_kp_filled(part, outputs) for part in parts]
    return kind(*filled) if hasattr(kind, "_fields") else kind(filled)
)py";

}  // namespace kernelpro::report
