// What `task new` is about to write: the signature with every open question settled.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/backend.hpp"
#include "common/model/dtype.hpp"
#include "coordinator/task/create.hpp"
#include "coordinator/task/signature.hpp"

namespace kernelpro {

struct PlannedTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::string> shape;
  std::string values;     // inputs: the TOML value of `values`, empty for the default
  std::string copied_to;  // inputs: the output it is copied to before the call, else empty
};

struct TaskPlan {
  std::string name;
  std::string source_name;  // for people: the file the function came from
  Backend backend = Backend::cpu;
  Signature signature;
  std::vector<std::string> axes;
  std::vector<PlannedTensor> inputs;
  std::vector<PlannedTensor> outputs;
  std::vector<std::string> scalars;
  std::map<std::string, std::string> scalar_ranges;  // by scalar: "[0.5, 2]"; absent: the default
  std::vector<std::string> only_read;                // inputs whose parameter is not const
  std::vector<std::string> arguments;                // what is passed for each parameter
  std::map<std::string, std::string> workspace;      // bytes as a formula
  std::string flops;
  std::string reduction;
  std::map<std::string, std::string> derived;  // axes by formula; they are among `axes` too
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, AxisRange> held_out;
  std::vector<std::string> options;  // of the baseline; empty: the default
  std::string heading;               // for people: the user's own declaration; empty: the signature
};

// Settles shapes, values and inouts from the request's flags. An error names the flag that is
// wrong or missing, with an example.
[[nodiscard]] Result<TaskPlan> plan_task(const NewTask& request, const Signature& signature);

// Whether a reference of that signature can be called: parameters of the entry's names and kinds.
// `file` is only named in errors.
[[nodiscard]] Status check_reference_signature(const TaskPlan& plan, const Signature& reference,
                                               const std::string& file);

}  // namespace kernelpro
