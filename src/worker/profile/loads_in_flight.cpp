#include "worker/profile/loads_in_flight.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <deque>

namespace kernelpro {
namespace {

constexpr int most_turns = 8;

// How many groups DEPBAR lets go on: "DEPBAR.LE SB0, 0x1".
std::size_t groups_left(const std::string& operands) {
  const std::size_t at = operands.rfind("0x");
  unsigned left = 0;
  if (at != std::string::npos) {
    std::from_chars(operands.data() + at + 2, operands.data() + operands.size(), left, 16);
  }
  return left;
}

class Pipeline {
 public:
  void step(const Instruction& instruction, const DecodedInstruction& decoded, bool own) {
    wait_for_registers(decoded);
    wait_for_copies(instruction, decoded);
    if (own && is_global_load(instruction, decoded.kind)) {
      issue(decoded);
    }
    most_ = std::max(most_, (issued_ - returned_) + waiting_copies() + bulk_);
  }
  [[nodiscard]] int most() const { return most_; }

 private:
  void wait_for_registers(const DecodedInstruction& decoded) {
    for (int i = 0; i < decoded.reads; ++i) {
      wait_for(decoded.read[static_cast<std::size_t>(i)].span);
    }
    wait_for(decoded.written);
  }

  void wait_for(RegisterSpan span) {
    for (int number = span.first; number < span.first + span.count; ++number) {
      returned_ = std::max(returned_, load_of_[static_cast<std::size_t>(number)]);
    }
  }

  void wait_for_copies(const Instruction& instruction, const DecodedInstruction& decoded) {
    const std::string_view base = base_of(instruction.opcode);
    if (base == "LDGDEPBAR") {
      groups_.push_back(open_group_);
      open_group_ = 0;
    } else if (base == "DEPBAR") {
      const std::size_t left = groups_left(instruction.operands);
      while (groups_.size() > left) {
        groups_.pop_front();
      }
    } else if (decoded.kind == OpKind::mbarrier && has_modifier(instruction.opcode, "PHASECHK")) {
      groups_.clear();
      open_group_ = 0;
      bulk_ = 0;
    }
  }

  void issue(const DecodedInstruction& decoded) {
    if (decoded.kind == OpKind::cp_async) {
      ++open_group_;
    } else if (decoded.kind == OpKind::load_global) {
      ++issued_;
      const RegisterSpan span = decoded.written;
      for (int number = span.first; number < span.first + span.count; ++number) {
        load_of_[static_cast<std::size_t>(number)] = issued_;
      }
    } else {
      ++bulk_;
    }
  }

  [[nodiscard]] int waiting_copies() const {
    int sum = open_group_;
    for (const int group : groups_) {
      sum += group;
    }
    return sum;
  }

  // Loads are numbered from 1; one that has returned waits for nobody.
  std::array<int, general_registers> load_of_{};
  int issued_ = 0;
  int returned_ = 0;
  std::deque<int> groups_;
  int open_group_ = 0;
  int bulk_ = 0;
  int most_ = 0;
};

}  // namespace

bool is_global_load(const Instruction& instruction, OpKind kind) {
  switch (kind) {
    case OpKind::load_global:
    case OpKind::cp_async:
    case OpKind::tma_load:
      return true;
    // From global memory into shared: UBLKCP.S.G.
    case OpKind::bulk_copy:
      return instruction.opcode.starts_with("UBLKCP.S");
    default:
      return false;
  }
}

int loads_in_flight(const std::vector<Instruction>& code,
                    const std::vector<DecodedInstruction>& decoded, const CodeLoops& loops,
                    int loop) {
  const LoopSpan& span = loops.loops[static_cast<std::size_t>(loop)];
  Pipeline pipeline;
  int before = -1;
  for (int turn = 0; turn < most_turns && pipeline.most() > before; ++turn) {
    before = pipeline.most();
    for (int i = span.first; i <= span.last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      pipeline.step(code[at], decoded[at], loops.innermost[at] == loop);
    }
    if (pipeline.most() == 0) {
      break;
    }
  }
  return pipeline.most();
}

}  // namespace kernelpro
