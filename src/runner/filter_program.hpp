// The parts that a system-call filter is written of, in plain BPF for both architectures.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kernelpro::runner {

using Program = std::vector<sock_filter>;

void emit(Program& program, std::uint16_t code, std::uint32_t k, std::uint8_t if_true = 0,
          std::uint8_t if_false = 0);
void load(Program& program, std::size_t offset);
void answer(Program& program, std::uint32_t action);

// The low word of argument `index` (both architectures are little-endian).
constexpr std::size_t argument_low(std::size_t index) {
  return offsetof(seccomp_data, args) + index * sizeof(std::uint64_t);
}

constexpr std::size_t argument_high(std::size_t index) {
  return argument_low(index) + sizeof(std::uint32_t);
}

// Ends the process where the call is one of another architecture; else its number is loaded.
void check_architecture(Program& program);

void allow_call(Program& program, long call);

// Appends what follows if the call is `call`; `body` ends with the call's number loaded again.
template <typename Body>
void for_call(Program& program, long call, Body body) {
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 0);
  const std::size_t jump = program.size() - 1;
  body();
  load(program, offsetof(seccomp_data, nr));
  program[jump].jf = static_cast<std::uint8_t>(program.size() - jump - 1);
}

// Allows the call when the loaded word is one of `values`.
void allow_values(Program& program, std::span<const std::uint32_t> values);

// Allows the call unless the loaded word is one of `values`.
void allow_other_values(Program& program, std::span<const std::uint32_t> values);

// `call` is allowed when its argument `index`, read as 32 bits and masked, equals `value`.
void allow_if(Program& program, long call, std::size_t index, std::uint32_t mask,
              std::uint32_t value);

}  // namespace kernelpro::runner
