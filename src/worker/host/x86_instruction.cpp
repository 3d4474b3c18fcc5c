// x86-64 in AT&T's order: the last operand is written.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "worker/host/instruction_sets.hpp"

namespace kernelpro {

namespace {

using std::string_view;

template <std::size_t Count>
bool begins_with_any(string_view text, const std::array<string_view, Count>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [text](string_view one) { return text.starts_with(one); });
}

// The whole register that %eax or %ymm3 is part of, and its width.
struct Register {
  std::string name;
  int bits = 0;
  bool vector = false;
};

Register register_of(string_view text) {
  if (!text.starts_with('%')) {
    return {};
  }
  text = text.substr(1, text.find_first_of("{ ") - 1);
  if (text.size() > 3 && text.substr(1, 2) == "mm" && string_view("xyz").find(text[0]) < 3) {
    const int wide = text[0] == 'y' ? 256 : 512;
    const int bits = text[0] == 'x' ? 128 : wide;
    return {"v" + std::string(text.substr(3)), bits, true};
  }
  if (text.starts_with("r") && text.size() > 1 &&
      std::isdigit(static_cast<unsigned char>(text[1])) != 0) {
    const char last = text.back();
    const bool part = last == 'd' || last == 'w' || last == 'b';
    static const std::map<char, int> narrow = {{'d', 32}, {'w', 16}, {'b', 8}};
    return {std::string(text.substr(0, text.size() - (part ? 1 : 0))), part ? narrow.at(last) : 64,
            false};
  }
  if (text.size() == 3 && (text[0] == 'r' || text[0] == 'e')) {
    return {"r" + std::string(text.substr(1)), text[0] == 'r' ? 64 : 32, false};
  }
  if (text.size() == 2 && (text[1] == 'l' || text[1] == 'h') &&
      string_view("abcd").find(text[0]) < 4) {
    return {std::string("r") + text[0] + "x", 8, false};
  }
  if (text.size() == 3 && text[2] == 'l') {
    return {"r" + std::string(text.substr(0, 2)), 8, false};
  }
  if (text.size() == 2 && text != "st") {
    return {"r" + std::string(text), 16, false};
  }
  return {std::string(text), 0, false};
}

bool is_memory(string_view operand) {
  return operand.find('(') != string_view::npos || operand.starts_with("%fs:") ||
         operand.starts_with("%gs:");
}

std::vector<std::string> address_registers(string_view operand) {
  std::vector<std::string> out;
  for (std::size_t at = operand.find('%'); at != string_view::npos;
       at = operand.find('%', at + 1)) {
    const string_view rest = operand.substr(at);
    const Register found = register_of(rest.substr(0, rest.find_first_of(",)")));
    if (!found.name.empty() && found.name != "rip" && !found.name.starts_with("fs") &&
        !found.name.starts_with("gs")) {
      out.push_back(found.name);
    }
  }
  return out;
}

// "ps", "pd", "ss", "sd" at the end of a floating-point mnemonic.
string_view float_suffix(string_view name) {
  static constexpr std::array<string_view, 4> suffixes = {"ps", "pd", "ss", "sd"};
  for (const string_view suffix : suffixes) {
    if (name.size() > 3 && name.ends_with(suffix)) {
      return suffix;
    }
  }
  return {};
}

constexpr std::array<string_view, 22> float_arithmetic = {
    "add", "sub",  "mul",   "fmadd",  "fmsub",  "fnmadd", "fnmsub", "min",
    "max", "cmp",  "comis", "ucomis", "rcp",    "rsqrt",  "round",  "and",
    "or",  "hadd", "dp",    "abs",    "addsub", "blend"};
constexpr std::array<string_view, 22> integer_vectors = {
    "padd",     "psub", "pmul", "pmadd",  "pmin",    "pmax", "pabs", "psll",
    "psrl",     "psra", "pcmp", "pavg",   "psad",    "pdp",  "pand", "por",
    "pternlog", "prol", "pror", "popcnt", "pblendv", "pshld"};
constexpr std::array<string_view, 20> plain_arithmetic = {
    "add", "sub", "imul", "mul", "and", "or",   "xor",    "not",   "neg",   "shl",
    "shr", "sar", "sal",  "rol", "ror", "cmov", "popcnt", "lzcnt", "tzcnt", "adc"};

bool is_integer_vector(string_view name) {
  return begins_with_any(name, integer_vectors) || name.starts_with("pxor");
}

int integer_element_bits(string_view name) {
  switch (name.back()) {
    case 'b':
      return 8;
    case 'w':
      return 16;
    case 'q':
      return 64;
    default:
      return 32;
  }
}

Combining combining_of(string_view name) {
  if (name.starts_with("min") || name.starts_with("pmin")) {
    return Combining::minimum;
  }
  if (name.starts_with("max") || name.starts_with("pmax")) {
    return Combining::maximum;
  }
  if (name.starts_with("mul") || name.starts_with("imul") || name.starts_with("pmul")) {
    return Combining::product;
  }
  if (name.starts_with("and") || name.starts_with("or") || name.starts_with("xor") ||
      name.starts_with("pand") || name.starts_with("por") || name.starts_with("pxor")) {
    return Combining::bits;
  }
  const bool sum = name.starts_with("add") || name.starts_with("sub") || name.starts_with("padd") ||
                   name.starts_with("psub") || name.starts_with("fmadd") ||
                   name.starts_with("fnmadd") || name.starts_with("fmsub") ||
                   name.starts_with("inc") || name.starts_with("lea");
  return sum ? Combining::sum : Combining::none;
}

void describe_vector(string_view name, const AssemblerLine& line, HostInstruction& out) {
  const string_view suffix = float_suffix(name);
  const bool integer = name.starts_with("p") && is_integer_vector(name);
  out.vector_register = true;
  for (const std::string& operand : line.operands) {
    out.vector_bits = std::max(out.vector_bits, register_of(operand).bits);
  }
  out.packed = integer || suffix == "ps" || suffix == "pd";
  if (integer) {
    out.kind = HostKind::arithmetic;
    out.element_bits = integer_element_bits(name);
  } else if (!suffix.empty()) {
    out.element_bits = suffix.back() == 's' ? 32 : 64;
    if (name.starts_with("div") || name.starts_with("sqrt")) {
      out.kind = HostKind::division;
    } else if (begins_with_any(name, float_arithmetic) || name.starts_with("xor")) {
      out.kind = HostKind::arithmetic;
    } else {
      out.kind = HostKind::move;
    }
  } else {
    out.kind = HostKind::move;
  }
  // Zeroing a register is no arithmetic.
  const bool zeroing = (name.starts_with("xor") || name.starts_with("pxor")) &&
                       line.operands.size() >= 2 && line.operands[0] == line.operands[1];
  if (zeroing) {
    out.kind = HostKind::move;
    out.reads.clear();
  }
  out.gather = name.starts_with("gather") || name.starts_with("pgather") ||
               name.starts_with("insertps") || name.starts_with("pinsr");
}

void describe_plain(string_view name, const AssemblerLine& line, HostInstruction& out) {
  if (name.starts_with("div") || name.starts_with("idiv")) {
    out.kind = HostKind::division;
  } else if (name.starts_with("lea") || begins_with_any(name, plain_arithmetic) ||
             name.starts_with("inc") || name.starts_with("dec") || name.starts_with("cmp") ||
             name.starts_with("test")) {
    out.kind = HostKind::arithmetic;
  } else if (name.starts_with("mov") || name.starts_with("push") || name.starts_with("pop") ||
             name.starts_with("xchg") || name.starts_with("c") || name.starts_with("set")) {
    out.kind = HostKind::move;
  }
  for (const std::string& operand : line.operands) {
    const int bits = register_of(operand).bits;
    out.element_bits =
        out.element_bits == 0 ? bits : std::min(out.element_bits, bits == 0 ? 64 : bits);
  }
  if (name.starts_with("movzb") || name.starts_with("movsb")) {
    out.element_bits = 8;
  } else if (name.starts_with("movzw") || name.starts_with("movsw")) {
    out.element_bits = 16;
  }
}

void describe_branch(string_view name, const AssemblerLine& line, HostInstruction& out) {
  out.kind = name.starts_with("call") ? HostKind::call : HostKind::branch;
  out.conditional = !name.starts_with("jmp");
  if (!line.operands.empty()) {
    out.target = parse_address(line.operands.front());
  }
  if (out.kind == HostKind::call) {
    out.callee = line.symbol;
  }
  if (out.kind == HostKind::branch && out.target >= 0) {
    out.text = std::string(name) + " .Lturn";
  }
}

// Which operand of a multiply-add is the addend, as the digits in its name say (vfmadd231ps).
std::string addend_of(string_view name, const std::vector<std::string>& operands) {
  if (operands.size() != 3) {
    return "";
  }
  const std::size_t first = name.find("213") != string_view::npos ? 0 : 1;
  const std::size_t at = name.find("231") != string_view::npos ? 2 : first;
  const std::string addend = register_of(operands[at]).name;
  return addend.empty() ? "memory" : addend;
}

void describe_operands(string_view name, const AssemblerLine& line, HostInstruction& out) {
  const std::vector<std::string>& operands = line.operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool last = i + 1 == operands.size();
    const bool compares = name.starts_with("cmp") || name.starts_with("test") ||
                          name.starts_with("comis") || name.starts_with("ucomis");
    const bool moves = name.starts_with("mov") || name.starts_with("lea") ||
                       name.starts_with("cvt") || name.starts_with("broadcast") ||
                       name.starts_with("set");
    // Two operands: the last is read too, unless it is only moved to. Three: it is not, but for
    // multiply-adds.
    const bool read_too = compares || (!moves && (operands.size() <= 2 || name.starts_with("f")));
    if (is_memory(operands[i])) {
      const bool touches =
          !name.starts_with("lea") && !name.starts_with("nop") && !name.starts_with("prefetch");
      const std::vector<std::string> used = address_registers(operands[i]);
      if (touches) {
        out.addresses.insert(out.addresses.end(), used.begin(), used.end());
      } else {
        out.reads.insert(out.reads.end(), used.begin(), used.end());
      }
      const bool written = last && !compares && operands.size() > 1;
      const bool one = operands.size() == 1;  // incl (mem)
      out.store = out.store || (touches && (written || (one && !compares)));
      out.load = out.load || (touches && (!last || read_too));
      continue;
    }
    const Register found = register_of(operands[i]);
    if (found.name.empty()) {
      continue;
    }
    if (!last || read_too || operands.size() == 1) {
      out.reads.push_back(found.name);
    }
    if (last && !compares && !name.starts_with("push")) {
      out.writes = found.name;
    }
  }
}

bool uses_vectors(const AssemblerLine& line) {
  return std::any_of(line.operands.begin(), line.operands.end(),
                     [](const std::string& operand) { return register_of(operand).vector; });
}

}  // namespace

void describe_x86(const AssemblerLine& line, HostInstruction& out) {
  string_view name = line.mnemonic;
  if (name.starts_with("j") || name.starts_with("call") || name.starts_with("loop")) {
    describe_branch(name, line, out);
    return;
  }
  if (name.starts_with("nop") || name.starts_with("endbr") || name.empty()) {
    return;
  }
  const bool vectors = uses_vectors(line);
  if (vectors && name.starts_with("v")) {
    name.remove_prefix(1);
  }
  describe_operands(name, line, out);
  if (vectors) {
    describe_vector(name, line, out);
  } else {
    describe_plain(name, line, out);
    // Zeroing again.
    if (name.starts_with("xor") && line.operands.size() == 2 &&
        line.operands[0] == line.operands[1]) {
      out.kind = HostKind::move;
      out.reads.clear();
    }
  }
  if (out.kind == HostKind::arithmetic) {
    out.combining = combining_of(name);
    if (name.starts_with("f")) {
      out.combined = addend_of(name, line.operands);
    }
  }
}

}  // namespace kernelpro
