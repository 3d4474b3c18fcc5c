#include "coordinator/task/asserted_sizes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "coordinator/task/file_constants.hpp"
#include "coordinator/task/function_body.hpp"

namespace kernelpro {
namespace {

constexpr std::int64_t largest_step = 1 << 20;

Tokens slice(const Tokens& tokens, std::size_t begin, std::size_t end) {
  return {tokens.begin() + static_cast<std::ptrdiff_t>(begin),
          tokens.begin() + static_cast<std::ptrdiff_t>(end)};
}

// Without parentheses around all of it.
Tokens bare(Tokens tokens) {
  while (tokens.size() > 1 && tokens[0].text == "(" && closing(tokens, 0) + 1 == tokens.size()) {
    tokens = slice(tokens, 1, tokens.size() - 1);
  }
  return tokens;
}

bool is_both(const Tokens& tokens, std::size_t at, const char* sign) {
  return at + 1 < tokens.size() && tokens[at].text == sign && tokens[at + 1].text == sign &&
         tokens[at + 1].offset == tokens[at].offset + 1;
}

// Places outside of all parentheses and brackets, of which that holds.
std::vector<std::size_t> places_of(const Tokens& tokens,
                                   const std::function<bool(std::size_t)>& wanted) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{") {
      i = closing(tokens, i);
    } else if (wanted(i)) {
      out.push_back(i);
    }
  }
  return out;
}

struct Comparison {
  Tokens left;
  std::string sign;  // ">=", "<=", ">", "<", "==", "!="
  Tokens right;
};

// The one that a condition is; without one, that the whole is not zero. Nothing where it has two.
std::optional<Comparison> comparison_in(const Tokens& condition, const Token& zero) {
  const auto is = [&condition](std::size_t at, const char* text) {
    return at < condition.size() && condition[at].text == text;
  };
  bool shifts = false;
  const std::vector<std::size_t> places = places_of(condition, [&](std::size_t at) {
    shifts = shifts || is_both(condition, at, "<") || is_both(condition, at, ">");
    const bool behind = at > 0 && is(at, "=");
    return is(at, "<") || is(at, ">") || (is(at, "!") && is(at + 1, "=")) ||
           (behind && is(at + 1, "="));
  });
  if (shifts || places.size() > 1) {
    return {};
  }
  if (places.empty()) {
    return Comparison{bare(condition), "!=", {zero}};
  }
  const std::size_t at = places[0];
  const bool two = is(at + 1, "=");
  return Comparison{bare(slice(condition, 0, at)), condition[at].text + (two ? "=" : ""),
                    bare(slice(condition, at + (two ? 2 : 1), condition.size()))};
}

std::string other_way(const std::string& sign) {
  static const std::map<std::string, std::string> turned = {
      {">=", "<="}, {"<=", ">="}, {">", "<"}, {"<", ">"}, {"==", "=="}, {"!=", "!="}};
  return turned.at(sign);
}

std::string negation(const std::string& sign) {
  static const std::map<std::string, std::string> opposite = {
      {">=", "<"}, {"<=", ">"}, {">", "<="}, {"<", ">="}, {"==", "!="}, {"!=", "=="}};
  return opposite.at(sign);
}

class AssertReader {
 public:
  // `firsts`: by axis one before it that is the same, as far as that is known.
  AssertReader(const Tokens& tokens, const std::string& function,
               const std::vector<std::string>& axes, std::map<std::string, std::string> firsts)
      : constants_(tokens),
        body_(body_of(tokens, function)),
        axes_(axes),
        firsts_(std::move(firsts)) {
    int depth = 0;
    for (std::size_t i = 0; i + 1 < body_.size(); ++i) {
      depth += body_[i].text == "{" ? 1 : 0;
      depth -= body_[i].text == "}" ? 1 : 0;
      note_change(i);
      if (depth == 1 && asserts(body_[i].text) && body_[i + 1].text == "(" && begins(i)) {
        const std::size_t end = closing(body_, i + 1);
        Tokens condition = slice(body_, i + 2, std::min(end, body_.size()));
        const auto commas = places_of(
            condition, [&condition](std::size_t at) { return condition[at].text == ","; });
        // A message may stand behind it.
        take(commas.empty() ? condition : slice(condition, 0, commas[0]));
      }
    }
  }

  [[nodiscard]] AssertedSizes result() const {
    AssertedSizes out = out_;
    for (const std::string& axis : axes_) {
      if (const std::string first = first_of(axis); first != axis) {
        out.equal[axis] = first;
      }
    }
    return out;
  }

 private:
  // Whether a statement begins there, that nothing but the calls before it decides about.
  [[nodiscard]] bool begins(std::size_t at) const {
    while (at >= 2 && body_[at - 1].text == "::") {
      at -= 2;
    }
    const std::string& before = at > 0 ? body_[at - 1].text : body_[at].text;
    return body_[at].directive.empty() &&
           (before == ";" || before == "{" || before == "}" || !body_[at - 1].directive.empty());
  }

  // "n /= 2", "++n": what is asserted behind that is not said of the parameter.
  void note_change(std::size_t at) {
    const auto is = [this](std::size_t i, const char* text) {
      return i < body_.size() && body_[i].text == text;
    };
    if (body_[at].kind != Token::Kind::word || (at > 0 && is(at - 1, "."))) {
      return;
    }
    static const std::string operations = "+-*/%&|";
    const bool set = is(at + 1, "=") && !is(at + 2, "=");
    const bool changed = at + 2 < body_.size() && body_[at + 1].text.size() == 1 &&
                         operations.find(body_[at + 1].text) != std::string::npos &&
                         is(at + 2, "=") && !is(at + 3, "=");
    const bool counted = is_both(body_, at + 1, "+") || is_both(body_, at + 1, "-") ||
                         (at >= 2 && (is_both(body_, at - 2, "+") || is_both(body_, at - 2, "-")));
    if (set || changed || counted) {
      changed_.insert(body_[at].text);
    }
  }

  void take(const Tokens& whole) {
    const Tokens condition = bare(whole);
    const auto is_or = [&condition](std::size_t at) {
      const std::string& text = condition[at].text;
      return is_both(condition, at, "|") || text == "?" || text == "or" || text == "^";
    };
    if (condition.empty() || !places_of(condition, is_or).empty()) {
      return;
    }
    std::vector<std::size_t> ands = places_of(condition, [&condition](std::size_t at) {
      return is_both(condition, at, "&") && (at == 0 || !is_both(condition, at - 1, "&"));
    });
    if (ands.empty()) {
      take_one(condition);
      return;
    }
    std::size_t begin = 0;
    ands.push_back(condition.size());
    for (const std::size_t end : ands) {
      if (begin < end) {
        take(slice(condition, begin, end));
      }
      begin = end + 2;
    }
  }

  void take_one(Tokens condition) {
    bool holds = true;
    while (condition.size() > 1 && condition[0].text == "!" && condition[1].text != "=" &&
           is_one_operand(condition)) {
      condition = bare(slice(condition, 1, condition.size()));
      holds = !holds;
    }
    // "!(a && b)" says nothing of a.
    const bool joined_up = !places_of(condition, [&condition](std::size_t at) {
                              return is_both(condition, at, "&") || is_both(condition, at, "|");
                            }).empty();
    const auto one = joined_up || condition[0].text == "!"
                         ? std::nullopt
                         : comparison_in(condition, Token{Token::Kind::number, "0", 0, 1, ""});
    if (one) {
      compare(one->left, holds ? one->sign : negation(one->sign), one->right);
    }
  }

  // "!n", "!(n % 8)"; not "!n % 8".
  static bool is_one_operand(const Tokens& condition) {
    return condition.size() == 2 ||
           (condition[1].text == "(" && closing(condition, 1) + 1 == condition.size()) ||
           (condition[1].text == "!" && is_one_operand(slice(condition, 1, condition.size())));
  }

  // Of a parameter, a field ("a.rows", "a->rows": a_rows) or a list ("x.size()": x_size).
  [[nodiscard]] std::optional<std::string> axis_in(const Tokens& side) const {
    std::string name;
    for (const Token& token : side) {
      const bool member = token.text == "." || token.text == "->";
      if (!member && token.kind != Token::Kind::word && token.text != "(" && token.text != ")") {
        return {};
      }
      name += member ? "_" : token.text;
    }
    if (name.ends_with("_size()")) {
      name.erase(name.size() - 2);
    }
    if (std::ranges::find(axes_, name) == axes_.end() || changed_.contains(side[0].text)) {
      return {};
    }
    return first_of(name);
  }

  [[nodiscard]] std::string first_of(std::string axis) const {
    for (auto known = firsts_.find(axis); known != firsts_.end(); known = firsts_.find(axis)) {
      axis = known->second;
    }
    return axis;
  }

  void compare(const Tokens& left, const std::string& sign, const Tokens& right) {
    if (take_rest(left, sign, right) || take_rest(right, sign, left)) {
      return;
    }
    const auto axis = axis_in(left);
    const auto other = axis_in(right);
    if (axis && other) {
      compare_axes(*axis, sign, *other);
    } else if (axis) {
      bound(*axis, sign, constants_.value(right));
    } else if (other) {
      bound(*other, other_way(sign), constants_.value(left));
    }
  }

  void bound(const std::string& axis, const std::string& sign,
             const std::optional<std::int64_t>& value) {
    if (!value) {
      return;
    }
    AssertedSizes::Bounds& bounds = out_.bounds[axis];
    if (sign == ">=" || sign == ">" || sign == "==") {
      bounds.low = std::max(bounds.low, *value + (sign == ">" ? 1 : 0));
    }
    if (sign == "<=" || sign == "<" || sign == "==") {
      const std::int64_t high = *value - (sign == "<" ? 1 : 0);
      bounds.high = bounds.high > 0 ? std::min(bounds.high, high) : high;
    }
  }

  void compare_axes(const std::string& left, const std::string& sign, const std::string& right) {
    if (left == right) {
      return;
    }
    if (sign == "==") {
      const bool later = std::ranges::find(axes_, left) > std::ranges::find(axes_, right);
      firsts_[later ? left : right] = later ? right : left;
    } else if (sign != "!=") {
      const bool above = sign.starts_with('>');
      const SizeOrder order{above ? left : right, above ? right : left, sign.size() == 1};
      if (std::ranges::find(out_.at_least, order) == out_.at_least.end()) {
        out_.at_least.push_back(order);
      }
    }
  }

  // "n % 8 == 0", "n % k == 0", "n % 2 != 0", "(n & 7) == 0", "(n & (n - 1)) == 0".
  bool take_rest(const Tokens& side, const std::string& sign, const Tokens& value) {
    const auto signs = places_of(
        side, [&side](std::size_t at) { return side[at].text == "%" || side[at].text == "&"; });
    if (signs.size() != 1 || (sign != "==" && sign != "!=")) {
      return false;
    }
    const Tokens written = slice(side, signs[0] + 1, side.size());
    const Tokens by = bare(written);
    const bool divides = side[signs[0]].text == "%";
    const auto axis = axis_in(bare(slice(side, 0, signs[0])));
    auto rest = constants_.value(value);
    const bool more_behind = divides && !places_of(written, [&written](std::size_t at) {
                                           return written[at].kind == Token::Kind::punctuation &&
                                                  written[at].text != "." &&
                                                  written[at].text != "->";
                                         }).empty();
    if (!axis || !rest || by.empty() || more_behind) {
      return true;
    }
    const std::string less_one =
        divides || by.size() < 3 ? "" : joined(slice(by, by.size() - 2, by.size()));
    if (less_one == "-1" && axis_in(slice(by, 0, by.size() - 2)) == axis) {
      if (sign == "==" && *rest == 0) {
        out_.powers_of_two.insert(*axis);
      }
      return true;
    }
    if (const auto other = axis_in(by); other && divides) {
      if (sign == "==" && *rest == 0 && *other != *axis) {
        out_.multiple_of.emplace(*axis, *other);
      }
      return true;
    }
    auto step = constants_.value(by);
    if (step && !divides) {
      step = (*step & (*step + 1)) == 0 ? std::optional(*step + 1) : std::nullopt;
    }
    if (sign == "!=" && step == 2 && *rest < 2) {
      rest = 1 - *rest;
    } else if (sign == "!=") {
      return true;
    }
    if (step && *step > 1 && *step <= largest_step && *rest < *step) {
      keep_to(out_.bounds[*axis], *step, *rest);
    }
    return true;
  }

  // Both what was known and this.
  static void keep_to(AssertedSizes::Bounds& bounds, std::int64_t step, std::int64_t rest) {
    const std::int64_t both = std::lcm(bounds.step, step);
    for (std::int64_t size = bounds.rest; size < both && both <= largest_step;
         size += bounds.step) {
      if (size % step == rest) {
        bounds.step = both;
        bounds.rest = size;
        return;
      }
    }
  }

  FileConstants constants_;
  Tokens body_;
  const std::vector<std::string>& axes_;
  std::set<std::string> changed_;
  std::map<std::string, std::string> firsts_;
  AssertedSizes out_;
};

}  // namespace

AssertedSizes asserted_sizes(const std::string& source, const std::string& function,
                             const std::vector<std::string>& axes) {
  const Tokens tokens = lex_cpp(source);
  // What is said of a size before it is known to be the same as another is said of both.
  const AssertReader first(tokens, function, axes, {});
  return AssertReader(tokens, function, axes, first.result().equal).result();
}

}  // namespace kernelpro
