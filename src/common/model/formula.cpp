#include "common/model/formula.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/text.hpp"
#include "common/model/formula_node.hpp"
#include "common/model/number_text.hpp"

namespace kernelpro {

namespace {

using Operation = Formula::Node::Operation;
using NodePtr = std::shared_ptr<const Formula::Node>;

// Both limits keep the recursion over a formula shallow, whatever the text.
constexpr std::size_t longest_text = 1000;
constexpr int deepest_nesting = 64;
constexpr double largest_magnitude = 0x1p62;

struct Function {
  std::string_view name;
  Operation operation;
  int arguments;
};

constexpr std::array<Function, 6> functions = {{
    {"min", Operation::minimum, 2},
    {"max", Operation::maximum, 2},
    {"ceil", Operation::ceiling, 1},
    {"floor", Operation::floor, 1},
    {"log2", Operation::log2, 1},
    {"sqrt", Operation::square_root, 1},
}};

bool starts_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

// The text as one printable line of bounded length, for messages.
std::string quoted(const std::string& text) {
  constexpr std::size_t shown = 80;
  std::string line = "\"";
  for (const char letter : text.substr(0, shown)) {
    line += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return line + (text.size() > shown ? "...\"" : "\"");
}

NodePtr make_node(Operation operation, NodePtr left, NodePtr right = nullptr) {
  return std::make_shared<const Formula::Node>(
      Formula::Node{operation, 0, {}, std::move(left), std::move(right)});
}

// Recursive descent; a null node means that `error_` is set.
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Result<NodePtr> parse() {
    if (text_.size() > longest_text) {
      return make_error(ErrorKind::bad_input, "the formula " + quoted(text_) + " has " +
                                                  std::to_string(text_.size()) +
                                                  " characters; at most " +
                                                  std::to_string(longest_text) + " are allowed");
    }
    NodePtr root = sum();
    if (root && peek()) {
      root = fail("expected an operator or the end of the formula");
    }
    if (!root) {
      return make_error(ErrorKind::bad_input, error_);
    }
    return root;
  }

 private:
  // The next character that is not a blank; nothing at the end.
  std::optional<char> peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
    return at_ < text_.size() ? std::optional(text_[at_]) : std::nullopt;
  }

  bool accept(char letter) {
    if (peek() != letter) {
      return false;
    }
    ++at_;
    return true;
  }

  NodePtr fail(const std::string& expected) {
    std::string found = "it ended";
    if (const std::optional<char> letter = peek()) {
      const bool printable = *letter >= ' ' && *letter <= '~';
      found = printable ? std::string("found '") + *letter + "'"
                        : "found the byte " + std::to_string(static_cast<unsigned char>(*letter));
    }
    error_ = "the formula " + quoted(text_) + " is wrong at position " + std::to_string(at_ + 1) +
             ": " + expected + ", " + found;
    return nullptr;
  }

  NodePtr sum() {
    NodePtr left = product();
    while (left) {
      if (accept('+')) {
        left = join(Operation::add, left, product());
      } else if (accept('-')) {
        left = join(Operation::subtract, left, product());
      } else {
        break;
      }
    }
    return left;
  }

  NodePtr product() {
    NodePtr left = factor();
    while (left) {
      if (accept('*')) {
        left = join(Operation::multiply, left, factor());
      } else if (accept('/')) {
        left = join(Operation::divide, left, factor());
      } else {
        break;
      }
    }
    return left;
  }

  static NodePtr join(Operation operation, NodePtr left, NodePtr right) {
    return right ? make_node(operation, std::move(left), std::move(right)) : nullptr;
  }

  // Every way to nest goes through here, so here the depth is counted.
  NodePtr factor() {
    if (depth_ == deepest_nesting) {
      return fail("expected at most " + std::to_string(deepest_nesting) +
                  " nested parentheses and signs");
    }
    ++depth_;
    NodePtr node = signed_or_primary();
    --depth_;
    return node;
  }

  NodePtr signed_or_primary() {
    if (accept('-')) {
      NodePtr operand = factor();
      return operand ? make_node(Operation::negate, std::move(operand)) : nullptr;
    }
    if (accept('(')) {
      NodePtr inner = sum();
      return inner && !accept(')') ? fail("expected ')'") : inner;
    }
    const std::optional<char> next = peek();
    if (next && is_digit(*next)) {
      return number();
    }
    if (next && starts_name(*next)) {
      return name_or_call();
    }
    return fail("expected a number, a name, '-' or '('");
  }

  NodePtr number() {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    Formula::Node node;
    const auto [rest, error] = std::from_chars(begin, end, node.number, std::chars_format::fixed);
    if (error != std::errc() || node.number > largest_magnitude) {
      return fail("expected a number of at most 2^62");
    }
    at_ += static_cast<std::size_t>(rest - begin);
    return std::make_shared<const Formula::Node>(std::move(node));
  }

  NodePtr name_or_call() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) {
      ++at_;
    }
    Formula::Node node;
    node.operation = Operation::name;
    node.name = text_.substr(begin, at_ - begin);
    if (peek() == '(') {
      return call(node.name, begin);
    }
    return std::make_shared<const Formula::Node>(std::move(node));
  }

  NodePtr call(const std::string& name, std::size_t begin) {
    const auto* function = std::find_if(functions.begin(), functions.end(),
                                        [&](const Function& known) { return known.name == name; });
    if (function == functions.end()) {
      at_ = begin;
      return fail("expected one of the functions min, max, ceil, floor, log2, sqrt");
    }
    accept('(');
    NodePtr left = sum();
    NodePtr right;
    if (left && function->arguments == 2) {
      if (!accept(',')) {
        return fail("expected ',' and the second argument of " + name);
      }
      right = sum();
    }
    if (!left || (function->arguments == 2 && !right)) {
      return nullptr;
    }
    if (!accept(')')) {
      return fail("expected ')' after " + std::to_string(function->arguments) + " argument(s) of " +
                  name);
    }
    return make_node(function->operation, std::move(left), std::move(right));
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

double apply(Operation operation, double left, double right) {
  switch (operation) {
    case Operation::negate:
      return -left;
    case Operation::add:
      return left + right;
    case Operation::subtract:
      return left - right;
    case Operation::multiply:
      return left * right;
    case Operation::divide:
      return left / right;
    case Operation::minimum:
      return std::min(left, right);
    case Operation::maximum:
      return std::max(left, right);
    case Operation::ceiling:
      return std::ceil(left);
    case Operation::floor:
      return std::floor(left);
    case Operation::log2:
      return std::log2(left);
    case Operation::square_root:
      return std::sqrt(left);
    case Operation::number:
    case Operation::name:
      break;
  }
  return left;
}

// Why an operation has no value there; nothing when it has one.
std::optional<std::string> refusal(Operation operation, double left, double right) {
  if (operation == Operation::divide && right == 0) {
    return "division by zero";
  }
  if (operation == Operation::log2 && left <= 0) {
    return "log2 of a number that is not above zero";
  }
  if (operation == Operation::square_root && left < 0) {
    return "sqrt of a negative number";
  }
  if (std::abs(apply(operation, left, right)) > largest_magnitude) {
    return "a magnitude beyond 2^62";
  }
  return std::nullopt;
}

// The value of one node; an error's message is the bare reason. Whole numbers are divided as in C,
// unless it is the argument of a function that is about fractions (`real`).
Result<double> value_of(const Formula::Node& node, const Axes& axes, bool real = false) {
  double left = node.number;
  double right = 0;
  if (node.operation == Operation::name) {
    const auto axis = axes.find(node.name);
    if (axis == axes.end()) {
      return make_error(ErrorKind::bad_input, "'" + node.name + "' is not an axis");
    }
    left = static_cast<double>(axis->second);
  }
  if (node.left) {
    KP_LET(left, value_of(*node.left, axes, real || takes_fractions(node.operation)));
  }
  if (node.right) {
    KP_LET(right, value_of(*node.right, axes, real));
  }
  if (std::optional<std::string> reason = refusal(node.operation, left, right)) {
    return make_error(ErrorKind::bad_input, *reason);
  }
  const double value = apply(node.operation, left, right);
  const bool whole = left == std::floor(left) && right == std::floor(right);
  return node.operation == Operation::divide && whole && !real ? std::trunc(value) : value;
}

std::string axes_text(const Axes& axes) {
  std::string text;
  for (const auto& [name, value] : axes) {
    text += " " + name + "=" + std::to_string(value);
  }
  return text.empty() ? " no axes" : text;
}

Error evaluation_error(const std::string& text, const Axes& axes, const std::string& reason) {
  return make_error(ErrorKind::bad_input, "the formula " + quoted(text) + " has no value with" +
                                              axes_text(axes) + ": " + reason);
}

void collect_names(const Formula::Node& node, std::vector<std::string>& names) {
  if (node.operation == Operation::name &&
      std::find(names.begin(), names.end(), node.name) == names.end()) {
    names.push_back(node.name);
  }
  if (node.left) {
    collect_names(*node.left, names);
  }
  if (node.right) {
    collect_names(*node.right, names);
  }
}

}  // namespace

Result<Formula> Formula::parse(const std::string& text) {
  KP_LET(NodePtr root, Parser(text).parse());
  Formula formula;
  formula.text_ = text;
  formula.root_ = root;
  return formula;
}

Result<double> Formula::evaluate(const Axes& axes) const {
  if (!root_) {
    return 0.0;
  }
  Result<double> value = value_of(*root_, axes);
  return value.ok() ? value : evaluation_error(text_, axes, value.error().message);
}

Result<std::int64_t> Formula::evaluate_size(const Axes& axes) const {
  KP_LET(const double value, evaluate(axes));
  if (value < 0 || value != std::floor(value)) {
    return evaluation_error(
        text_, axes, "it gives " + number_text(value) + ", expected a whole number of at least 0");
  }
  return static_cast<std::int64_t>(value);
}

std::vector<std::string> Formula::names() const {
  std::vector<std::string> names;
  if (root_) {
    collect_names(*root_, names);
  }
  return names;
}

}  // namespace kernelpro
