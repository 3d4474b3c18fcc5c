// The parts that the readers of machine code share: lines, offsets, functions collected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "worker/profile/sass.hpp"

namespace kernelpro {

inline constexpr std::string_view blanks = " \t\r";

// "1f0", all of it.
[[nodiscard]] std::optional<std::uint64_t> hex_number(std::string_view text);

[[nodiscard]] std::string hex_text(std::uint64_t value);  // "0x1f0"

// Lines of a text, with their numbers.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next() {
    if (rest_.empty()) {
      return false;
    }
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    return true;
  }
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] int number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  int number_ = 0;
};

// "/*0110*/   BRA 0x110;   /* 0xff.. */" in its parts; `body` ends before the semicolon.
struct CodeLine {
  std::uint64_t offset = 0;
  std::string_view body;
  bool ended = false;  // by its semicolon
};

// Nothing: the line does not begin with an offset. Encodings, "/* 0xff.. */", do not.
[[nodiscard]] std::optional<CodeLine> code_line(std::string_view line);

// How well code for `have` suits a GPU of `asked`; 0: it does not run there.
[[nodiscard]] int suitability(const std::string& asked, const std::string& have);

// Takes instructions into functions, within the limit.
class CodeCollector {
 public:
  // `heading`: what the heading of a function begins with, and so ends the one before.
  CodeCollector(const CodeWish& wish, std::string_view heading) : wish_(wish), heading_(heading) {}

  [[nodiscard]] bool wants(std::string_view name) const {
    return wish_.function.empty() || wish_.function == name;
  }

  // `text`: from the function's first line on.
  void begin(std::string_view name, std::string_view architecture, std::string_view text);

  // `line` begins with an offset, in the function begun last.
  Status add(const CodeLine& line, const Lines& lines);

  Result<std::vector<CodeFunction>> finish() &&;

 private:
  [[nodiscard]] std::size_t expected_instructions() const;

  const CodeWish& wish_;
  std::string_view heading_;
  std::vector<CodeFunction> functions_;
  std::string_view text_;  // from the function begun last
  std::size_t taken_ = 0;
};

}  // namespace kernelpro
