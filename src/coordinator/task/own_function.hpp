// A user's function as the compiler reads it: names, types and lines are those it resolved.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/task/own_type.hpp"

namespace kernelpro {

// Where a function is and how its file is compiled.
struct OwnSource {
  std::filesystem::path file;
  std::string function;            // "blur", "image::blur", "axpy<float>", "Filter::apply"
  std::vector<std::string> flags;  // -I, -D, -std= of the user's command
  std::string command;             // what the user typed, for lines to paste in errors

  // "…, for example:" and the command with each of these flags.
  [[nodiscard]] std::string example(const std::vector<std::string>& more) const;
};

struct OwnParameter {
  std::string name;
  OwnType type;
};

struct OwnFunction {
  std::string name;     // with its namespaces
  std::string call;     // what stands before the parentheses: "Filter().apply", "axpy<float>"
  std::string heading;  // for people: "float norm(const std::vector<float>& v)"
  int line = 0;
  bool accumulates = false;  // it keeps a floating sum or product in a variable
  OwnType returns;
  std::vector<OwnParameter> parameters;
};

// Whether there is a compiler to ask.
[[nodiscard]] bool can_read_functions();

// An environment error without clang. A bad_input error says why the function cannot become a task
// and what to do instead: it does not compile, is defined nowhere or more than once, uses globals
// or files, or has parameters that no task can pass.
[[nodiscard]] Result<OwnFunction> read_own_function(const OwnSource& source,
                                                    std::stop_token stop = {});

}  // namespace kernelpro
