#include "worker/tensor/value_words.hpp"

#include <cstring>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace kernelpro {

namespace {

// Blocks side by side in the registers of the processor. Twice the width that every x86-64 has,
// because the state fills the registers of a wider one only then.
#if defined(__x86_64__)
constexpr std::size_t lanes = 8;
#define KP_BEST_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
constexpr std::size_t lanes = 4;
#define KP_BEST_PROCESSOR
#endif

using Vector = std::uint32_t __attribute__((vector_size(lanes * sizeof(std::uint32_t))));

struct Words {
  Vector vector;

  Words& operator+=(const Words& other) {
    vector += other.vector;
    return *this;
  }
  friend Words operator^(const Words& a, const Words& b) { return {a.vector ^ b.vector}; }
};

template <int By>
Words rotate_left(const Words& words) {
#if defined(__aarch64__)
  // Compilers see three instructions where two or one do.
  if constexpr (By == 16) {
    return {vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(words.vector)))};
  } else {
    return {vsriq_n_u32(vshlq_n_u32(words.vector, By), words.vector, 32 - By)};
  }
#else
  return {(words.vector << By) | (words.vector >> (32 - By))};
#endif
}

}  // namespace

KP_BEST_PROCESSOR
void value_words(const Key& key, std::uint64_t group, std::uint64_t stream,
                 std::uint32_t (&out)[group_elements]) {
  std::uint32_t start[chacha::words];
  chacha::start_block(start, key, group * group_lanes, stream);
  Vector number;
  for (std::size_t i = 0; i < lanes; ++i) {
    number[i] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t first = 0; first < group_lanes; first += lanes) {
    Words x[chacha::words];
    for (int i = 0; i < chacha::words; ++i) {
      x[i].vector = Vector{} + start[i];
    }
    // Groups start at multiples of 32, so the low word of a block's place never overflows within
    // one.
    const Vector place = x[12].vector + number + static_cast<std::uint32_t>(first);
    x[12].vector = place;
    chacha::mix_block(x, chacha::value_rounds);
    for (std::size_t i = 0; i < chacha::words; ++i) {
      const Vector sum = x[i].vector + (i == 12 ? place : Vector{} + start[i]);
      std::memcpy(out + i * group_lanes + first, &sum, sizeof sum);
    }
  }
}

}  // namespace kernelpro
