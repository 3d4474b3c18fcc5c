// The Python that differs between the exports for PyTorch; it stands on torch_loader() in
// torch_export.cpp.
#pragma once

#include <string_view>

namespace kernelpro::report {

// The end of model_new.py, behind the loader and the texts _KP_SPEC, _KP_SOURCE, _KP_HEADER and
// _KP_PROBLEM_TEXT.
inline constexpr std::string_view benchmark_module = R"py(# ---- ModelNew ----

_KP_KERNEL = _KpKernel(_KP_SPEC, _KP_SOURCE, _KP_HEADER)
_KP_PROBLEM = _kp_problem(_KP_PROBLEM_TEXT, "kernelpro_problem_" + _KP_SPEC["name"])
_KP_BINDING = _KpBinding(_KP_KERNEL, _KP_PROBLEM, drawn=True)
_KP_KERNEL.library()


def _kp_refused(why):
    return ValueError(f"this kernel is for what it was judged with: {why}")


class ModelNew(_KP_PROBLEM.Model):
    """The problem's Model, of which forward() is the kernel."""

    def __init__(self, *values, **named):
        super().__init__(*values, **named)
        why = _KP_BINDING.other_construction(self, values, named)
        if why:
            raise _kp_refused(why)

    def forward(self, *values):
        given, why = _KP_BINDING.arguments_as_inputs(_kp_as_judged(values))
        if why is None:
            state, why = self._kp_state()
        if why is None:
            inputs = given + state
            why = _KP_BINDING.other_inputs(inputs)
        if why:
            raise _kp_refused(why)
        if _KP_BINDING.skeleton is None:
            _KP_BINDING.look_at_module(self, values)
        return _KP_BINDING.arranged(_KP_KERNEL(inputs))

    def _kp_state(self):
        """Its parameters as inputs, and why there are none."""
        own = self.__dict__
        if "_kp_places" not in own:
            own["_kp_places"] = _kp_state_places(self)
            own["_kp_packed"] = _KP_BINDING.is_packed([name for _, _, name in own["_kp_places"]])
        state = [owner[leaf] for owner, leaf, _ in own["_kp_places"]]
        if not own["_kp_packed"]:
            return state, None
        flat, why = _KP_BINDING.packed_state(self, state)
        return [flat], why


_KP_WHOLE = [place for place, wanted in enumerate(_KP_BINDING.arguments)
             if isinstance(wanted, int) and not _KP_KERNEL.dtypes[wanted].is_floating_point]


def _kp_as_judged(values):
    """The benchmark turns whole numbers into floating ones; here they are whole again."""
    if not any(place < len(values) and torch.is_tensor(values[place]) and
               values[place].is_floating_point() for place in _KP_WHOLE):
        return values
    out = list(values)
    for place in _KP_WHOLE:
        if place < len(out) and torch.is_tensor(out[place]):
            out[place] = out[place].to(_KP_KERNEL.dtypes[_KP_BINDING.arguments[place]])
    return out
)py";

// The package's __init__.py; the loader and the texts are files beside it.
inline constexpr std::string_view package_module = R"py(import inspect
import json
import pathlib

import torch
from torch import nn

from .loader import _KP_DTYPES, _KpBinding, _KpKernel, _kp_problem, _kp_state_places

_FOLDER = pathlib.Path(__file__).parent


def _text(name):
    return (_FOLDER / name).read_bytes().decode()


_SPEC = json.loads(_text("spec.json"))
_KERNEL = _KpKernel(_SPEC, _text(_SPEC["source"]), _text("kernelpro/candidate.h"))
_PROBLEM = _kp_problem(_text("problem.py"), __name__ + ".problem")
_BINDING = _KpBinding(_KERNEL, _PROBLEM, drawn=False)

Model = _PROBLEM.Model
get_inputs = _PROBLEM.get_inputs
get_init_inputs = _PROBLEM.get_init_inputs
device_type = _SPEC["backend"]


# ---- the operator ----

def _empty_outputs(inputs):
    """What the operator returns, without values: for tracing."""
    return [torch.empty(one["shape"], dtype=_KP_DTYPES[one["dtype"]], device=inputs[0].device)
            for one in _SPEC["outputs"]]


def _run(inputs):
    return _KERNEL(list(inputs))


def _registered():
    """The operator by torch.library, and what keeps it there: the task's tensors, a list in and a
    list out."""
    schema = "(Tensor[] inputs) -> Tensor[]"
    namespace = _SPEC["operator"]
    if hasattr(getattr(torch.ops, namespace), "call"):  # of another copy of this package
        return getattr(torch.ops, namespace).call, None
    if hasattr(torch.library, "custom_op"):
        kept = torch.library.custom_op(f"{namespace}::call", _run, mutates_args=(),
                                       device_types=device_type, schema=schema)
        kept.register_fake(_empty_outputs)
    else:
        kept = torch.library.Library(namespace, "DEF")
        kept.define("call" + schema)
        kept.impl("call", _run, device_type.upper())
        for key in ("Meta", "AutogradMeta"):
            kept.impl("call", _empty_outputs, key)
    return getattr(torch.ops, namespace).call, kept


operator, _registration = _registered()


# ---- the module ----

def _is_free_of_mode(module):
    """Whether train() and eval() make no difference, as far as its code can tell."""
    if isinstance(module, (nn.RNNBase, nn.MultiheadAttention)):
        return module.dropout == 0
    if isinstance(module, nn.modules.dropout._DropoutNd):
        return module.p == 0
    kinds = type(module).__mro__
    functions = [value for kind in kinds[:kinds.index(nn.Module)] if kind is not DropIn
                 for value in vars(kind).values() if hasattr(value, "__code__")]
    return not any("training" in function.__code__.co_names for function in functions)


def _not_traced(function):
    """torch.compile leaves it as it is: it looks at addresses, and counts."""
    return torch.compiler.disable(function) if hasattr(torch, "compiler") else function


class DropIn(Model):
    """The original module, with the kernel where a call is as it was judged, and with the
    original's forward() everywhere else.

    kernel_calls, fallbacks: how often which was taken; fallback_reason: why, the last time.
    """

    def __init__(self, *values, **named):
        super().__init__(*values, **named)
        self.kernel_calls = 0
        self.fallbacks = 0
        self.fallback_reason = ""
        self._kp_other = _BINDING.other_construction(self, values, named)
        self._kp_free_of_mode = all(map(_is_free_of_mode, self.modules()))
        self._kp_changes = None  # the buffers that forward() changes; None: not known yet

    @_not_traced
    def forward(self, *values, **named):
        if named:
            values = inspect.signature(Model.forward).bind(self, *values, **named).args[1:]
        inputs, why = self._kp_inputs(values)
        if why:
            self.fallbacks += 1
            self.fallback_reason = why
            return super().forward(*values)
        self.kernel_calls += 1
        return _BINDING.arranged(operator(inputs))

    def _kp_inputs(self, values):
        """The kernel's inputs, and why it is not to be called."""
        given, why = _BINDING.arguments_as_inputs(values)
        places = _kp_state_places(self)
        state = [owner[leaf] for owner, leaf, _ in places]
        why = self._kp_other or why or self._kp_other_circumstances(given + state)
        if why is None and _BINDING.is_packed([name for _, _, name in places]):
            flat, why = _BINDING.packed_state(self, state)
            state = [flat]
        if why is None:
            why = _BINDING.other_inputs(given + state) or self._kp_side_effects(values)
        return given + state, why

    def _kp_other_circumstances(self, tensors):
        if torch.is_grad_enabled() and any(value.requires_grad for value in tensors):
            return "gradients are wanted, which the kernel does not give (see torch.no_grad)"
        if not self.training and not self._kp_free_of_mode:
            return "it is in eval mode, judged in training mode"
        if tensors[0].device.type == device_type == "cuda":
            found = torch.cuda.get_device_capability(tensors[0].device)
            if list(found) != _SPEC["capability"]:
                return f"the device's capability is {found}, judged on {_SPEC['capability']}"
        return None

    def _kp_side_effects(self, values):
        buffers = any(True for _ in self.buffers())
        if _BINDING.skeleton is None or (buffers and self._kp_changes is None):
            self._kp_changes = _BINDING.look_at_module(self, values)
        if self._kp_changes:
            names = ", ".join(self._kp_changes)
            return f"forward() also changes {names}, which the kernel does not"
        return None
)py";

// @PACKAGE@ is the package's name.
inline constexpr std::string_view package_test =
    R"py("""The drop-in module against the original, on inputs as judged: python3 test_op.py"""

import sys

import torch

import @PACKAGE@ as op


def modules_and_inputs():
    """The original and the drop-in with the same weights, and inputs for both."""
    made = []
    for kind in (op.Model, op.DropIn):
        torch.manual_seed(42)
        made.append(kind(*op.get_init_inputs()).to(op.device_type))
    torch.manual_seed(7)
    inputs = [value.to(op.device_type) if torch.is_tensor(value) else value
              for value in op.get_inputs()]
    return made[0], made[1], inputs


def tensors_of(found):
    if torch.is_tensor(found):
        return [found]
    return [tensor for part in found for tensor in tensors_of(part)]


def close(first, second):
    if not first.is_floating_point():
        return bool((first == second).float().mean() > 0.999)  # ties may be broken in another way
    allowed = 1e-4 if first.dtype in (torch.float32, torch.float64) else 1e-2
    return torch.allclose(first, second, rtol=allowed, atol=allowed, equal_nan=True)


def test_answers_are_the_same():
    original, drop_in, inputs = modules_and_inputs()
    with torch.no_grad():
        expected, found = original(*inputs), drop_in(*inputs)
    print(f"kernel calls: {drop_in.kernel_calls}, fallbacks: {drop_in.fallbacks} "
          f"{drop_in.fallback_reason}")
    assert type(expected) is type(found)
    for first, second in zip(tensors_of(expected), tensors_of(found)):
        assert first.shape == second.shape and first.dtype == second.dtype
        assert close(first, second)


def test_gradients_are_the_originals():
    _, drop_in, inputs = modules_and_inputs()
    wanted = [value.requires_grad_() if torch.is_tensor(value) and value.is_floating_point()
              else value for value in inputs]
    if any(torch.is_tensor(value) and value.requires_grad for value in wanted):
        drop_in(*wanted)
        assert drop_in.kernel_calls == 0 and drop_in.fallbacks == 1


if __name__ == "__main__":
    if op.device_type == "cuda" and not torch.cuda.is_available():
        sys.exit("skipped: it needs a GPU, and PyTorch sees none")
    test_answers_are_the_same()
    test_gradients_are_the_originals()
    print("both tests are right")
)py";

}  // namespace kernelpro::report
