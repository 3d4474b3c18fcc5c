// What a function's floating numbers are drawn from, seen from what the code does with them.
#pragma once

#include <optional>
#include <string>

#include "coordinator/task/create.hpp"

namespace kernelpro {

// As --values has it, for the parameter of this name. A number that the code gives it, as a default
// argument does, is the highest; what is added under a square root or to one only keeps it from
// zero; what is taken from 1 lies between 0 and 1. Empty: nothing is seen.
[[nodiscard]] std::string scalar_values(const std::string& source, const std::string& name);

// A number of what --fix or --values say of it, for calls on trial; nothing where they do not.
[[nodiscard]] std::optional<double> scalar_sample(const NewTask& request, const std::string& name);

}  // namespace kernelpro
