#include "worker/judge/reference.hpp"

#include <algorithm>
#include <cmath>

#include "worker/judge/held_truth.hpp"
#include "worker/judge/tolerance.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t baseline_timeout_ms = 120'000;
// A second or so of a large GPU, in double.
constexpr double torch_operations = 2e13;
constexpr double torch_bytes = 1e12;

Error baseline_failed(const Failure& failure) {
  return make_error(ErrorKind::bad_input, failure.summary, "the task's baseline");
}

// Whether nothing that the baseline wrote for normal inputs is finite: then nothing can be held
// against it.
Status check_finite(const Task& task, const Expected& expected) {
  const auto finite = [](double value) { return std::isfinite(value); };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::vector<double>& values = expected[i].values;
    if (!values.empty() && std::none_of(values.begin(), values.end(), finite)) {
      const std::string& name = task.outputs[i].name;
      return make_error(ErrorKind::bad_input,
                        "it leaves no finite number in " + name +
                            ", so nothing can be held against it; is " + name +
                            " read as well as written (`task new --inout " + name + "`)?",
                        "the task's baseline");
    }
  }
  return {};
}

std::unique_ptr<HeldTruth> hold_outputs(const Task& task, const ShapeBuffers& buffers, int set) {
  const BufferPlan& plan = buffers.plan();
  const char* outputs = buffers.memory->output_regions(Side::incumbent, set);
  Expected expected;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const TensorPlan& tensor = plan.tensors[plan.input_count + i];
    const char* data = outputs + tensor.region_offset + tensor.data_offset;
    ExpectedOutput one;
    if (is_floating(tensor.dtype)) {
      one.values = to_doubles(data, tensor.dtype, tensor.elements);
      one.scale = rms(one.values.data(), one.values.size());
    } else {
      one.whole.assign(data, data + tensor.bytes);
    }
    expected.push_back(std::move(one));
  }
  auto truth = std::make_unique<HeldTruth>(task, plan, *buffers.memory, std::move(expected));
  truth->excuse_by(set);
  return truth;
}

// What the baseline wrote on `set` as the truth, where there is no other.
Result<std::unique_ptr<Truth>> own_truth(const Task& task, const ShapeBuffers& buffers,
                                         Distribution distribution, int set) {
  std::unique_ptr<HeldTruth> truth = hold_outputs(task, buffers, set);
  if (distribution == Distribution::normal) {
    KP_TRY(check_finite(task, truth->expected()));
  }
  return std::unique_ptr<Truth>(std::move(truth));
}

// How far inputs are moved to see what becomes of the outputs. Sums of K terms are off by sqrt(K)
// roundings of what is summed: where an implementation may be that far off, so may its inputs.
// Where inputs are coarser than a float, one rounding of theirs is more than that, and a share
// counts.
struct NudgeSize {
  std::uint32_t roundings = 1;
  double share = 1;
};

NudgeSize nudge_size(const Task& task, const Axes& axes) {
  constexpr double of_a_float = 0x1p-24;
  double coarsest = 0;
  for (const TensorSpec& input : task.inputs) {
    coarsest = is_floating(input.dtype) ? std::max(coarsest, unit_roundoff(input.dtype)) : coarsest;
  }
  const Result<double> length = task.reduction.evaluate(axes);
  const double terms = length ? std::max(*length, 1.0) : 1.0;
  const double wanted =
      std::sqrt(counted_terms(terms)) * (coarsest > of_a_float ? of_a_float / coarsest : 1.0);
  return {static_cast<std::uint32_t>(std::max(wanted, 1.0)), std::min(wanted, 1.0)};
}

// The floating outputs that are zero everywhere: what their errors are a share of is no size of
// what is computed there.
std::vector<bool> zero_outputs(const Task& task, const BufferPlan& plan, Truth& truth) {
  constexpr std::size_t at_a_time = 1 << 16;
  std::vector<bool> out;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const std::size_t elements = plan.tensors[plan.input_count + i].elements;
    bool zero = is_floating(task.outputs[i].dtype);
    for (std::size_t first = 0; zero && first < elements; first += at_a_time) {
      const auto values = truth.values(i, first, std::min(at_a_time, elements - first));
      zero = std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
    }
    out.push_back(zero);
  }
  return out;
}

struct Widening {
  double factor = 1;
  double share = 1;           // what one rounding of coarse inputs counts
  std::vector<double> usual;  // by output: what it moves by in any task
  std::vector<bool> zero;     // by output
};

// Widens the bounds to `factor` times what the outputs of the baseline differ by from `unmoved`, or
// from the truth where that is zero or they are not known, less what is usual.
void widen(Reference& reference, Truth* unmoved, const Widening& by, int set) {
  const std::vector<TensorError> to_truth = reference.truth->errors(Side::incumbent, set);
  const std::vector<TensorError> errors =
      unmoved == nullptr ? to_truth : unmoved->errors(Side::incumbent, set);
  for (std::size_t output = 0; output < errors.size(); ++output) {
    const double error = counted_error(by.zero[output] ? to_truth[output] : errors[output]);
    const double beyond = by.share * error - by.usual[output];
    reference.condition = std::max(reference.condition, error);
    reference.bounds[output] = std::max(reference.bounds[output], by.factor * beyond);
  }
}

}  // namespace

double counted_error(const TensorError& error) {
  return std::isfinite(error.error) ? error.error : 0;
}

std::unique_ptr<Truth> held_outputs(const Task& task, const ShapeBuffers& buffers, int set) {
  return hold_outputs(task, buffers, set);
}

Result<double> run_baseline(Arm& baseline, const ShapeBuffers& buffers, int set) {
  buffers.memory->poison_outputs(Side::incumbent);
  if (auto failure = prepare_blindly(buffers, baseline, baseline_timeout_ms)) {
    return baseline_failed(*failure);
  }
  const Round round = baseline.run({static_cast<std::uint16_t>(set)}, baseline_timeout_ms);
  if (round.failure) {
    return baseline_failed(*round.failure);
  }
  return round.wall_ns;
}

Status attach_baseline(Arm& baseline, const ShapeBuffers& buffers) {
  return attach_baseline(baseline, buffers.plan(), *buffers.memory);
}

Status attach_baseline(Arm& baseline, const BufferPlan& plan, SetMemory& memory) {
  if (auto failure = baseline.attach(plan, memory, Side::incumbent, baseline_timeout_ms)) {
    return baseline_failed(*failure);
  }
  return {};
}

bool oracle_affordable(const Task& task, const Ground& ground, const Axes& axes) {
  const Result<double> operations = task.work.flops.evaluate(axes);
  const Result<double> bytes = task.work.bytes.evaluate(axes);
  Ground::OracleLimits limits = ground.oracle_limits();
  if (task.reference.torch && !ground.device().empty()) {
    limits = {torch_operations, torch_bytes};
  }
  return (!operations || *operations <= limits.operations) && (!bytes || *bytes <= limits.bytes);
}

Result<Reference> make_reference(const Task& task, Oracle& oracle, Arm& baseline,
                                 const ShapeBuffers& buffers, const InputDraw& draw, int set,
                                 bool ask_oracle) {
  Reference reference;
  SetMemory& memory = *buffers.memory;
  if (ask_oracle && !task.reference.baseline) {
    KP_LET(std::unique_ptr<Truth> truth, memory.truth(oracle, draw, set));
    reference.truth = std::move(truth);
  }
  KP_LET(reference.baseline_ns, run_baseline(baseline, buffers, set));
  if (!reference.truth) {
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
      reference.bounds.push_back(difference_bound(task, draw.axes, i, draw.values.distribution));
    }
    if (ask_oracle && task.reference.baseline) {
      KP_LET(reference.truth, own_truth(task, buffers, draw.values.distribution, set));
    }
    return reference;
  }
  reference.truth->excuse_by(set);
  const std::vector<TensorError> errors = reference.truth->errors(Side::incumbent, set);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double error = counted_error(errors[i]);
    reference.baseline_error = std::max(reference.baseline_error, error);
    reference.bounds.push_back(error_bound(task, draw.axes, i, error));
  }
  return reference;
}

Status add_condition(const Task& task, Arm& baseline, const ShapeBuffers& buffers,
                     const InputDraw& draw, int set, const Key& key, Reference& reference) {
  constexpr std::uint64_t directions = 3;
  const NudgeSize size = nudge_size(task, draw.axes);
  KP_TRY(run_baseline(baseline, buffers, set));
  // Where there is no room for them, its own error is in what they seem to move by.
  std::unique_ptr<Truth> unmoved;
  if (buffers.plan().output_stride <= most_held_bytes) {
    unmoved = held_outputs(task, buffers, set);
  }
  Widening by{task.tolerance.baseline_factor,
              size.share,
              {},
              zero_outputs(task, buffers.plan(), *reference.truth)};
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    by.usual.push_back(well_conditioned(task, draw.axes, i));
  }
  for (std::uint64_t i = 0; i < directions; ++i) {
    buffers.memory->nudge(derive(key, i), size.roundings);
    KP_TRY(run_baseline(baseline, buffers, set));
    widen(reference, unmoved.get(), by, set);
  }
  return buffers.memory->health();
}

Result<std::vector<TensorError>> errors_to(const SetInputs& in, Reference& reference) {
  if (reference.truth) {
    return reference.truth->errors(Side::candidate, in.set);
  }
  std::vector<TensorError> errors = in.buffers.memory->errors_to(Side::incumbent, in.set);
  KP_TRY(judge_selections(in, reference.bounds, errors));
  return errors;
}

}  // namespace kernelpro
