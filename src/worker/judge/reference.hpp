// What a candidate's outputs are held against: the oracle's values and the baseline's error.
#pragma once

#include <memory>
#include <vector>

#include "worker/judge/stand.hpp"

namespace kernelpro {

struct Reference {
  // None where the reference cannot be asked: then the saved outputs, which are the baseline's,
  // stand for the truth.
  std::unique_ptr<Truth> truth;
  std::vector<double> bounds;  // by output
  double baseline_error = 0;   // the largest over the outputs
  double baseline_ns = 0;      // our clock over its call
};

// Maps the stand's buffers into the baseline's runner.
[[nodiscard]] Status attach_baseline(Arm& baseline, const Stand& stand);

// Asks the oracle and runs the baseline on `set`, whose inputs are filled as `draw` says. The
// outputs of the set are the baseline's afterwards. Errors name whom to blame: oracle or baseline.
[[nodiscard]] Result<Reference> make_reference(const Task& task, Oracle& oracle, Arm& baseline,
                                               const Stand& stand, const InputDraw& draw, int set,
                                               bool ask_oracle = true);

// Whether the reference can be asked at that shape in reasonable time.
[[nodiscard]] bool oracle_affordable(const Task& task, const Ground& ground, const Axes& axes);

// How far the outputs of `set` are from the reference.
[[nodiscard]] std::vector<TensorError> errors_to(const Stand& stand, const Reference& reference,
                                                 int set);

}  // namespace kernelpro
