#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/text.hpp"
#include "worker/profile/sass_lines.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr int instruction_bytes = 16;  // since sm_70

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
  line = trimmed(line, blanks);
  if (!line.starts_with(".section")) {
    return std::nullopt;
  }
  line = trimmed(line.substr(string_view(".section").size()), blanks);
  constexpr string_view prefix = ".text.";
  if (!line.starts_with(prefix)) {
    return Section{};
  }
  line.remove_prefix(prefix.size());
  return Section{.is_code = true, .function = trimmed(line.substr(0, line.find(',')), blanks)};
}

// "NAME:" alone on its line, from the first column.
std::optional<string_view> label_of(string_view line) {
  line = line.substr(0, line.find_last_not_of(blanks) + 1);
  if (line.size() < 2 || line.back() != ':' || blanks.find(line.front()) != string_view::npos ||
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
    const string_view trimmed_line = trimmed(line, blanks);
    if (trimmed_line.starts_with(word)) {
      architecture_ = std::string(trimmed(trimmed_line.substr(word.size()), blanks));
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
        name_waiting_labels(function.code.back().offset + instruction_bytes);
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
  CodeCollector collector_;
  std::string architecture_;
  bool inside_ = false;
  PlaceNotes notes_;
  Labels labels_;
  std::vector<std::string> waiting_;  // for the offset of the next instruction
};

}  // namespace

Result<std::vector<CodeFunction>> parse_nvdisasm(string_view text, const CodeWish& wish) {
  return NvdisasmReader(wish).read(text);
}

}  // namespace kernelpro
