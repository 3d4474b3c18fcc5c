#include "common/model/suite.hpp"

namespace kernelpro {

std::string text_of(const ProblemId& problem) {
  return std::to_string(problem.level) + "_" + std::to_string(problem.number);
}

}  // namespace kernelpro
