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

// What the baseline wrote on `set` as the truth, where there is no other.
Result<std::unique_ptr<Truth>> own_truth(const Task& task, const Stand& stand,
                                         Distribution distribution, int set) {
  const BufferPlan& plan = stand.plan();
  const char* outputs = stand.memory->output_regions(set, SetMemory::Copy::outputs);
  Expected expected;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    const TensorPlan& tensor = plan.tensors[plan.input_count + i];
    const char* data = outputs + tensor.region_offset + tensor.data_offset;
    ExpectedOutput one;
    if (!is_floating(tensor.dtype)) {
      one.whole.assign(data, data + tensor.bytes);
      expected.push_back(std::move(one));
      continue;
    }
    one.values = to_doubles(data, tensor.dtype, tensor.elements);
    one.scale = rms(one.values.data(), one.values.size());
    const auto finite = [](double value) { return std::isfinite(value); };
    if (distribution == Distribution::normal && !one.values.empty() &&
        std::none_of(one.values.begin(), one.values.end(), finite)) {
      return make_error(ErrorKind::bad_input,
                        "it leaves no finite number in " + tensor.name +
                            ", so nothing can be held "
                            "against it; is " +
                            tensor.name +
                            " read as well as written (`task new "
                            "--inout " +
                            tensor.name + "`)?",
                        "the task's baseline");
    }
    expected.push_back(std::move(one));
  }
  auto truth = std::make_unique<HeldTruth>(task, plan, *stand.memory, std::move(expected));
  truth->excuse_by(set);
  return std::unique_ptr<Truth>(std::move(truth));
}

}  // namespace

Status attach_baseline(Arm& baseline, const Stand& stand) {
  if (auto failure = baseline.attach(stand.plan(), *stand.memory, baseline_timeout_ms)) {
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
                                 const Stand& stand, const InputDraw& draw, int set,
                                 bool ask_oracle) {
  Reference reference;
  SetMemory& memory = *stand.memory;
  if (ask_oracle && !task.reference.baseline) {
    Result<std::unique_ptr<Truth>> truth = memory.truth(oracle, draw, set);
    if (!truth) {
      return truth.error();
    }
    reference.truth = std::move(*truth);
  }
  memory.poison_outputs(set);
  if (auto failure = baseline.prepare(baseline_timeout_ms)) {
    return baseline_failed(*failure);
  }
  const Round round = baseline.run({static_cast<std::uint16_t>(set)}, baseline_timeout_ms);
  if (round.failure) {
    return baseline_failed(*round.failure);
  }
  reference.baseline_ns = round.wall_ns;
  if (!reference.truth) {
    // Both sides err, each by what rounding explains.
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
      reference.bounds.push_back(2 * error_bound(task, draw.axes, i, 0));
    }
    memory.save_outputs();
    if (ask_oracle && task.reference.baseline) {
      Result<std::unique_ptr<Truth>> own = own_truth(task, stand, draw.distribution, set);
      if (!own) {
        return own.error();
      }
      reference.truth = std::move(*own);
    }
    return reference;
  }
  reference.truth->excuse_by(set);
  const std::vector<TensorError> errors = reference.truth->errors(set, SetMemory::Copy::outputs);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    // A baseline that is wrong through and through loosens nothing: the rounding bound stays.
    const double error = std::isfinite(errors[i].error) ? errors[i].error : 0;
    reference.baseline_error = std::max(reference.baseline_error, error);
    reference.bounds.push_back(error_bound(task, draw.axes, i, error));
  }
  return reference;
}

std::vector<TensorError> errors_to(const Stand& stand, const Reference& reference, int set) {
  if (!reference.truth) {
    return stand.memory->errors_to(SetMemory::Copy::saved, set);
  }
  return reference.truth->errors(set, SetMemory::Copy::outputs);
}

}  // namespace kernelpro
