#include "coordinator/task/scalar_values.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdlib>
#include <set>

#include "coordinator/task/plan_values.hpp"
#include "coordinator/task/token_list.hpp"

namespace kernelpro {
namespace {

class Uses {
 public:
  Uses(const std::string& source, const std::string& name) : tokens_(lex_cpp(source)) {
    mark_roots();
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      const bool member = text(i - 1) == "." || text(i - 1) == "->";
      if (text(i) == name && tokens_[i].kind == Token::Kind::word && !member) {
        look_at(i);
      }
    }
  }

  [[nodiscard]] std::string values() const {
    if (given_ > 0) {
      return fmt::format("uniform:{}:{}", given_ / 2, given_);
    }
    if (guards_) {
      return "uniform:1e-06:1e-05";
    }
    return complements_ ? "uniform:0.1:0.9" : "";
  }

 private:
  [[nodiscard]] const std::string& text(std::size_t at) const { return tokens_[at].text; }
  [[nodiscard]] double number(std::size_t at) const {
    return at < tokens_.size() && tokens_[at].kind == Token::Kind::number
               ? std::strtod(text(at).c_str(), nullptr)
               : 0;
  }

  // Whether each token stands directly in the parentheses of a root, and where roots end.
  void mark_roots() {
    static const std::set<std::string> roots = {"sqrt",   "sqrtf",      "rsqrt",
                                                "rsqrtf", "__fsqrt_rn", "__frsqrt_rn"};
    in_root_.assign(tokens_.size(), false);
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (!roots.contains(text(i)) || text(i + 1) != "(") {
        continue;
      }
      const std::size_t end = closing(tokens_, i + 1);
      ends_.insert(end);
      starts_.insert(i > 1 && text(i - 1) == "::" ? i - 2 : i);
      for (std::size_t inside = i + 2; inside < end && inside < tokens_.size(); ++inside) {
        in_root_[inside] = true;
        if (text(inside) == "(") {
          inside = closing(tokens_, inside);
        }
      }
    }
  }

  void look_at(std::size_t at) {
    if (text(at + 1) == "=" && given_ == 0) {
      given_ = number(at + 2);
    }
    const bool added = text(at - 1) == "+" || text(at + 1) == "+";
    const bool to_root = (text(at - 1) == "+" && at > 1 && ends_.contains(at - 2)) ||
                         (text(at + 1) == "+" && starts_.contains(at + 2));
    guards_ = guards_ || (added && (in_root_[at] || to_root));
    complements_ = complements_ || (at > 1 && text(at - 1) == "-" && number(at - 2) == 1);
  }

  Tokens tokens_;
  std::vector<bool> in_root_;
  std::set<std::size_t> starts_;
  std::set<std::size_t> ends_;
  double given_ = 0;
  bool guards_ = false;
  bool complements_ = false;
};

}  // namespace

std::string scalar_values(const std::string& source, const std::string& name) {
  return Uses(source, name).values();
}

std::optional<double> scalar_sample(const NewTask& request, const std::string& name) {
  const auto fixed = request.fixed.find(name);
  if (fixed != request.fixed.end()) {
    return parse_number(fixed->second);
  }
  const auto values = request.values.find(name);
  const auto range = parse_range(values == request.values.end() ? "" : values->second);
  return range ? std::optional((range->low + range->high) / 2) : std::nullopt;
}

}  // namespace kernelpro
