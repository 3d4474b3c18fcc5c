// What the findings of a micro-profiling tool led to.
#pragma once

#include <string>

#include "common/model/finding.hpp"

namespace kernelpro {

// Of one tool, on candidates of one class on one device. A finding is followed where a child of its
// node makes a move that it names.
struct ToolRecord {
  std::string tool;
  KernelClass kind = KernelClass::unknown;
  std::string device;
  int fired = 0;
  int followed = 0;
  int passed = 0;            // followed, by a candidate that passed
  double log_predicted = 0;  // sums over those that passed, of the logarithm of the gain
  double log_measured = 0;
  int gained = 0;  // of those that passed: by 5 % and more

  [[nodiscard]] double predicted() const;  // geometric means; 1 where there is none
  [[nodiscard]] double measured() const;
  // The counts and sums of another one are added.
  void merge(const ToolRecord& other);
};

}  // namespace kernelpro
