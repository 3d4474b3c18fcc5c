#include "worker/judge/reference.hpp"

#include <algorithm>
#include <cmath>

#include "worker/judge/tolerance.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t baseline_timeout_ms = 120'000;

Error baseline_failed(const Failure& failure) {
  return make_error(ErrorKind::bad_input, failure.summary, "the task's baseline");
}

}  // namespace

Status attach_baseline(Arm& baseline, const Stand& stand) {
  if (auto failure =
          baseline.attach(stand.plan, stand.inputs, stand.outputs, baseline_timeout_ms)) {
    return baseline_failed(*failure);
  }
  return {};
}

Result<Reference> make_reference(const Task& task, Oracle& oracle, Arm& baseline,
                                 const Stand& stand, const InputDraw& draw, int set) {
  Reference reference;
  Result<Expected> expected = oracle.expect(draw);
  if (!expected) {
    return expected.error();
  }
  reference.expected = std::move(*expected);
  poison_outputs(stand.plan, stand.outputs, set);
  if (auto failure = baseline.prepare(baseline_timeout_ms)) {
    return baseline_failed(*failure);
  }
  const Round round = baseline.run({static_cast<std::uint16_t>(set)}, baseline_timeout_ms);
  if (round.failure) {
    return baseline_failed(*round.failure);
  }
  reference.baseline_ns = round.wall_ns;
  const char* outputs =
      stand.outputs.data() + static_cast<std::size_t>(set) * stand.plan.output_stride;
  reference.baseline_outputs.assign(outputs, outputs + stand.plan.output_stride);
  const std::vector<TensorError> errors = check_outputs(
      task, stand.plan, stand.outputs, set, reference.expected, reference.baseline_outputs.data());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    // A baseline that is wrong through and through loosens nothing: the rounding bound stays.
    const double error = std::isfinite(errors[i].error) ? errors[i].error : 0;
    reference.baseline_error = std::max(reference.baseline_error, error);
    reference.bounds.push_back(error_bound(task, draw.axes, i, error));
  }
  return reference;
}

}  // namespace kernelpro
