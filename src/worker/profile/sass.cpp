#include "worker/profile/sass.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "worker/profile/opcodes.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr string_view spaces = " \t\r";
constexpr std::size_t offset_bytes = 16;  // of one instruction, since sm_70

string_view trimmed(string_view text) {
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

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

// Lines of a text, with their numbers.
class Lines {
 public:
  explicit Lines(string_view text) : rest_(text) {}

  bool next() {
    if (rest_.empty()) {
      return false;
    }
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == string_view::npos ? rest_.size() : end + 1);
    ++number_;
    return true;
  }
  [[nodiscard]] string_view line() const { return line_; }
  [[nodiscard]] string_view rest() const { return rest_; }
  [[nodiscard]] int number() const { return number_; }

 private:
  string_view rest_;
  string_view line_;
  int number_ = 0;
};

// "/*0110*/   BRA 0x110;   /* 0xff.. */" in its parts; `body` ends before the semicolon.
struct CodeLine {
  std::uint64_t offset = 0;
  string_view body;
  bool ended = false;  // by its semicolon
};

// Nothing: the line does not begin with an offset. Encodings, "/* 0xff.. */", do not.
std::optional<CodeLine> code_line(string_view line) {
  line = trimmed(line);
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
  CodeLine result{.offset = *offset, .body = trimmed(line.substr(close + 2))};
  const std::size_t end = result.body.find(';');
  result.ended = end != string_view::npos;
  result.body = trimmed(result.body.substr(0, end));
  return result;
}

bool is_opcode(string_view word) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_';
  };
  return !word.empty() && word.front() >= 'A' && word.front() <= 'Z' && word.back() != '.' &&
         std::all_of(word.begin(), word.end(), allowed);
}

bool is_predicate(string_view word) {
  word.remove_prefix(1);
  if (word.starts_with('!')) {
    word.remove_prefix(1);
  }
  if (word.starts_with('U')) {
    word.remove_prefix(1);
  }
  return word.size() == 2 && word[0] == 'P' &&
         (word[1] == 'T' || (word[1] >= '0' && word[1] <= '7'));
}

string_view take_word(string_view& text) {
  const std::size_t end = std::min(text.find_first_of(spaces), text.size());
  const string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

Error bad_line(int number, string_view line, const std::string& problem) {
  return make_error(ErrorKind::bad_input, problem + ": \"" + std::string(line.substr(0, 80)) + "\"",
                    "machine code, line " + std::to_string(number));
}

// Takes instructions into functions, within the limit.
class Collector {
 public:
  // `heading`: what the heading of a function begins with, and so ends the one before.
  Collector(const CodeWish& wish, string_view heading) : wish_(wish), heading_(heading) {}

  [[nodiscard]] bool wants(string_view name) const {
    return wish_.function.empty() || wish_.function == name;
  }

  void begin(string_view name, string_view architecture, string_view text) {
    functions_.push_back({std::string(name), std::string(architecture), {}});
    text_ = text;
  }

  // `line` begins with an offset, in the function begun last.
  Status add(const CodeLine& line, const Lines& lines, const SourcePlace& place) {
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
                        "the machine code has more than " +
                            std::to_string(wish_.most_instructions) +
                            " instructions; ask for one function of it",
                        "machine code, line " + std::to_string(lines.number()));
    }
    instruction->offset = static_cast<int>(line.offset);
    instruction->place = place;
    if (code.empty()) {
      code.reserve(expected_instructions());
    }
    code.push_back(std::move(*instruction));
    return {};
  }

  [[nodiscard]] std::vector<CodeFunction>& functions() { return functions_; }

  Result<std::vector<CodeFunction>> finish() && {
    std::erase_if(functions_, [](const CodeFunction& one) { return one.code.empty(); });
    if (!functions_.empty()) {
      return std::move(functions_);
    }
    return make_error(ErrorKind::bad_input,
                      wish_.function.empty()
                          ? "there is no function in it; is it the output of cuobjdump or nvdisasm?"
                          : "there is no function " + wish_.function + " in it",
                      "machine code");
  }

 private:
  // Growing a vector of a million instructions by doubling would take three times its memory.
  [[nodiscard]] std::size_t expected_instructions() const {
    const string_view own = text_.substr(0, text_.find(heading_));
    const auto count = static_cast<std::size_t>(std::count(own.begin(), own.end(), ';')) + 1;
    return std::min(count, wish_.most_instructions);
  }

  const CodeWish& wish_;
  string_view heading_;
  std::vector<CodeFunction> functions_;
  string_view text_;  // from the function begun last
  std::size_t taken_ = 0;
};

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

// How well code for `have` suits a GPU of `asked`; 0: it does not run there.
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

constexpr string_view code_for = "\tcode for ";

Result<std::string> chosen_architecture(string_view text, const std::string& asked) {
  std::set<std::string> present;
  for (std::size_t at = text.find(code_for); at != string_view::npos;
       at = text.find(code_for, at + 1)) {
    const string_view rest = text.substr(at + code_for.size());
    present.emplace(trimmed(rest.substr(0, rest.find('\n'))));
  }
  if (present.empty()) {
    return std::string();
  }
  if (asked.empty() && present.size() == 1) {
    return *present.begin();
  }
  std::string list;
  std::string best;
  for (const std::string& one : present) {
    list += (list.empty() ? "" : ", ") + one;
    if (suitability(asked, one) > (best.empty() ? 0 : suitability(asked, best))) {
      best = one;
    }
  }
  if (best.empty()) {
    return make_error(ErrorKind::bad_input,
                      asked.empty() ? "it has code for " + list + "; say which is wanted"
                                    : "it has no code for " + asked + ", only for " + list,
                      "machine code");
  }
  return best;
}

// "… line 15 …": the number, and what is behind it.
std::optional<SourcePlace> take_place(string_view& text) {
  const std::size_t open = text.find('"');
  const std::size_t close = open == string_view::npos ? open : text.find('"', open + 1);
  constexpr string_view line_word = ", line ";
  if (close == string_view::npos || !text.substr(close + 1).starts_with(line_word)) {
    return std::nullopt;
  }
  SourcePlace place{.file = std::string(text.substr(open + 1, close - open - 1))};
  text.remove_prefix(close + 1 + line_word.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place.line, 10);
  if (error != std::errc() || place.line < 0) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return place;
}

// The notes before an instruction, innermost first.
class PlaceNotes {
 public:
  void add(string_view note) {
    if (!open_) {
      place_ = {};
      open_ = true;
    }
    while (const std::optional<SourcePlace> place = take_place(note)) {
      if (place_.file.empty() ||
          (is_system_header(place_.file) && !is_system_header(place->file))) {
        place_ = *place;
      }
    }
  }
  // The next note begins anew.
  void close() { open_ = false; }
  void forget() {
    place_ = {};
    open_ = false;
  }
  [[nodiscard]] const SourcePlace& place() const { return place_; }

 private:
  SourcePlace place_;
  bool open_ = false;
};

using Labels = std::unordered_map<std::string, int>;

// Puts offsets for labels: "`(.L_x_3)" becomes "0x110". Calls keep the name of what they call.
Status resolve_labels(CodeFunction& function, const Labels& labels) {
  for (Instruction& instruction : function.code) {
    const std::size_t open = instruction.operands.find("`(");
    if (open == std::string::npos || instruction.opcode.starts_with("CALL") ||
        instruction.opcode.starts_with("RET")) {
      continue;
    }
    const std::size_t close = instruction.operands.find(')', open);
    if (close == std::string::npos) {
      return make_error(ErrorKind::bad_input,
                        "a label has no end: \"" + instruction.operands.substr(0, 80) + "\"",
                        "machine code of " + function.name);
    }
    const auto found = labels.find(instruction.operands.substr(open + 2, close - open - 2));
    if (found != labels.end()) {
      instruction.operands.replace(open, close - open + 1,
                                   hex_text(static_cast<std::uint64_t>(found->second)));
    }
  }
  return {};
}

// The name in "\t.section\t.text.NAME,"ax",@progbits"; nothing: another line.
struct Section {
  bool is_code = false;
  string_view function;
};

std::optional<Section> section_of(string_view line) {
  line = trimmed(line);
  if (!line.starts_with(".section")) {
    return std::nullopt;
  }
  line = trimmed(line.substr(string_view(".section").size()));
  constexpr string_view prefix = ".text.";
  if (!line.starts_with(prefix)) {
    return Section{};
  }
  line.remove_prefix(prefix.size());
  return Section{.is_code = true, .function = trimmed(line.substr(0, line.find(',')))};
}

// "NAME:" alone on its line, from the first column.
std::optional<string_view> label_of(string_view line) {
  line = line.substr(0, line.find_last_not_of(spaces) + 1);
  if (line.size() < 2 || line.back() != ':' || spaces.find(line.front()) != string_view::npos ||
      line.find_first_of(" \t/") != string_view::npos) {
    return std::nullopt;
  }
  return line.substr(0, line.size() - 1);
}

// Reads nvdisasm's text line by line; a section is a function.
class NvdisasmReader {
 public:
  explicit NvdisasmReader(const CodeWish& wish) : wish_(wish), collector_(wish, "\n\t.section") {}

  Result<std::vector<CodeFunction>> read(string_view text) {
    Lines lines(text);
    while (lines.next()) {
      KP_TRY(take(lines));
    }
    KP_TRY(end_section());
    if (!wish_.architecture.empty() && !architecture_.empty() &&
        suitability(wish_.architecture, architecture_) == 0) {
      return make_error(ErrorKind::bad_input,
                        "it has no code for " + wish_.architecture + ", only for " + architecture_,
                        "machine code");
    }
    return std::move(collector_).finish();
  }

 private:
  Status take(const Lines& lines) {
    const string_view line = lines.line();
    if (const std::optional<Section> section = section_of(line)) {
      KP_TRY(end_section());
      inside_ = section->is_code && collector_.wants(section->function);
      if (inside_) {
        collector_.begin(section->function, architecture_, lines.rest());
      }
      return {};
    }
    if (!inside_) {
      take_target(line);
      return {};
    }
    if (const std::optional<CodeLine> code = code_line(line)) {
      notes_.close();
      KP_TRY(collector_.add(*code, lines, notes_.place()));
      name_waiting_labels(static_cast<int>(code->offset));
      return {};
    }
    if (const std::size_t note = line.find("//## File "); note != string_view::npos) {
      notes_.add(line.substr(note));
    } else if (const std::optional<string_view> label = label_of(line)) {
      waiting_.emplace_back(*label);
    }
    return {};
  }

  void take_target(string_view line) {
    constexpr string_view word = ".target";
    const string_view trimmed_line = trimmed(line);
    if (trimmed_line.starts_with(word)) {
      architecture_ = std::string(trimmed(trimmed_line.substr(word.size())));
    }
  }

  void name_waiting_labels(int offset) {
    for (std::string& label : waiting_) {
      labels_.emplace(std::move(label), offset);
    }
    waiting_.clear();
  }

  Status end_section() {
    if (inside_) {
      CodeFunction& function = collector_.functions().back();
      if (!function.code.empty()) {
        name_waiting_labels(function.code.back().offset + static_cast<int>(offset_bytes));
        KP_TRY(resolve_labels(function, labels_));
      }
    }
    inside_ = false;
    labels_.clear();
    waiting_.clear();
    notes_.forget();
    return {};
  }

  const CodeWish& wish_;
  Collector collector_;
  std::string architecture_;
  bool inside_ = false;
  PlaceNotes notes_;
  Labels labels_;
  std::vector<std::string> waiting_;  // for the offset of the next instruction
};

}  // namespace

bool is_system_header(string_view file) {
  // A folder of the user's may be called cuda as well; those of the toolkit are in these places, as
  // in ".../targets/x86_64-linux/include/cuda_fp16.hpp" or pip's ".../nvidia/cuda_runtime/include".
  static constexpr std::array<string_view, 3> folders = {"/include/crt/", "/targets/",
                                                         "/nvidia/cuda"};
  if (file.find("/include/") == string_view::npos && !file.starts_with("/usr/lib/")) {
    return false;
  }
  return file.starts_with("/usr/") || file.starts_with("/opt/cuda") ||
         std::any_of(folders.begin(), folders.end(),
                     [&](string_view folder) { return file.find(folder) != string_view::npos; });
}

std::optional<Instruction> parse_instruction(string_view text) {
  text = trimmed(text.substr(0, text.find(';')));
  Instruction instruction;
  if (text.starts_with('@')) {
    const string_view predicate = take_word(text);
    if (!is_predicate(predicate)) {
      return std::nullopt;
    }
    instruction.predicate = std::string(predicate);
  }
  const string_view opcode = take_word(text);
  if (!is_opcode(opcode)) {
    return std::nullopt;
  }
  instruction.opcode = std::string(opcode);
  instruction.operands = std::string(text);
  return instruction;
}

void make_targets_relative(std::vector<Instruction>& code, std::uint64_t first) {
  for (Instruction& instruction : code) {
    if (!has_code_target(instruction.opcode)) {
      continue;
    }
    std::string& operands = instruction.operands;
    const std::size_t at = operands.rfind("0x");
    if (at == std::string::npos || (at > 0 && operands[at - 1] == '-')) {
      continue;
    }
    const std::size_t end =
        std::min(operands.find_first_not_of("0123456789abcdefABCDEF", at + 2), operands.size());
    const std::optional<std::uint64_t> address =
        hex_number(string_view(operands).substr(at + 2, end - at - 2));
    if (address && *address >= first) {
      operands.replace(at, end - at, hex_text(*address - first));
    }
  }
}

Result<std::vector<CodeFunction>> parse_nvdisasm(string_view text, const CodeWish& wish) {
  return NvdisasmReader(wish).read(text);
}

Result<std::vector<CodeFunction>> parse_cuobjdump(string_view text, const CodeWish& wish) {
  const Result<std::string> architecture = chosen_architecture(text, wish.architecture);
  if (!architecture) {
    return architecture.error();
  }
  constexpr string_view function_word = "\tFunction : ";
  Collector collector(wish, function_word);
  bool right_architecture = true;
  bool inside = false;
  Lines lines(text);
  while (lines.next()) {
    const string_view line = lines.line();
    if (line.starts_with(code_for)) {
      right_architecture = trimmed(line.substr(code_for.size())) == *architecture;
      inside = false;
    } else if (const std::size_t at = line.find(function_word); at != string_view::npos) {
      const string_view name = trimmed(line.substr(at + function_word.size()));
      inside = right_architecture && collector.wants(name);
      if (inside) {
        collector.begin(name, *architecture, lines.rest());
      }
    } else if (line.starts_with("Fatbin ")) {
      inside = false;
    } else if (const std::optional<CodeLine> code = inside ? code_line(line) : std::nullopt) {
      KP_TRY(collector.add(*code, lines, SourcePlace{}));
    }
  }
  return std::move(collector).finish();
}

}  // namespace kernelpro
