// Expected outputs in the worker's own memory.
#pragma once

#include <vector>

#include "worker/judge/ground.hpp"

namespace kernelpro {

class HeldTruth : public Truth {
 public:
  // Task, plan and memory must outlive it.
  HeldTruth(const Task& task, const BufferPlan& plan, SetMemory& memory, Expected expected)
      : task_(task), plan_(plan), memory_(memory), expected_(std::move(expected)) {}

  void excuse_by(int set) override;
  [[nodiscard]] std::vector<TensorError> errors(Side side, int set) override;
  [[nodiscard]] std::vector<double> values(std::size_t output, std::size_t first,
                                           std::size_t count) override;
  // As errors, for the output regions of one set that lie elsewhere.
  [[nodiscard]] std::vector<TensorError> errors_of(const char* regions) const;

  [[nodiscard]] const Expected& expected() const { return expected_; }

 private:
  const Task& task_;
  const BufferPlan& plan_;
  SetMemory& memory_;
  Expected expected_;
  std::vector<char> baseline_outputs_;  // the regions that excuse_by saw
};

}  // namespace kernelpro
