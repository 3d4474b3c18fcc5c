// Arithmetic over named axes: "2*m*n*k", "ceil(n/64)", "n*log2(n)".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

using Axes = std::map<std::string, std::int64_t>;

// Grammar: + - * / ( ), decimal numbers, names, min(a,b) max(a,b) ceil(a) floor(a) log2(a) sqrt(a).
// Whole numbers are divided as in C, toward zero; inside of ceil, floor, log2 and sqrt exactly.
// Evaluation never traps: division by zero, an unknown name and a magnitude past 2^62 are errors
// that quote the formula and the axes.
class Formula {
 public:
  Formula() = default;  // the constant 0
  [[nodiscard]] static Result<Formula> parse(const std::string& text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] Result<double> evaluate(const Axes& axes) const;
  // As evaluate, and the value must be a whole number >= 0.
  [[nodiscard]] Result<std::int64_t> evaluate_size(const Axes& axes) const;
  // As a C++ expression of type std::int64_t, over variables of that type with the axes' names
  // (cpp_identifier); it needs <algorithm> and <cmath>. A bad_input error where its parts need not
  // be whole numbers.
  [[nodiscard]] Result<std::string> cpp() const;
  // The names it uses, each once.
  [[nodiscard]] std::vector<std::string> names() const;

  struct Node;

 private:
  std::string text_ = "0";
  std::shared_ptr<const Node> root_;
};

// The name as C and C++ take it: a keyword gets an underscore behind it.
[[nodiscard]] std::string cpp_identifier(const std::string& name);

}  // namespace kernelpro
