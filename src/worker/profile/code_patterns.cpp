#include "worker/profile/code_patterns.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "worker/profile/fences.hpp"
#include "worker/profile/long_functions.hpp"
#include "worker/profile/opcodes.hpp"
#include "worker/profile/pattern_sum.hpp"
#include "worker/profile/waiting_loops.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr std::size_t threads_of_warp = 32;

bool names_part(string_view text, string_view part) {
  return text.find(part) != string_view::npos;
}

class PatternReader {
 public:
  PatternReader(const std::vector<Instruction>& code,
                const std::vector<DecodedInstruction>& decoded, const CodeLoops& loops)
      : code_(code),
        decoded_(decoded),
        loops_(loops),
        waiting_(find_waiting_loops(code, decoded, loops)) {}

  std::map<std::string, CodePattern> read() {
    find_subroutines();
    find_lines();
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (code_[i].executed.value_or(0) > 0) {
        take(i);
      }
    }
    std::map<std::string, CodePattern> out;
    for (auto& [name, sum] : sums_) {
      CodePattern found = sum.finish();
      if (found.executed > 0) {
        out[name] = std::move(found);
      }
    }
    return out;
  }

 private:
  [[nodiscard]] bool in_loop(std::size_t i) const { return loops_.innermost[i] >= 0; }
  [[nodiscard]] bool spins(std::size_t i) const {
    return in_loop(i) && waiting_.polls.contains(loops_.innermost[i]);
  }

  [[nodiscard]] bool reads_fresh(std::size_t i) const {
    return reads_fresh_value(code_[i], decoded_[i]);
  }

  [[nodiscard]] static bool overlap(const RegisterSpan& a, const RegisterSpan& b) {
    return !a.empty() && !b.empty() && a.first < b.first + b.count && b.first < a.first + a.count;
  }

  // Divisions that are called: from the target of a CALL to its RET.
  void find_subroutines() {
    of_division_.assign(code_.size(), false);
    of_function_.assign(code_.size(), false);
    of_double_function_.assign(code_.size(), false);
    for (const Instruction& call : code_) {
      if (base_of(call.opcode) != "CALL" || call.operands.find('`') != std::string::npos) {
        continue;
      }
      Instruction as_branch = call;
      as_branch.opcode = "BRA";
      as_branch.predicate.clear();
      if (const std::optional<int> target = branch_target(as_branch)) {
        mark_subroutine(*target);
      }
    }
  }

  void mark_subroutine(int target) {
    constexpr std::size_t longest = 400;
    const auto found = std::lower_bound(
        code_.begin(), code_.end(), target,
        [](const Instruction& instruction, int wanted) { return instruction.offset < wanted; });
    const auto first = static_cast<std::size_t>(found - code_.begin());
    bool integers = false;
    bool reciprocal = false;
    bool doubles = false;
    std::size_t end = first;
    for (; end < code_.size() && end < first + longest; ++end) {
      const string_view opcode = code_[end].opcode;
      integers = integers || opcode.starts_with("I2F.U64") || opcode.starts_with("I2F.U32.RP");
      doubles = doubles || decoded_[end].kind == OpKind::fp64;
      reciprocal = reciprocal || opcode.starts_with("MUFU.R") || opcode.starts_with("MUFU.SQRT");
      if (base_of(opcode) == "RET" && code_[end].predicate.empty()) {
        break;
      }
      if (base_of(opcode) == "EXIT" || decoded_[end].kind == OpKind::load_global) {
        return;
      }
    }
    if (reciprocal && end < code_.size()) {
      std::vector<bool>& function = doubles ? of_double_function_ : of_function_;
      std::vector<bool>& of = integers ? of_division_ : function;
      std::fill(of.begin() + static_cast<std::ptrdiff_t>(first),
                of.begin() + static_cast<std::ptrdiff_t>(end) + 1, true);
    }
  }

  // Functions have branches of their own, at the lines that call them; those in double are long
  // because they are in double.
  void find_lines() {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const Instruction& one = code_[i];
      const std::pair<std::string, int> line{one.place.file, one.place.line};
      if (one.place.line > 0 && one.opcode.starts_with("F2F.F64.F32")) {
        double_lines_.insert(line);
      }
      if (one.place.line > 0 &&
          (of_function_[i] || of_double_function_[i] || function_at(i) != nullptr)) {
        function_lines_.insert(line);
      }
    }
  }

  [[nodiscard]] static bool stands_at(const Instruction& one,
                                      const std::set<std::pair<std::string, int>>& lines) {
    return lines.contains({one.place.file, one.place.line});
  }

  void take(std::size_t i) {
    const Instruction& one = code_[i];
    if (base_of(one.opcode) == "BRA" && !one.predicate.empty()) {
      branch_ = one.place;
    }
    const bool of_function = stands_at(one, function_lines_) || stands_at(one, double_lines_);
    const bool retries = in_loop(i) && waiting_.all.contains(loops_.innermost[i]);
    if (!of_function && !retries) {
      take_idle_threads(one);
    }
    take_double(i);
    take_function(i);
    take_division(i);
    take_memory(i);
  }

  // Warps execute it for all their threads, however few are there; at the line that branched.
  void take_idle_threads(const Instruction& one) {
    const double executed = one.executed.value_or(0);
    const double active =
        one.threads_active.value_or(one.threads_executed.value_or(threads_of_warp * executed));
    const double idle = std::clamp(1 - active / (threads_of_warp * executed), 0.0, 1.0);
    if (idle > 0) {
      sums_["divergent"].add(branch_.line > 0 ? branch_ : one.place, idle * executed,
                             idle * one.samples.value_or(0));
    }
  }

  void take_double(std::size_t i) {
    const Instruction& one = code_[i];
    const bool up = one.opcode.starts_with("F2F.F64.F32");
    const bool down = one.opcode.starts_with("F2F.F32.F64");
    const bool from_integer = one.opcode.starts_with("I2F.F64");
    if (decoded_[i].kind == OpKind::fp64 || up || down || from_integer) {
      sums_["double"].add(one);
    }
    if (from_integer) {
      sums_["integer_to_double"].begin(one);
      sums_["integer_to_double"].add(one);
    }
    if (up) {
      sums_["to_double"].begin(one);
      sums_["to_double"].add(one);
    }
    if (down || one.opcode.starts_with("DSETP")) {
      sums_["from_double"].begin(one);
      sums_["from_double"].add(one);
    }
  }

  // An exponential rounds what it clamped; a value that is clamped for itself goes elsewhere.
  [[nodiscard]] const LongFunction* function_at(std::size_t i) const {
    const LongFunction* found = long_function(code_[i]);
    const bool clamps = found != nullptr && code_[i].opcode.starts_with("FFMA.SAT");
    return clamps && !reader_of(i, {decoded_[i].written.first, 1}, "FFMA.RM") ? nullptr : found;
  }

  void take_function(std::size_t i) {
    const Instruction& one = code_[i];
    if (stands_at(one, double_lines_)) {
      return;
    }
    const bool in_double = of_double_function_[i] || one.opcode.starts_with("MUFU.RCP64H");
    if (in_double && !double_lines_.empty()) {
      return;
    }
    const LongFunction* function = function_at(i);
    if (of_function_[i] || of_double_function_[i]) {
      sums_["function"].add(one);
    } else if (function != nullptr) {
      sums_["function"].begin(one);
      sums_["function"].add(one.place,
                            one.executed.value_or(0) * (function->steps - function->fast_steps),
                            one.samples.value_or(0));
    }
  }

  // The next instruction behind `at` that begins so and reads `wanted` registers.
  [[nodiscard]] std::optional<std::size_t> reader_of(std::size_t at, const RegisterSpan& wanted,
                                                     string_view opcode) const {
    constexpr std::size_t far = 64;
    for (std::size_t i = at + 1; i < std::min(code_.size(), at + far); ++i) {
      const bool fits =
          code_[i].opcode.starts_with(opcode) && reads_register(decoded_[i], wanted.first);
      if (fits) {
        return i;
      }
      if (decoded_[i].written.first == wanted.first && code_[i].predicate.empty()) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  // A quotient by a reciprocal that is only near: its rest is made (n - q * d) and compared with
  // the divisor. Products by prepared factors need no rest.
  [[nodiscard]] bool guesses_quotient(std::size_t i) const {
    const Instruction& one = code_[i];
    if (!one.opcode.starts_with("IMAD.HI.U32") || !one.operands.ends_with(", RZ") ||
        names_part(one.operands, "0x")) {
      return false;
    }
    const RegisterSpan quotient{decoded_[i].written.first, 1};
    std::optional<std::size_t> negated = reader_of(i, quotient, "IMAD.MOV");
    negated = negated ? negated : reader_of(i, quotient, "IADD3");
    if (!negated) {
      return false;
    }
    const std::optional<std::size_t> rest =
        reader_of(*negated, {decoded_[*negated].written.first, 1}, "IMAD");
    return rest && reader_of(*rest, {decoded_[*rest].written.first, 1}, "ISETP.G");
  }

  void take_division(std::size_t i) {
    // A division by what stays is about ten instructions; finding the reciprocal takes as many.
    constexpr double steps = 10;
    constexpr double reciprocal_steps = 8;
    constexpr double sign_steps = 2;
    const Instruction& one = code_[i];
    const double executed = one.executed.value_or(0);
    const double samples = one.samples.value_or(0);
    const bool prepares = base_of(one.opcode) == "I2F" && has_modifier(one.opcode, "RP");
    PatternSum& sum = sums_["index_division"];
    if (of_division_[i]) {
      sum.add(one);
      if (prepares) {
        sum.begin(one);
      }
    } else if (guesses_quotient(i)) {
      sum.begin(one);
      sum.add(one.place, steps * executed, samples);
    } else if (prepares) {
      sum.add(one.place, reciprocal_steps * executed, samples);
    } else if (base_of(one.opcode) == "IABS" && is_divided(i)) {
      sum.add(one.place, sign_steps * executed, samples);
    }
  }

  // The absolute value of a divisor, whose reciprocal is made, or of what is divided.
  [[nodiscard]] bool is_divided(std::size_t i) const {
    const RegisterSpan value{decoded_[i].written.first, 1};
    if (value.first < 0) {
      return false;
    }
    const std::optional<std::size_t> product = reader_of(i, value, "IMAD.HI.U32");
    return reader_of(i, value, "I2F") || (product && !names_part(code_[*product].operands, "0x"));
  }

  // Volatile, or followed by what empties L1: acquire. A load past L1 alone (.cg) is a choice.
  [[nodiscard]] bool is_fresh_load(std::size_t i) const {
    constexpr std::size_t near = 4;
    if (!reads_fresh(i)) {
      return false;
    }
    if (has_modifier(code_[i].opcode, "SYS")) {
      return true;
    }
    for (std::size_t k = i + 1; k < std::min(code_.size(), i + 1 + near); ++k) {
      if (base_of(code_[k].opcode) == "CCTL" && has_modifier(code_[k].opcode, "IVALL")) {
        return true;
      }
    }
    return false;
  }

  // Adds or ors nothing, or stores the zero that it compared with: its last operand is RZ.
  [[nodiscard]] bool changes_nothing(std::size_t i) const {
    const Instruction& one = code_[i];
    if (decoded_[i].kind != OpKind::atomic_global || !one.operands.ends_with(", RZ")) {
      return false;
    }
    const auto is = [&one](const char* what) { return has_modifier(one.opcode, what); };
    if (is("CAS")) {
      return one.operands.ends_with(", RZ, RZ");
    }
    const bool is_signed = is("S32") || is("S64");
    return is("ADD") || is("OR") || is("XOR") || (is("MAX") && !is_signed);
  }

  void take_memory(std::size_t i) {
    const Instruction& one = code_[i];
    const auto note = [&](const char* name, bool begins) {
      if (begins) {
        sums_[name].begin(one);
      }
      sums_[name].add(one);
    };
    if (spins(i)) {
      note("spin", reads_fresh(i) || decoded_[i].kind == OpKind::atomic_global);
    } else if (in_loop(i) && belongs_to_fence(one)) {
      note("fence", is_fence(one));
    } else if (in_loop(i) && is_fresh_load(i)) {
      note("fresh_load", true);
    } else if (changes_nothing(i)) {
      note("atomic_load", true);
    } else if (is_reload(i)) {
      note("reload", true);
    }
  }

  // Whether one instruction of the loop changes a register of `span`.
  [[nodiscard]] bool changed_in(const LoopSpan& loop, const RegisterSpan& span) const {
    for (int i = loop.first; i <= loop.last; ++i) {
      if (overlap(decoded_[static_cast<std::size_t>(i)].written, span)) {
        return true;
      }
    }
    return false;
  }

  // What others stored is seen behind a fence: a load there may find something else in each turn.
  [[nodiscard]] bool has_fence(const LoopSpan& loop) const {
    const auto first = code_.begin() + loop.first;
    return std::any_of(first, first + (loop.last - loop.first + 1), belongs_to_fence);
  }

  // A load whose address no turn of its loop changes.
  [[nodiscard]] bool is_reload(std::size_t i) const {
    if (decoded_[i].kind != OpKind::load_global || !in_loop(i) ||
        names_part(code_[i].operands, "+UR") || has_modifier(code_[i].opcode, "STRONG")) {
      return false;
    }
    const LoopSpan& loop = loops_.loops[static_cast<std::size_t>(loops_.innermost[i])];
    if (!has_modifier(code_[i].opcode, "CONSTANT") && has_fence(loop)) {
      return false;
    }
    bool has_address = false;
    for (int k = 0; k < decoded_[i].reads; ++k) {
      const Operand& operand = decoded_[i].read[static_cast<std::size_t>(k)];
      if (operand.form == OperandForm::address && !operand.span.empty()) {
        has_address = true;
        if (changed_in(loop, operand.span)) {
          return false;
        }
      }
    }
    return has_address;
  }

  const std::vector<Instruction>& code_;
  const std::vector<DecodedInstruction>& decoded_;
  const CodeLoops& loops_;
  WaitingLoops waiting_;
  std::vector<bool> of_division_;
  std::vector<bool> of_function_;
  std::vector<bool> of_double_function_;
  std::set<std::pair<std::string, int>> double_lines_;
  std::set<std::pair<std::string, int>> function_lines_;
  SourcePlace branch_;  // the last with a condition, in the order of the code
  std::map<std::string, PatternSum> sums_;
};

}  // namespace

std::map<std::string, CodePattern> find_patterns(const std::vector<Instruction>& code,
                                                 const std::vector<DecodedInstruction>& decoded,
                                                 const CodeLoops& loops) {
  return PatternReader(code, decoded, loops).read();
}

}  // namespace kernelpro
