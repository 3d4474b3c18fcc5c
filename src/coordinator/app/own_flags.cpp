#include "coordinator/app/own_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

namespace kernelpro {
namespace {

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

std::optional<AxisRange> range_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) {
    const auto number = whole_number(part);
    if (!number) {
      return {};
    }
    numbers.push_back(*number);
  }
  const bool fits = (numbers.size() == 2 || numbers.size() == 3) && numbers[0] <= numbers[1];
  const std::int64_t step = numbers.size() == 3 ? numbers[2] : 1;
  return fits && step > 0 ? std::optional(AxisRange{numbers[0], numbers[1], step}) : std::nullopt;
}

std::vector<std::string> extents_of(const std::string& text) {
  std::vector<std::string> extents;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    extents.push_back(part);
  }
  return extents;
}

}  // namespace

Status take_flag(NewTask& wishes, const std::string& flag, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const auto expected = [&](const std::string& what) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("expected {}, found \"{}\"", what, assignment), flag);
  };
  if (equals == std::string::npos || equals == 0 || equals + 1 == assignment.size()) {
    return expected("NAME=VALUE");
  }
  const std::string name = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
  if (flag == "--size") {
    const auto size = whole_number(value);
    if (!size) {
      return expected("a whole number, such as n=96");
    }
    wishes.sizes[name] = *size;
  } else if (flag == "--held-out") {
    const auto range = range_of(value);
    if (!range) {
      return expected("two whole numbers and perhaps a step, such as n=3:40 or n=8:256:8");
    }
    wishes.held_out[name] = *range;
  } else if (flag == "--shape") {
    wishes.shapes[name] = extents_of(value);
  } else {
    auto& texts = flag == "--axis" ? wishes.derived : wishes.values;
    (flag == "--fix" ? wishes.fixed : texts)[name] = value;
  }
  return {};
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n\"'\\$&|;<>()*?[]{}`~#!") == std::string::npos;
    std::string quoted = "'";
    for (const char c : word) {
      quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    line += (line.empty() ? "" : " ") + (plain ? word : quoted + "'");
  }
  return line;
}

}  // namespace kernelpro
