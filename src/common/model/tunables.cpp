#include "common/model/tunables.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/base/text.hpp"

namespace kernelpro {
namespace {

constexpr std::string_view marker = "kp:tune";

// A tunable and where the digits of its present value stand in the source.
struct Found {
  Tunable tunable;
  std::size_t begin = 0;
  std::size_t end = 0;
};

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r';
}

// Reads words off one line of the source.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}

  bool accept(std::string_view expected) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(expected)) {
      return false;
    }
    at_ += expected.size();
    return true;
  }

  std::string_view word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  std::optional<std::int64_t> number() {
    skip_blanks();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failure != std::errc()) {
      return std::nullopt;
    }
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  // Where the next word begins.
  std::size_t position() {
    skip_blanks();
    return at_;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) {
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Error wrong(int line, const std::string& message) {
  return make_error(ErrorKind::bad_input, message, "line " + std::to_string(line));
}

Result<Tunable> read_comment(Line& line, int number) {
  const std::string expected =
      "expected \"// kp:tune NAME = 16 32 64\", a name and the values worth trying";
  Tunable tunable;
  tunable.line = number;
  tunable.name = line.word();
  if (tunable.name.empty() || is_digit(tunable.name[0]) || !line.accept("=")) {
    return wrong(number, expected);
  }
  std::unordered_set<std::int64_t> seen;
  while (!line.at_end()) {
    const std::optional<std::int64_t> value = line.number();
    if (!value) {
      return wrong(number, expected + "; one of the values is no whole number");
    }
    if (!seen.insert(*value).second) {
      return wrong(number, "the value " + std::to_string(*value) + " stands there twice; " +
                               "expected each value once");
    }
    tunable.values.push_back(*value);
  }
  if (tunable.values.empty()) {
    return wrong(number, expected + "; there are no values");
  }
  return tunable;
}

// Behind "#define" or the words of the type: true when the name comes next.
bool skip_to_name(Line& line, const std::string& name) {
  if (line.accept("#")) {
    return line.word() == "define" && line.word() == name;
  }
  bool typed = false;
  for (std::string_view word = line.word(); !word.empty(); word = line.word()) {
    if (word == name) {
      return typed && line.accept("=");
    }
    typed = true;
    while (line.accept("::")) {
    }
  }
  return false;
}

// Reads the definition that follows the comment; `begin` is where its line begins in the source.
Status read_definition(std::string_view text, std::size_t begin, Found& found) {
  Line line(text);
  const bool macro = Line(text).accept("#");
  const std::string& name = found.tunable.name;
  const auto fail = [&] {
    return wrong(found.tunable.line + 1, "expected the definition of the tunable " + name +
                                             " right after its comment, \"constexpr int64_t " +
                                             name + " = 32;\" or \"#define " + name + " 32\"");
  };
  if (!skip_to_name(line, name)) {
    return fail();
  }
  found.begin = begin + line.position();
  const std::optional<std::int64_t> value = line.number();
  if (!value) {
    return fail();
  }
  found.tunable.current = *value;
  found.end = begin + line.position();
  while (found.end > found.begin && is_blank(text[found.end - begin - 1])) {
    --found.end;
  }
  // What follows the number: a suffix such as LL, the end of the statement, a comment.
  const std::string_view suffix = line.word();
  const bool plain = suffix.find_first_not_of("uUlL") == std::string_view::npos;
  const bool ended = macro ? line.at_end() || line.accept("//") : line.accept(";");
  return plain && ended ? Status() : fail();
}

Result<std::vector<Found>> find_tunables(const std::string& source) {
  std::vector<Found> all;
  std::unordered_map<std::string, int> lines;  // of each name
  int number = 0;
  std::optional<Found> open;
  for (std::size_t begin = 0; begin < source.size() || open;) {
    ++number;
    const std::size_t end = std::min(source.find('\n', begin), source.size());
    const std::string_view text = std::string_view(source).substr(begin, end - begin);
    if (open) {
      KP_TRY(read_definition(text, begin, *open));
      all.push_back(std::move(*open));
      open.reset();
    } else if (Line line(text); line.accept("//") && line.accept(marker)) {
      KP_LET(Tunable tunable, read_comment(line, number));
      const auto [same, fresh] = lines.emplace(tunable.name, number);
      if (!fresh) {
        return wrong(number, "the tunable " + tunable.name + " stands already on line " +
                                 std::to_string(same->second) + "; expected another name");
      }
      open = Found{std::move(tunable), 0, 0};
    }
    begin = std::min(end + 1, source.size());
  }
  return all;
}

}  // namespace

Result<std::vector<Tunable>> parse_tunables(const std::string& source) {
  KP_LET(std::vector<Found> found, find_tunables(source));
  std::vector<Tunable> tunables;
  tunables.reserve(found.size());
  for (Found& one : found) {
    tunables.push_back(std::move(one.tunable));
  }
  return tunables;
}

Result<std::string> set_tunables(const std::string& source,
                                 const std::map<std::string, std::int64_t>& values) {
  KP_LET(const std::vector<Found> found, find_tunables(source));
  std::string out;
  std::string names;
  std::size_t copied = 0;  // of the source
  std::map<std::string, std::int64_t> left = values;
  for (const Found& one : found) {
    names += (names.empty() ? "" : ", ") + one.tunable.name;
    if (const auto set = left.extract(one.tunable.name)) {
      out += source.substr(copied, one.begin - copied) + std::to_string(set.mapped());
      copied = one.end;
    }
  }
  if (!left.empty()) {
    return make_error(ErrorKind::bad_input, left.begin()->first +
                                                " is not a tunable of this source; it has " +
                                                (names.empty() ? "none" : names));
  }
  out += source.substr(copied);
  return out;
}

}  // namespace kernelpro
