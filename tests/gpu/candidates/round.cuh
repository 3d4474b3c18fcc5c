// The runner's own view of a round: which sets it will be asked for, and where their buffers lie.
// Both are in the memory of the process that has loaded the candidate. Needs program.cuh.
#include <kernelpro/candidate.h>

namespace {

constexpr uint32_t op_go = 4;
constexpr int most_calls = 200;
constexpr size_t call_stride = sizeof(kp_context) + 64 * sizeof(kp_tensor);

// As far as it matters, what the runner has received.
struct Asked {
  uint32_t op;
  uint32_t sequence;
  uint32_t count;
  uint32_t option;
  uint32_t gate;
  uint64_t first;
  uint16_t sets[most_calls];
};

inline bool plausible(const Asked& asked) {
  if (asked.op != op_go || asked.count == 0 || asked.count > most_calls || asked.option != 0 ||
      asked.first != 0 || asked.sequence == 0) {
    return false;
  }
  for (uint32_t i = 0; i < asked.count; ++i) {
    if (asked.sets[i] > most_calls) {
      return false;
    }
  }
  return true;
}

// The request that is being carried out, and the arguments of set 0; null while unknown.
struct KnownRound {
  const Asked* asked = nullptr;
  const char* calls = nullptr;
  uint32_t sequence = 0;
  uint32_t at = 0;  // how many calls of it have come

  void forget() { calls = nullptr; }

  // In each call; whether it is the first of its round.
  bool note(const kp_context* context) {
    if (asked == nullptr) {
      asked = find();
    }
    if (asked == nullptr || !plausible(*asked)) {
      calls = nullptr;
      return true;
    }
    const bool first = asked->sequence != sequence;
    at = first ? 0 : at + 1;
    sequence = asked->sequence;
    if (first) {
      calls = reinterpret_cast<const char*>(context) - asked->sets[0] * call_stride;
    }
    return first;
  }

  [[nodiscard]] bool known() const {
    if (asked == nullptr || calls == nullptr || !plausible(*asked)) {
      return false;
    }
    for (uint32_t i = 0; i < asked->count; ++i) {
      if (context(asked->sets[i])->abi_version != KP_ABI_VERSION) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] const kp_context* context(uint32_t set) const {
    return reinterpret_cast<const kp_context*>(calls + set * call_stride);
  }
  [[nodiscard]] const kp_tensor* tensors(uint32_t set) const {
    return reinterpret_cast<const kp_tensor*>(calls + set * call_stride + sizeof(kp_context));
  }

 private:
  // What looks like a request among the runner's variables.
  static const Asked* find() {
    const Words words = program_words();
    for (size_t i = 0; i + sizeof(Asked) / 8 < words.count; ++i) {
      const auto* asked = reinterpret_cast<const Asked*>(words.first + i);
      if (plausible(*asked)) {
        return asked;
      }
    }
    return nullptr;
  }
};

}  // namespace
