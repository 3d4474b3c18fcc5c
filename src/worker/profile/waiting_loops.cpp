#include "worker/profile/waiting_loops.hpp"

#include <cstddef>

#include "worker/profile/opcodes.hpp"

namespace kernelpro {
namespace {

// Instructions of a loop that only waits.
constexpr int longest_wait = 24;

class WaitReader {
 public:
  WaitReader(const std::vector<Instruction>& code, const std::vector<DecodedInstruction>& decoded)
      : code_(code), decoded_(decoded) {}

  // A small loop that looks at memory, always at the same place, and does nothing with what it sees
  // but to go on. One that looks at other places in other turns searches or sums up.
  [[nodiscard]] bool polls(const LoopSpan& loop) const {
    if (loop.last - loop.first >= longest_wait) {
      return false;
    }
    std::vector<bool> varies = written_in(loop);
    bool looks = false;
    for (int i = loop.first; i <= loop.last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const OpKind kind = decoded_[at].kind;
      if (reads_fresh_value(code_[at], decoded_[at]) || kind == OpKind::atomic_global) {
        if (reads_any(decoded_[at], varies, true)) {
          return false;
        }
        looks = true;
      }
      if (kind == OpKind::store_global || kind == OpKind::store_shared || kind == OpKind::fp32 ||
          kind == OpKind::fp64 || kind == OpKind::fp16 || kind == OpKind::special ||
          kind == OpKind::reduction_global) {
        return false;
      }
      note_written(decoded_[at], varies);
    }
    return looks;
  }

  // Threads leave such a loop one by one because of the others: no matter of who does what. They
  // try again until a value is theirs (sums that nobody looks at are no such try), or wait at a
  // barrier in shared memory.
  [[nodiscard]] bool tries_again(const LoopSpan& loop) const {
    for (int i = loop.first; i <= loop.last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const OpKind kind = decoded_[at].kind;
      const auto is = [&](const char* what) { return has_modifier(code_[at].opcode, what); };
      const bool tries = kind == OpKind::atomic_global || kind == OpKind::atomic_shared;
      if (tries && (is("CAS") || is("CAST") || is("EXCH"))) {
        return true;
      }
      if (kind == OpKind::mbarrier && is("PHASECHK") && loop.last - loop.first < longest_wait) {
        return true;
      }
    }
    return false;
  }

 private:
  // The registers that a turn of the loop finds as an earlier turn left them.
  [[nodiscard]] std::vector<bool> written_in(const LoopSpan& loop) const {
    std::vector<bool> out(general_registers);
    for (int i = loop.first; i <= loop.last; ++i) {
      set_all(decoded_[static_cast<std::size_t>(i)].written, true, out);
    }
    return out;
  }

  // What comes from memory, or from what varies, varies from turn to turn.
  static void note_written(const DecodedInstruction& one, std::vector<bool>& varies) {
    const bool from_memory = one.kind == OpKind::load_global || one.kind == OpKind::load_shared ||
                             one.kind == OpKind::load_local || one.kind == OpKind::atomic_global ||
                             one.kind == OpKind::atomic_shared;
    if (from_memory || reads_any(one, varies, false)) {
      set_all(one.written, true, varies);
    } else if (!one.predicated) {
      set_all(one.written, false, varies);
    }
  }

  static void set_all(const RegisterSpan& span, bool value, std::vector<bool>& registers) {
    for (int number = span.first; number < span.first + span.count; ++number) {
      registers[static_cast<std::size_t>(number)] = value;
    }
  }

  [[nodiscard]] static bool reads_any(const DecodedInstruction& one,
                                      const std::vector<bool>& registers, bool addresses_alone) {
    for (int k = 0; k < one.reads; ++k) {
      const Operand& operand = one.read[static_cast<std::size_t>(k)];
      if (addresses_alone && operand.form != OperandForm::address) {
        continue;
      }
      for (int number = operand.span.first; number < operand.span.first + operand.span.count;
           ++number) {
        if (registers[static_cast<std::size_t>(number)]) {
          return true;
        }
      }
    }
    return false;
  }

  const std::vector<Instruction>& code_;
  const std::vector<DecodedInstruction>& decoded_;
};

}  // namespace

WaitingLoops find_waiting_loops(const std::vector<Instruction>& code,
                                const std::vector<DecodedInstruction>& decoded,
                                const CodeLoops& loops) {
  const WaitReader reader(code, decoded);
  WaitingLoops out;
  for (std::size_t i = 0; i < loops.loops.size(); ++i) {
    const bool polls = reader.polls(loops.loops[i]);
    if (polls) {
      out.polls.insert(static_cast<int>(i));
    }
    if (polls || reader.tries_again(loops.loops[i])) {
      out.all.insert(static_cast<int>(i));
    }
  }
  return out;
}

bool reads_fresh_value(const Instruction& one, const DecodedInstruction& decoded) {
  return decoded.kind == OpKind::load_global && has_modifier(one.opcode, "STRONG");
}

}  // namespace kernelpro
