// The calls by which a changed function is compared with the user's own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/task.hpp"
#include "coordinator/task/caller_program.hpp"
#include "coordinator/task/own_call.hpp"

namespace kernelpro {

enum class LeafRole { input, output, workspace };

// What a tensor leaf is to the task.
struct LeafTensor {
  LeafRole role = LeafRole::input;
  const TensorSpec* spec = nullptr;     // of inputs and outputs
  const TensorSpec* content = nullptr;  // what it holds before the call; null: rubbish
  const Formula* bytes = nullptr;       // of workspaces
  const Leaf* leaf = nullptr;
};

// Two tensors, by their places in `CallerPlan::tensors`.
struct SameArray {
  std::size_t output = 0;
  std::size_t input = 0;
};

// A call, and for whom it stands.
struct PlannedCall {
  std::string when;  // "n is 0", "x and y are the same array"; empty: as the judge calls
  Axes axes;
  CallerCall call;
  // Of a call with one array as input and output: the call before it has them apart.
  std::optional<SameArray> same;
};

struct CallerPlan {
  std::vector<LeafTensor> tensors;  // by array of a call
  std::vector<PlannedCall> calls;
};

// Callers as the judge is one; those whose arrays begin one number behind an aligned address; those
// with a size of 0 or 1; those that pass one array as input and as output where nothing forbids
// it, each behind the same call with two arrays of equal content. The plan points into `task` and
// `call`. A bad_input error where the task was made of another function.
[[nodiscard]] Result<CallerPlan> plan_callers(const Task& task, const OwnCall& call);

}  // namespace kernelpro
