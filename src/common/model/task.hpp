// What must be computed: the value a task.toml describes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/backend.hpp"
#include "common/model/dtype.hpp"
#include "common/model/formula.hpp"

namespace kernelpro {

// How the elements of an input are drawn. The judge's distributions vary `normal` and `uniform`;
// the structured kinds keep their structure under every distribution.
enum class ValueKind {
  normal,       // mean 0, deviation 1
  uniform,      // in [low, high)
  index,        // whole numbers in [0, bound)
  offsets,      // non-decreasing from 0 to bound: the row pointers of a sparse matrix
  drawn,        // by the reference itself (PyTorch's get_inputs)
  csr_columns,  // sorted and distinct within each row of the offsets input `rows_of`, in [0, bound)
};

struct ValueSpec {
  ValueKind kind = ValueKind::normal;
  double low = -1.0;
  double high = 1.0;
  Formula bound;
  std::string rows_of;
};

struct TensorSpec {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Formula> shape;
  ValueSpec values;       // inputs only
  bool constant = false;  // inputs only: weights, which kp_prepare may preprocess
  std::string selects;    // outputs only: this is an index into the `Selection` of that name
  // Inputs only: what lies where in it, as "64 conv.bias [16]": first element, name, shape.
  std::vector<std::string> parts = {};  // NOLINT(readability-redundant-member-init)
};

// The values an index output chooses between: `shape` is the output's shape with one more axis, the
// candidates of the choice. The reference writes them; a candidate never sees them.
struct Selection {
  std::string name;
  std::vector<Formula> shape;
  bool smallest = true;  // the best value is the smallest (else the largest)
};

struct ScalarSpec {
  std::string name;
  DType dtype = DType::f32;
  double low = 1.0;  // drawn anew from [low, high] for each layout; fixed when equal
  double high = 1.0;
};

struct AxisSpec {
  std::string name;
  std::optional<Formula> derived;  // computed from the other axes instead of given
};

// A function call over axes, scalars and tensors: "gemm(m, n, k, alpha, A, B, C)".
struct CallSpec {
  std::string function;
  std::vector<std::string> arguments;
};

struct ReferenceSpec {
  std::string file;  // C++ in terms of the scalar type `Real`, or a template over it
  CallSpec call;     // inputs as `const Real*` (integers as their own type), outputs as `Real*`
  // The file is a PyTorch module in KernelBench's form instead, and is not called by name. Inputs
  // are those of get_inputs(), then parameters and floating buffers, all `drawn`.
  bool torch = false;
  // There is no file: what the baseline of the backend computes is right.
  bool baseline = false;
  // What was seen of a PyTorch module when the task was made: of its operations, those of products
  // and convolutions (none: not counted); operators and kernels of a call, the largest first;
  // inputs and parameters that change no output.
  std::optional<double> products = {};           // NOLINT(readability-redundant-member-init)
  std::vector<std::string> runs = {};            // NOLINT(readability-redundant-member-init)
  std::vector<std::string> without_effect = {};  // NOLINT(readability-redundant-member-init)
};

// What stands in the place of a compiler for a module that PyTorch runs as it is.
inline constexpr const char* torch_compiler = "torch";

// A baseline or a library comparator: source in the candidate's ABI.
struct ImplementationSpec {
  std::string name;
  Backend backend = Backend::cpu;
  std::string file;
  std::string compiler;                // empty: the default compiler
  std::vector<std::string> options;    // from the allow-list
  std::vector<std::string> libraries;  // linked in: "openblas"
};

// A function with a signature of its own that stands for kp_launch: sources that define it and no
// kp_launch are given an adapter.
struct EntrySpec {
  std::string function;   // with its namespaces: "mine::launch_saxpy"
  std::string signature;  // its declaration, unqualified
  Backend backend = Backend::cpu;
  // What is passed for each parameter: a tensor, a scalar or a number, a formula over axes, a name
  // of `workspace`, "stream".
  std::vector<std::string> arguments;
  std::map<std::string, std::string> copies;  // by output: the input it is filled from before
  std::map<std::string, Formula> workspace;   // scratch memory by name, in bytes
};

struct ToleranceSpec {
  double baseline_factor = 4.0;              // e <= baseline_factor * e(baseline), or
  double rounding_factor = 8.0;              // e <= rounding_factor * rounding_of_sum(K)
  bool deterministic = false;                // repeats must agree bit by bit
  std::vector<std::string> allow_precision;  // lower precisions accepted: "bf16", "f16", "tf32"
};

struct WorkSpec {
  Formula flops;
  Formula bytes;  // the least traffic: every input read once, every output written once
};

struct AxisRange {
  std::int64_t low = 1;
  std::int64_t high = 1;
  std::int64_t step = 1;  // sizes are low, low + step, … up to high

  // The greatest size of the steps that is not above `size`, at least `low`.
  [[nodiscard]] std::int64_t at_most(std::int64_t size) const {
    return size < low ? low : low + (size - low) / step * step;
  }
};

// "[8, 256, 8]", as task files have it; without a step of 1.
[[nodiscard]] std::string range_text(const AxisRange& range);

struct Task {
  std::string name;
  std::string family;
  std::string summary;
  std::vector<AxisSpec> axes;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<Selection> selections;
  std::vector<ScalarSpec> scalars;
  Formula reduction;
  ToleranceSpec tolerance;
  WorkSpec work;
  std::vector<Axes> timed_shapes;                  // given axes only
  std::map<Backend, std::vector<Axes>> shapes_on;  // timed instead on that backend
  std::map<std::string, AxisRange> held_out;       // one range for each given axis
  ReferenceSpec reference;
  std::optional<EntrySpec> entry;
  std::vector<ImplementationSpec> baselines;
  std::vector<ImplementationSpec> comparators;
  // The files the task names, by the name it uses: text, so that a task travels as one value.
  std::map<std::string, std::string> files;
  // Folders of headers that implementations and candidates may include, by name. They are this
  // machine's, so neither a certificate nor the hash has them.
  std::map<std::string, std::string> includes;
};

// The given axes of `shape` completed with the derived ones.
[[nodiscard]] Result<Axes> complete_axes(const Task& task, const Axes& shape);

// The evaluated shape of a tensor; every extent must be >= 0 and the product below 2^40.
[[nodiscard]] Result<std::vector<std::int64_t>> evaluate_shape(const std::vector<Formula>& shape,
                                                               const Axes& axes);

// The shapes that are timed on a backend.
[[nodiscard]] const std::vector<Axes>& timed_shapes(const Task& task, Backend backend);

// "m=512 n=512 k=512", given axes in the task's order.
[[nodiscard]] std::string shape_text(const Task& task, const Axes& axes);

// The contract's floating type: the widest-rounding (least precise) floating output, else input.
[[nodiscard]] DType contract_type(const Task& task);

[[nodiscard]] const ImplementationSpec* find_implementation(
    const std::vector<ImplementationSpec>& list, const std::string& name);

// What a task must satisfy beyond its syntax: names unique and known, formulas that evaluate on
// every timed shape and on the corners of the held-out ranges, files present, call arguments known.
// The first violation, with the key it concerns as context ("input A.shape").
[[nodiscard]] Status validate_task(const Task& task);

}  // namespace kernelpro
