#include "worker/judge/held_truth.hpp"

namespace kernelpro {

void HeldTruth::excuse_by(int set) {
  const char* outputs = memory_.output_regions(Side::incumbent, set);
  baseline_outputs_.assign(outputs, outputs + plan_.output_stride);
}

std::vector<TensorError> HeldTruth::errors(Side side, int set) {
  return errors_of(memory_.output_regions(side, set));
}

std::vector<double> HeldTruth::values(std::size_t output, std::size_t first, std::size_t count) {
  const auto begin = expected_[output].values.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::vector<TensorError> HeldTruth::errors_of(const char* regions) const {
  return check_outputs(task_, plan_, regions, expected_,
                       baseline_outputs_.empty() ? nullptr : baseline_outputs_.data());
}

}  // namespace kernelpro
