// Why a function could not be called on trial, and what its user can do.
#include <fmt/format.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/sort.hpp"
#include "coordinator/task/learn_trials.hpp"
#include "coordinator/task/lexer.hpp"

namespace kernelpro::learn {
namespace {

// "--held-out n=128:512 --size n=128", of the first size.
std::string size_line(const std::vector<std::string>& axes, std::int64_t size) {
  const std::string name = axes.empty() ? "n" : axes[0];
  return fmt::format("--held-out {0}={1}:{2} --size {0}={1}", name, size, 4 * size);
}

// The sizes that the condition names come first.
std::vector<std::string> named_first(std::vector<std::string> axes, const std::string& condition) {
  const std::vector<std::string> named = named_in(condition, axes);
  sort_keeping_ties(axes, [&named](const std::string& one, const std::string& other) {
    return contains(named, one) && !contains(named, other);
  });
  return axes;
}

// "--fix pad=1 --fix kernel=3".
std::string fix_line(const Axes& takes) {
  std::string text;
  for (const auto& [name, size] : takes) {
    text += fmt::format("{}--fix {}={}", text.empty() ? "" : " ", name, size);
  }
  return text;
}

// A struct of different types cannot be a tensor's element.
std::string say_structs(const OwnFunction& function) {
  std::string text;
  for (const OwnParameter& one : function.parameters) {
    if (one.type.by_pointer) {
      text += fmt::format(
          "; {0} is taken for one {1}: where it is an array of them, write a function that takes "
          "an array for each of their fields and calls this one",
          one.name, one.type.record);
    }
  }
  return text;
}

std::string say_dependence(const OwnSource& source, const std::vector<std::string>& axes) {
  return axes.size() < 2 ? ""
                         : "; if its sizes depend on each other, say how" +
                               source.example({fmt::format("--fix {}={}", axes[1], axes[0])});
}

}  // namespace

std::vector<std::string> named_in(const std::string& condition,
                                  const std::vector<std::string>& axes) {
  // As sizes are called: "p.pad" is p_pad, "x.size()" is x_size.
  std::string text;
  for (const Token& token : lex_cpp(condition)) {
    if (token.kind == Token::Kind::word) {
      text += token.text;
    } else {
      text += token.text == "." || token.text == "->" ? "_" : " ";
    }
  }
  std::vector<std::string> out;
  for (const std::string& axis : axes) {
    const auto is_end = [&text](std::size_t at) { return at >= text.size() || text[at] == ' '; };
    for (std::size_t at = text.find(axis); at != std::string::npos; at = text.find(axis, at + 1)) {
      if ((at == 0 || text[at - 1] == ' ') && is_end(at + axis.size())) {
        out.push_back(axis);
        break;
      }
    }
  }
  return out;
}

std::string trouble_text(const Asked& asked, const std::vector<std::string>& axes,
                         const TrialResult& last, const Axes& takes) {
  constexpr std::int64_t large = 128;
  const OwnSource& source = asked.source;
  if (last.returned) {
    return "it wrote nothing that a caller can see, at any of the sizes and numbers tried; a "
           "task needs a result: a pointer, a reference, a list or a returned value. If it "
           "writes at other sizes alone, say which" +
           source.example({size_line(axes, large)});
  }
  if (!last.assertion.empty()) {
    return fmt::format(
               "its own assert( {} ) fails at every size tried; say the sizes that it is "
               "made for",
               last.assertion) +
           source.example({takes.empty() ? size_line(named_first(axes, last.assertion), large)
                                         : fix_line(takes)});
  }
  switch (last.signal) {
    case SIGALRM:
      return "it did not return within 2 s at sizes below 32; a function that waits or never "
             "ends cannot be judged";
    case SIGILL:
    case SIGTRAP:
      return "it has undefined behavior (overflow, a shift or a conversion out of range, an "
             "array's bounds) at small sizes; build it with -fsanitize=undefined to see where, "
             "and mend that first";
    case SIGSEGV:
    case SIGBUS:
      return "it touched memory that is not its own at every size tried" +
             say_structs(asked.function) + say_dependence(source, axes);
    default:
      return fmt::format("it ended by signal {} at every size tried", last.signal) +
             say_dependence(source, axes);
  }
}

}  // namespace kernelpro::learn
