#include "worker/profile/operands.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "common/base/text.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr int most_span = 128;

// The next operand, up to a comma outside of brackets.
string_view take_operand(string_view& rest) {
  int depth = 0;
  std::size_t end = 0;
  for (; end < rest.size(); ++end) {
    const char c = rest[end];
    if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      break;
    }
  }
  const string_view operand = trimmed(rest.substr(0, end), " \t");
  rest = end < rest.size() ? rest.substr(end + 1) : string_view();
  return operand;
}

// The number of the register that `text` begins with; nothing: none, or RZ.
std::optional<int> register_at(string_view text) {
  if (text.size() < 2 || text[0] != 'R') {
    return std::nullopt;
  }
  int number = -1;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  const bool whole = end == text.data() + text.size() || !is_word(*end);
  return error == std::errc() && whole && number >= 0 && number < general_registers
             ? std::optional(number)
             : std::nullopt;
}

RegisterSpan span_of(int first, int count) {
  return {.first = static_cast<std::int16_t>(first),
          .count = static_cast<std::int16_t>(std::min(count, general_registers - first))};
}

string_view without_signs(string_view operand) {
  while (!operand.empty() && string_view("-!|~+").find(operand.front()) != string_view::npos) {
    operand.remove_prefix(1);
  }
  return operand;
}

// P0, !PT, UP3, and PR, all of them at once.
bool is_predicate(string_view operand) {
  operand = without_signs(operand);
  if (operand.starts_with('U')) {
    operand.remove_prefix(1);
  }
  return operand.size() == 2 && operand[0] == 'P' &&
         (operand[1] == 'T' || operand[1] == 'R' || (operand[1] >= '0' && operand[1] <= '7'));
}

bool is_zero(string_view operand) {
  operand = without_signs(operand);
  operand = operand.substr(0, operand.find('.'));
  return operand == "RZ" || operand == "URZ" || operand == "SRZ" || operand == "0" ||
         operand == "0x0";
}

bool writes_nothing(OpKind kind, string_view base) {
  switch (kind) {
    case OpKind::branch:
    case OpKind::call:
    case OpKind::barrier:
    case OpKind::store_global:
    case OpKind::store_shared:
    case OpKind::store_local:
    case OpKind::reduction_global:
    case OpKind::cp_async:
      return true;
    default:
      break;
  }
  static constexpr std::array<string_view, 8> bases = {"FCHK",      "PLOP3", "R2P",  "WARPSYNC",
                                                       "NANOSLEEP", "BMOV",  "SUST", "CCTL"};
  return base.find("SETP") != string_view::npos ||
         std::find(bases.begin(), bases.end(), base) != bases.end();
}

// The N of "64xNxK".
int group_columns(string_view opcode) {
  const std::size_t at = opcode.find("64x");
  int columns = 0;
  if (at != string_view::npos) {
    std::from_chars(opcode.data() + at + 3, opcode.data() + opcode.size(), columns);
  }
  return columns;
}

int written_by_matrix(OpKind kind, string_view opcode) {
  switch (kind) {
    case OpKind::hmma:
      return has_modifier(opcode, "F16") ? 2 : 4;
    case OpKind::imma:
    case OpKind::dmma:
      return 4;
    case OpKind::hgmma:
    case OpKind::igmma:
    case OpKind::qgmma:
    case OpKind::bgmma: {
      const int columns = std::clamp(group_columns(opcode), 8, 256);
      return has_modifier(opcode, "F16") ? columns / 4 : columns / 2;
    }
    default:
      return 0;
  }
}

// How many registers the destination has.
int written_count(OpKind kind, string_view base, string_view opcode) {
  if (const int matrix = written_by_matrix(kind, opcode); matrix > 0) {
    return matrix;
  }
  if (const std::optional<MemoryTraits> memory = memory_traits(kind, opcode)) {
    return std::max(1, memory->bits / 32);
  }
  if (kind == OpKind::fp64 || (kind == OpKind::fp32 && base.ends_with('2')) ||
      has_modifier(opcode, "WIDE") || (base == "CS2R" && !has_modifier(opcode, "32"))) {
    return 2;
  }
  if (base == "F2F" || base == "I2F" || base == "FRND") {
    // The type it makes stands first: F2F.F64.F32.
    return opcode.substr(base.size()).starts_with(".F64") ? 2 : 1;
  }
  if (base == "F2I") {
    return has_modifier(opcode, "S64") || has_modifier(opcode, "U64") ? 2 : 1;
  }
  return has_modifier(opcode, "64") && kind != OpKind::shuffle ? 2 : 1;
}

// How many registers the plain source number `index` has.
int read_count(OpKind kind, string_view base, string_view opcode, int index) {
  switch (kind) {
    case OpKind::fp64:
      return 2;
    case OpKind::fp32:
      return base.ends_with('2') ? 2 : 1;
    case OpKind::store_global:
    case OpKind::store_shared:
    case OpKind::store_local:
    case OpKind::atomic_global:
    case OpKind::atomic_shared:
    case OpKind::reduction_global: {
      const std::optional<MemoryTraits> memory = memory_traits(kind, opcode);
      return memory ? std::max(1, memory->bits / 32) : 1;
    }
    case OpKind::hmma:
    case OpKind::imma:
    case OpKind::dmma:
      return index == 1 ? 2 : 4;  // a 16x16, a 16x8 and a 16x8 piece
    case OpKind::hgmma:
    case OpKind::igmma:
    case OpKind::qgmma:
    case OpKind::bgmma:
      return index == 0 ? 4 : written_by_matrix(kind, opcode);
    default:
      return 1;
  }
}

void add_read(DecodedInstruction& decoded, Operand operand) {
  if (decoded.reads < static_cast<int>(decoded.read.size())) {
    decoded.read[static_cast<std::size_t>(decoded.reads)] = operand;
    ++decoded.reads;
  }
}

// The registers inside "desc[UR4][R2.64+R6.U32+0x10]", each an operand.
void add_address(DecodedInstruction& decoded, string_view operand) {
  bool any = false;
  for (std::size_t at = operand.find('['); at < operand.size(); ++at) {
    if (operand[at] != 'R' || is_word(operand[at - 1])) {
      continue;
    }
    if (const std::optional<int> number = register_at(operand.substr(at))) {
      const string_view rest = operand.substr(at);
      const string_view word = rest.substr(0, rest.find_first_of("+-]"));
      add_read(decoded, {.form = OperandForm::address,
                         .span = span_of(*number, word.ends_with(".64") ? 2 : 1)});
      any = true;
    }
  }
  if (!any) {
    add_read(decoded, {.form = OperandForm::address, .span = {}});
  }
}

void add_plain(DecodedInstruction& decoded, string_view operand, int count) {
  if (is_zero(operand)) {
    add_read(decoded, {.form = OperandForm::zero, .span = {}});
  } else if (const std::optional<int> number = register_at(without_signs(operand))) {
    const bool pair = operand.find(".64") != string_view::npos;
    add_read(decoded, {.form = OperandForm::registers,
                       .span = span_of(*number, pair ? std::max(count, 2) : count)});
  } else {
    add_read(decoded, {.form = OperandForm::other, .span = {}});
  }
}

}  // namespace

DecodedInstruction decode(const Instruction& instruction) {
  const string_view opcode = instruction.opcode;
  const string_view base = base_of(opcode);
  DecodedInstruction decoded;
  decoded.kind = kind_of(instruction);
  decoded.predicated = !instruction.predicate.empty();
  bool destination_next = !writes_nothing(decoded.kind, base);
  string_view rest = instruction.operands;
  while (!rest.empty()) {
    const string_view operand = take_operand(rest);
    if (operand.empty() || is_predicate(operand)) {
      continue;
    }
    const bool bracketed = operand.find('[') != string_view::npos;
    if (destination_next && !bracketed) {
      destination_next = false;
      if (const std::optional<int> number = register_at(operand)) {
        decoded.written =
            span_of(*number, std::min(written_count(decoded.kind, base, opcode), most_span));
      }
      continue;
    }
    destination_next = false;
    if (bracketed) {
      add_address(decoded, operand);
    } else {
      add_plain(decoded, operand, read_count(decoded.kind, base, opcode, decoded.reads));
    }
  }
  return decoded;
}

std::optional<int> branch_target(const Instruction& instruction) {
  if (base_of(instruction.opcode) != "BRA" && base_of(instruction.opcode) != "JMP") {
    return std::nullopt;
  }
  // The last operand; predicates may stand before it.
  string_view rest = instruction.operands;
  string_view target;
  while (!rest.empty()) {
    target = take_operand(rest);
  }
  if (!target.starts_with("0x")) {
    return std::nullopt;
  }
  target.remove_prefix(2);
  int offset = 0;
  const auto [end, error] =
      std::from_chars(target.data(), target.data() + target.size(), offset, 16);
  const bool whole = end == target.data() + target.size() || *end == ' ';
  return error == std::errc() && whole ? std::optional(offset) : std::nullopt;
}

bool ends_flow(const Instruction& instruction) {
  if (!instruction.predicate.empty() && instruction.predicate != "@PT") {
    return false;
  }
  const string_view base = base_of(instruction.opcode);
  if (base == "EXIT" || base == "RET" || base == "KILL") {
    // "EXIT P0" has its condition among the operands.
    return base == "RET" || instruction.operands.empty();
  }
  return (base == "BRA" || base == "JMP") && instruction.operands.find(',') == std::string::npos;
}

}  // namespace kernelpro
