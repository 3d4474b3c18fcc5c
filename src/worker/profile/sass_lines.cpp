#include "worker/profile/sass_lines.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "common/base/text.hpp"

namespace kernelpro {

using std::string_view;

namespace {

Error bad_line(int number, string_view line, const std::string& problem) {
  return make_error(ErrorKind::bad_input, problem + ": \"" + std::string(line.substr(0, 80)) + "\"",
                    "machine code, line " + std::to_string(number));
}

// "sm_90a": generation 9, minor 0, and the rest.
struct Architecture {
  int number = 0;  // 90
  bool suffixed = false;
};

std::optional<Architecture> architecture_of(string_view name) {
  if (!name.starts_with("sm_")) {
    return std::nullopt;
  }
  name.remove_prefix(3);
  Architecture result;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), result.number, 10);
  if (error != std::errc() || result.number < 0) {
    return std::nullopt;
  }
  result.suffixed = end != name.data() + name.size();
  return result;
}

}  // namespace

std::optional<std::uint64_t> hex_number(string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

std::string hex_text(std::uint64_t value) {
  std::array<char, 20> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return "0x" + std::string(digits.data(), written.ptr);
}

std::optional<CodeLine> code_line(string_view line) {
  line = trimmed(line, blanks);
  if (!line.starts_with("/*")) {
    return std::nullopt;
  }
  const std::size_t close = line.find("*/");
  if (close == string_view::npos) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> offset = hex_number(line.substr(2, close - 2));
  if (!offset) {
    return std::nullopt;
  }
  CodeLine result{.offset = *offset, .body = trimmed(line.substr(close + 2), blanks)};
  const std::size_t end = result.body.find(';');
  result.ended = end != string_view::npos;
  result.body = trimmed(result.body.substr(0, end), blanks);
  return result;
}

int suitability(const std::string& asked, const std::string& have) {
  if (asked == have) {
    return 1'000'000;
  }
  const std::optional<Architecture> gpu = architecture_of(asked);
  const std::optional<Architecture> code = architecture_of(have);
  if (!gpu || !code || gpu->number / 10 != code->number / 10) {
    return 0;
  }
  if (gpu->number == code->number) {
    return code->suffixed ? 900'000 : 800'000;
  }
  return code->number < gpu->number && !code->suffixed ? code->number : 0;
}

void CodeCollector::begin(string_view name, string_view architecture, string_view text) {
  functions_.push_back({std::string(name), std::string(architecture), {}});
  text_ = text;
}

Status CodeCollector::add(const CodeLine& line, const Lines& lines) {
  if (line.body.starts_with('.')) {
    return {};  // data
  }
  if (!line.ended) {
    return bad_line(lines.number(), lines.line(),
                    "the instruction has no end; was the text cut off?");
  }
  std::vector<Instruction>& code = functions_.back().code;
  if (line.offset > std::numeric_limits<int>::max() ||
      (!code.empty() && static_cast<int>(line.offset) <= code.back().offset)) {
    return bad_line(lines.number(), lines.line(), "the offsets of the code do not rise");
  }
  std::optional<Instruction> instruction = parse_instruction(line.body);
  if (!instruction) {
    return bad_line(lines.number(), lines.line(), "this is no instruction");
  }
  if (++taken_ > wish_.most_instructions) {
    return make_error(ErrorKind::bad_input,
                      "the machine code has more than " + std::to_string(wish_.most_instructions) +
                          " instructions; ask for one function of it",
                      "machine code, line " + std::to_string(lines.number()));
  }
  instruction->offset = static_cast<int>(line.offset);
  if (code.empty()) {
    code.reserve(expected_instructions());
  }
  code.push_back(std::move(*instruction));
  return {};
}

Result<std::vector<CodeFunction>> CodeCollector::finish() && {
  std::erase_if(functions_, [](const CodeFunction& one) { return one.code.empty(); });
  if (!functions_.empty()) {
    return std::move(functions_);
  }
  return make_error(ErrorKind::bad_input,
                    wish_.function.empty()
                        ? "there is no function in it; is it the output of cuobjdump?"
                        : "there is no function " + wish_.function + " in it",
                    "machine code");
}

// Growing a vector of a million instructions by doubling would take three times its memory.
std::size_t CodeCollector::expected_instructions() const {
  const string_view own = text_.substr(0, text_.find(heading_));
  const auto count = static_cast<std::size_t>(std::count(own.begin(), own.end(), ';')) + 1;
  return std::min(count, wish_.most_instructions);
}

}  // namespace kernelpro
