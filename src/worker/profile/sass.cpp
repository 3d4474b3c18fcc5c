#include "worker/profile/sass.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/base/text.hpp"
#include "worker/profile/opcodes.hpp"
#include "worker/profile/sass_lines.hpp"

namespace kernelpro {
namespace {

using std::string_view;

bool is_opcode(string_view word) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_';
  };
  return !word.empty() && word.front() >= 'A' && word.front() <= 'Z' && word.back() != '.' &&
         std::all_of(word.begin(), word.end(), allowed);
}

bool is_guard(string_view word) {
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
  const std::size_t end = std::min(text.find_first_of(blanks), text.size());
  const string_view word = text.substr(0, end);
  text = trimmed(text.substr(end), blanks);
  return word;
}

constexpr string_view code_for = "\tcode for ";

Result<std::string> chosen_architecture(string_view text, const std::string& asked) {
  std::set<std::string> present;
  for (std::size_t at = text.find(code_for); at != string_view::npos;
       at = text.find(code_for, at + 1)) {
    const string_view rest = text.substr(at + code_for.size());
    present.emplace(trimmed(rest.substr(0, rest.find('\n')), blanks));
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
  text = trimmed(text.substr(0, text.find(';')), blanks);
  Instruction instruction;
  if (text.starts_with('@')) {
    const string_view predicate = take_word(text);
    if (!is_guard(predicate)) {
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

Result<std::vector<CodeFunction>> parse_cuobjdump(string_view text, const CodeWish& wish) {
  KP_LET(const std::string architecture, chosen_architecture(text, wish.architecture));
  constexpr string_view function_word = "\tFunction : ";
  CodeCollector collector(wish, function_word);
  bool right_architecture = true;
  bool inside = false;
  Lines lines(text);
  while (lines.next()) {
    const string_view line = lines.line();
    if (line.starts_with(code_for)) {
      right_architecture = trimmed(line.substr(code_for.size()), blanks) == architecture;
      inside = false;
    } else if (const std::size_t at = line.find(function_word); at != string_view::npos) {
      const string_view name = trimmed(line.substr(at + function_word.size()), blanks);
      inside = right_architecture && collector.wants(name);
      if (inside) {
        collector.begin(name, architecture, lines.rest());
      }
    } else if (line.starts_with("Fatbin ")) {
      inside = false;
    } else if (const std::optional<CodeLine> code = inside ? code_line(line) : std::nullopt) {
      KP_TRY(collector.add(*code, lines));
    }
  }
  return std::move(collector).finish();
}

}  // namespace kernelpro
