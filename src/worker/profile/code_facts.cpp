#include "worker/profile/code_facts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string_view>

#include "worker/profile/code_loops.hpp"
#include "worker/profile/code_patterns.hpp"
#include "worker/profile/dot_steps.hpp"
#include "worker/profile/loads_in_flight.hpp"
#include "worker/profile/operands.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr std::size_t most_memory_instructions = 256;

// The number of instructions before the padding: a branch to itself and NOPs.
std::size_t length_without_padding(const std::vector<Instruction>& code) {
  std::size_t length = code.size();
  while (length > 0 && code[length - 1].opcode == "NOP") {
    --length;
  }
  if (length > 0 && branch_target(code[length - 1]) == code[length - 1].offset) {
    --length;
  }
  return length;
}

double amount_of(const Instruction& instruction, bool counted) {
  return counted ? instruction.executed.value_or(0) : 1;
}

// A name such as $__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath.
bool names_slow_path(string_view name) {
  static constexpr std::array<string_view, 6> words = {"slowpath", "div_", "rem_",
                                                       "sqrt",     "rcp_", "mediumpath"};
  return name.find("__internal_") != string_view::npos &&
         std::any_of(words.begin(), words.end(),
                     [&](string_view word) { return name.find(word) != string_view::npos; });
}

// Whether what begins at `first` is a division or root, by its code: it makes a reciprocal, touches
// no memory, calls nobody and returns.
bool looks_like_slow_path(const std::vector<Instruction>& code,
                          const std::vector<DecodedInstruction>& decoded, std::size_t first) {
  constexpr std::size_t longest = 400;
  bool reciprocal = false;
  for (std::size_t i = first; i < decoded.size() && i < first + longest; ++i) {
    const string_view opcode = code[i].opcode;
    if (decoded[i].kind == OpKind::special) {
      reciprocal = reciprocal || opcode.starts_with("MUFU.RCP") || opcode.starts_with("MUFU.RSQ") ||
                   opcode.starts_with("MUFU.SQRT");
    } else if (base_of(opcode) == "RET" && code[i].predicate.empty()) {
      return reciprocal;
    } else if (decoded[i].kind == OpKind::call || base_of(opcode) == "EXIT" ||
               (memory_traits(decoded[i].kind, opcode) &&
                decoded[i].kind != OpKind::load_constant)) {
      return false;
    }
  }
  return false;
}

bool calls_slow_path(const std::vector<Instruction>& code,
                     const std::vector<DecodedInstruction>& decoded, std::size_t at) {
  if (decoded[at].kind != OpKind::call) {
    return false;
  }
  if (code[at].operands.find('`') != std::string::npos) {
    return names_slow_path(code[at].operands);
  }
  Instruction as_branch;
  as_branch.opcode = "BRA";
  as_branch.operands = code[at].operands;
  const std::optional<int> target = branch_target(as_branch);
  if (!target) {
    return false;
  }
  const auto found = std::lower_bound(
      code.begin(), code.end(), *target,
      [](const Instruction& instruction, int wanted) { return instruction.offset < wanted; });
  return found != code.end() && found->offset == *target &&
         looks_like_slow_path(code, decoded, static_cast<std::size_t>(found - code.begin()));
}

bool converts_between_single_and_double(string_view opcode) {
  return opcode.starts_with("F2F.F64.F32") || opcode.starts_with("F2F.F32.F64");
}

MemoryInstruction memory_instruction(const Instruction& instruction, const MemoryTraits& traits,
                                     int loop) {
  return {.space = traits.space,
          .access = traits.access,
          .bits = traits.bits,
          .offset = instruction.offset,
          .place = instruction.place,
          .loop = loop,
          .executed = instruction.executed,
          .threads = instruction.threads_executed,
          .sectors = instruction.sectors,
          .ideal_sectors = instruction.ideal_sectors,
          .wavefronts = instruction.wavefronts,
          .ideal_wavefronts = instruction.ideal_wavefronts,
          .samples = instruction.samples};
}

// More important ones first: constants (kernel arguments, mostly) behind all others.
bool matters_more(const MemoryInstruction& a, const MemoryInstruction& b) {
  const bool a_constant = a.space == Space::constant;
  const bool b_constant = b.space == Space::constant;
  if (a_constant != b_constant) {
    return b_constant;
  }
  if (a.executed.value_or(0) != b.executed.value_or(0)) {
    return a.executed.value_or(0) > b.executed.value_or(0);
  }
  if (a.samples.value_or(0) != b.samples.value_or(0)) {
    return a.samples.value_or(0) > b.samples.value_or(0);
  }
  // Without counts, what lies in a loop.
  if ((a.loop >= 0) != (b.loop >= 0)) {
    return a.loop >= 0;
  }
  return a.offset < b.offset;
}

void keep_what_matters(std::vector<MemoryInstruction>& memory) {
  if (memory.size() > most_memory_instructions) {
    const auto end = memory.begin() + most_memory_instructions;
    std::nth_element(memory.begin(), end, memory.end(), matters_more);
    memory.erase(end, memory.end());
  }
  std::sort(
      memory.begin(), memory.end(),
      [](const MemoryInstruction& a, const MemoryInstruction& b) { return a.offset < b.offset; });
}

// Reads the whole of it, part by part.
class CodeReader {
 public:
  explicit CodeReader(const std::vector<Instruction>& code)
      : code_(code), length_(length_without_padding(code)) {
    decoded_.reserve(code.size());
    for (const Instruction& instruction : code) {
      decoded_.push_back(decode(instruction));
    }
    loops_ = find_loops(code);
    steps_ = find_dot_steps(code, decoded_, loops_);
  }

  CodeFacts read() {
    const auto end = code_.begin() + static_cast<std::ptrdiff_t>(length_);
    facts_.instructions = static_cast<int>(length_);
    facts_.counted = std::any_of(code_.begin(), end,
                                 [](const Instruction& one) { return one.executed.has_value(); });
    facts_.has_lines =
        std::any_of(code_.begin(), end, [](const Instruction& one) { return one.place.line > 0; });
    begin_loops();
    for (std::size_t i = 0; i < length_; ++i) {
      take(i);
    }
    for (std::size_t i = 0; i < facts_.loops.size(); ++i) {
      if (facts_.loops[i].global_loads > 0) {
        facts_.loops[i].loads_in_flight =
            loads_in_flight(code_, decoded_, loops_, static_cast<int>(i));
      }
    }
    keep_what_matters(facts_.memory);
    if (facts_.counted) {
      facts_.patterns = find_patterns(code_, decoded_, loops_);
    }
    return std::move(facts_);
  }

 private:
  void begin_loops() {
    for (const LoopSpan& span : loops_.loops) {
      const Instruction& first = code_[static_cast<std::size_t>(span.first)];
      const Instruction& last = code_[static_cast<std::size_t>(span.last)];
      facts_.loops.push_back({.begin = first.offset,
                              .end = last.offset,
                              .depth = span.depth,
                              .instructions = span.last - span.first + 1,
                              .executed = first.executed,
                              .place = last.place.line > 0 ? last.place : first.place});
    }
  }

  void take(std::size_t i) {
    const Instruction& instruction = code_[i];
    const OpKind kind = decoded_[i].kind;
    const double amount = amount_of(instruction, facts_.counted);
    facts_.mix[std::string(name_of(kind))] += amount;
    if (const std::optional<MemoryTraits> traits = memory_traits(kind, instruction.opcode)) {
      facts_.memory.push_back(memory_instruction(instruction, *traits, loops_.innermost[i]));
    }
    if (calls_slow_path(code_, decoded_, i)) {
      facts_.slow_divisions += amount;
    }
    if (converts_between_single_and_double(instruction.opcode)) {
      facts_.fp64_conversions += amount;
    }
    facts_.dot_steps += steps_[i] ? amount : 0;
    if (loops_.innermost[i] >= 0) {
      CodeLoop& loop = facts_.loops[static_cast<std::size_t>(loops_.innermost[i])];
      loop.global_loads += is_global_load(instruction, kind) ? 1 : 0;
      loop.barriers += kind == OpKind::barrier ? 1 : 0;
      loop.dot_steps += steps_[i] ? 1 : 0;
    }
  }

  const std::vector<Instruction>& code_;
  std::size_t length_ = 0;
  std::vector<DecodedInstruction> decoded_;
  CodeLoops loops_;
  std::vector<bool> steps_;
  CodeFacts facts_;
};

}  // namespace

CodeFacts code_facts(const std::vector<Instruction>& code) {
  return CodeReader(code).read();
}

}  // namespace kernelpro
