// arm64: the first operand is written.
#include <algorithm>
#include <array>
#include <cctype>

#include "worker/host/instruction_sets.hpp"

namespace kernelpro {

namespace {

using std::string_view;

struct ArmRegister {
  std::string name;
  int bits = 0;          // of the whole
  int element_bits = 0;  // of a vector's elements
  bool vector = false;
  bool packed = false;
};

int bits_of_letter(char letter) {
  switch (letter) {
    case 'b':
      return 8;
    case 'h':
      return 16;
    case 's':
    case 'w':
      return 32;
    case 'd':
    case 'x':
      return 64;
    default:
      return 128;
  }
}

ArmRegister arm_register(string_view text) {
  if (text.starts_with('{')) {
    text.remove_prefix(1);
  }
  text = text.substr(0, text.find_first_of("}[,/ "));
  if (text == "sp" || text == "wzr" || text == "xzr") {
    return {};
  }
  if (text.size() < 2 || std::isdigit(static_cast<unsigned char>(text[1])) == 0) {
    return {};
  }
  const char kind = text[0];
  const std::size_t dot = text.find('.');
  const std::string number(text.substr(1, dot == string_view::npos ? dot : dot - 1));
  if (kind == 'x' || kind == 'w') {
    return {"x" + number, bits_of_letter(kind), 0, false, false};
  }
  if (kind == 'v' || kind == 'z') {
    const int element = dot == string_view::npos ? 0 : bits_of_letter(text.back());
    return {"v" + number, 128, element, true, dot != string_view::npos};
  }
  if (string_view("bhsdq").find(kind) != string_view::npos) {
    return {"v" + number, bits_of_letter(kind), bits_of_letter(kind), true, false};
  }
  return {};
}

Combining arm_combining(string_view name) {
  if (name.starts_with("fmin") || name.starts_with("smin") || name.starts_with("umin")) {
    return Combining::minimum;
  }
  if (name.starts_with("fmax") || name.starts_with("smax") || name.starts_with("umax")) {
    return Combining::maximum;
  }
  if (name.starts_with("fmadd") || name.starts_with("fmla") || name.starts_with("fmls") ||
      name.starts_with("fmsub") || name.starts_with("madd") || name.starts_with("mla") ||
      name.starts_with("add") || name.starts_with("fadd") || name.starts_with("sub") ||
      name.starts_with("fsub") || name.starts_with("uaba") || name.starts_with("saba")) {
    return Combining::sum;
  }
  if (name.starts_with("fmul") || name.starts_with("mul")) {
    return Combining::product;
  }
  return name.starts_with("and") || name.starts_with("orr") || name.starts_with("eor")
             ? Combining::bits
             : Combining::none;
}

constexpr std::array<string_view, 11> arm_moves = {"mov", "fmov", "dup",  "ins",  "zip", "uzp",
                                                   "trn", "ext",  "umov", "smov", "adr"};
constexpr std::array<string_view, 9> arm_branches = {"b.", "cbz", "cbnz", "tbz", "tbnz",
                                                     "b",  "ret", "br",   "bcc"};

bool is_arm_branch(string_view name) {
  return name == "b" ||
         std::any_of(arm_branches.begin(), arm_branches.end(), [name](string_view one) {
           return one != "b" && (one == "b." ? name.starts_with(one) : name == one);
         });
}

void describe_arm_branch(string_view name, const AssemblerLine& line, HostInstruction& out) {
  out.kind = HostKind::branch;
  out.conditional = name != "b" && name != "ret" && name != "br";
  if (line.operands.empty()) {
    return;
  }
  out.target = parse_address(line.operands.back());
  if (out.target >= 0) {
    out.text = std::string(name);
    for (std::size_t i = 0; i + 1 < line.operands.size(); ++i) {
      out.text += (i == 0 ? " " : ", ") + line.operands[i];
    }
    out.text += (line.operands.size() > 1 ? ", " : " ") + std::string(".Lturn");
  }
}

void describe_arm_operands(string_view name, const AssemblerLine& line, HostInstruction& out) {
  const bool stores = name.starts_with("st");
  const bool compares = name.starts_with("cmp") || name.starts_with("fcmp") ||
                        name.starts_with("tst") || name.starts_with("cmn") ||
                        name.starts_with("ccmp");
  const bool accumulates = name.starts_with("fmla") || name.starts_with("fmls") ||
                           name.starts_with("mla") || name.starts_with("mls") ||
                           name.starts_with("uaba") || name.starts_with("saba") ||
                           name.starts_with("udot") || name.starts_with("sdot") ||
                           name.starts_with("bsl") || name.starts_with("bit");
  for (std::size_t i = 0; i < line.operands.size(); ++i) {
    const std::string& operand = line.operands[i];
    if (operand.starts_with('[')) {
      std::string inner = operand.substr(1);
      for (std::size_t at = 0; at < inner.size();) {
        const std::size_t end = std::min(inner.find_first_of(",]", at), inner.size());
        std::string word = inner.substr(at, end - at);
        word.erase(0, std::min(word.find_first_not_of(' '), word.size()));
        if (const ArmRegister found = arm_register(word); !found.name.empty()) {
          out.addresses.push_back(found.name);
        }
        at = end + 1;
      }
      continue;
    }
    const ArmRegister found = arm_register(operand);
    if (found.name.empty()) {
      continue;
    }
    out.vector_register = out.vector_register || found.vector;
    out.packed = out.packed || found.packed;
    out.vector_bits = std::max(out.vector_bits, found.vector ? found.bits : 0);
    const int element = found.vector ? found.element_bits : found.bits;
    out.element_bits = out.element_bits == 0 ? element : out.element_bits;
    const bool written = i == 0 && !stores && !compares;
    if (written) {
      out.writes = found.name;
    }
    if (!written || accumulates) {
      out.reads.push_back(found.name);
    }
  }
  out.load = name.starts_with("ld");
  out.store = stores;
}

}  // namespace

void describe_arm(const AssemblerLine& line, HostInstruction& out) {
  const string_view name = line.mnemonic;
  if (name == "bl" || name == "blr") {
    out.kind = HostKind::call;
    out.callee = line.symbol;
    return;
  }
  if (is_arm_branch(name)) {
    describe_arm_branch(name, line, out);
    return;
  }
  if (name == "nop" || name.empty() || name.starts_with("prfm")) {
    return;
  }
  describe_arm_operands(name, line, out);
  if (out.load || out.store ||
      std::any_of(arm_moves.begin(), arm_moves.end(),
                  [name](string_view one) { return name.starts_with(one); })) {
    out.kind = HostKind::move;
    out.gather = name.starts_with("ins") || (out.load && name.starts_with("ld1") &&
                                             line.operands.front().find("}[") != std::string::npos);
    return;
  }
  const bool divides = name.starts_with("fdiv") || name.starts_with("fsqrt") ||
                       name.starts_with("sdiv") || name.starts_with("udiv");
  out.kind = divides ? HostKind::division : HostKind::arithmetic;
  out.combining = divides ? Combining::none : arm_combining(name);
  if (name.starts_with("fmadd") || name.starts_with("fmsub") || name.starts_with("madd")) {
    out.combined = out.reads.size() == 3 ? out.reads[2] : "";
  } else if (name.starts_with("fmla") || name.starts_with("mla") || name.starts_with("fmls")) {
    out.combined = out.writes;
  }
}

}  // namespace kernelpro
