// What a candidate's outputs are held against: the oracle's values and the baseline's error.
#pragma once

#include <memory>
#include <vector>

#include "worker/judge/selection_check.hpp"
#include "worker/judge/shape_buffers.hpp"

namespace kernelpro {

struct Reference {
  // None where the reference cannot be asked: then the incumbent's side, where the baseline wrote,
  // stands for the truth.
  std::shared_ptr<Truth> truth;
  std::vector<double> bounds;  // by output
  double baseline_error = 0;   // the largest over the outputs
  double condition = 0;        // by how much it moved on nudged inputs; 0: not tried
  double baseline_ns = 0;      // our clock over its call
};

// Maps the stand's buffers into the baseline's runner.
[[nodiscard]] Status attach_baseline(Arm& baseline, const ShapeBuffers& buffers);
// The same for a plan that differs from the stand's in its scalars.
[[nodiscard]] Status attach_baseline(Arm& baseline, const BufferPlan& plan, SetMemory& memory);

// Runs the baseline on `set` of the incumbent's side; our clock over its call.
[[nodiscard]] Result<double> run_baseline(Arm& baseline, const ShapeBuffers& buffers, int set);

// Asks the oracle and runs the baseline on `set`, whose inputs are drawn as `draw` says. Errors
// name whom to blame: oracle or baseline.
[[nodiscard]] Result<Reference> make_reference(const Task& task, Oracle& oracle, Arm& baseline,
                                               const ShapeBuffers& buffers, const InputDraw& draw,
                                               int set, bool ask_oracle = true);

// What a baseline's error counts as: one that is wrong through and through loosens nothing.
[[nodiscard]] double counted_error(const TensorError& error);

// No more of one set's outputs is kept in the worker's own memory.
inline constexpr std::size_t most_held_bytes = std::size_t{1} << 30;

// What the incumbent's side wrote on `set`, in the worker's own memory, as the truth; where it is
// not finite, anything is excused.
[[nodiscard]] std::unique_ptr<Truth> held_outputs(const Task& task, const ShapeBuffers& buffers,
                                                  int set);

// Runs the baseline again on inputs moved by as many roundings as sums of the task's length are off
// by, in a few random directions, and widens the bounds by what the outputs move by: where a task
// is ill-conditioned (a variance of zero), no implementation can be nearer to the truth. The inputs
// are nudged afterwards, and of the incumbent's outputs those of `set` alone are left.
[[nodiscard]] Status add_condition(const Task& task, Arm& baseline, const ShapeBuffers& buffers,
                                   const InputDraw& draw, int set, const Key& key,
                                   Reference& reference);

// Whether the reference can be asked at that shape in reasonable time.
[[nodiscard]] bool oracle_affordable(const Task& task, const Ground& ground, const Axes& axes);

// How far the candidate's outputs of a set are from the reference. Where that is the incumbent,
// indices are judged by the values that they select, and bounds may become wider for it. An error
// is ours.
[[nodiscard]] Result<std::vector<TensorError>> errors_to(const SetInputs& in, Reference& reference);

}  // namespace kernelpro
