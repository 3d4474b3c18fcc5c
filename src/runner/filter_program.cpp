#include "runner/filter_program.hpp"

#include <linux/audit.h>

namespace kernelpro::runner {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native_arch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t native_arch = AUDIT_ARCH_AARCH64;
#else
#error "the runner's filter knows x86-64 and arm64"
#endif

}  // namespace

void emit(Program& program, std::uint16_t code, std::uint32_t k, std::uint8_t if_true,
          std::uint8_t if_false) {
  program.push_back(sock_filter{code, if_true, if_false, k});
}

void load(Program& program, std::size_t offset) {
  emit(program, BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

void answer(Program& program, std::uint32_t action) {
  emit(program, BPF_RET | BPF_K, action);
}

void check_architecture(Program& program) {
  load(program, offsetof(seccomp_data, arch));
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, native_arch, 1, 0);
  answer(program, SECCOMP_RET_KILL_PROCESS);
  load(program, offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  // The x32 numbers of the same architecture.
  emit(program, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  answer(program, SECCOMP_RET_KILL_PROCESS);
#endif
}

void allow_call(Program& program, long call) {
  emit(program, BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
  answer(program, SECCOMP_RET_ALLOW);
}

void allow_values(Program& program, std::span<const std::uint32_t> values) {
  for (const std::uint32_t value : values) {
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(program, SECCOMP_RET_ALLOW);
  }
}

void allow_other_values(Program& program, std::span<const std::uint32_t> values) {
  for (std::size_t left = values.size(); left > 0; --left) {
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, values[values.size() - left],
         static_cast<std::uint8_t>(left), 0);
  }
  answer(program, SECCOMP_RET_ALLOW);
}

void allow_if(Program& program, long call, std::size_t index, std::uint32_t mask,
              std::uint32_t value) {
  for_call(program, call, [&] {
    load(program, argument_low(index));
    emit(program, BPF_ALU | BPF_AND | BPF_K, mask);
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(program, SECCOMP_RET_ALLOW);
  });
}

}  // namespace kernelpro::runner
