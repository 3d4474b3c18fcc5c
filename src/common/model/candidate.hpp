// What is judged: a source, how to build it, and a name for people.
#pragma once

#include <string>
#include <vector>

#include "common/model/backend.hpp"

namespace kernelpro {

struct Candidate {
  std::string name;
  Backend backend = Backend::cpu;
  std::string source;
  std::string compiler;                // empty: the default compiler
  std::vector<std::string> options;    // from the allow-list
  std::vector<std::string> libraries;  // comparators only: a candidate links nothing
};

}  // namespace kernelpro
