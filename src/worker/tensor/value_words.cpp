#include "worker/tensor/value_words.hpp"

#include <cstring>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace kernelpro {

namespace {

// Blocks side by side in the registers of the processor. On x86-64 twice the width that every one
// has, because the state fills the registers of a wider one only then; elsewhere two such states at
// a time, because the steps of one wait for each other.
#if defined(__x86_64__)
constexpr std::size_t lanes = 8;
constexpr bool two_states = false;
#define KP_BEST_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
constexpr std::size_t lanes = 4;
constexpr bool two_states = true;
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
  } else if constexpr (By == 8) {
    constexpr uint8x16_t bytes = {3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14};
    return {vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(words.vector), bytes))};
  } else {
    return {vsriq_n_u32(vshlq_n_u32(words.vector, By), words.vector, 32 - By)};
  }
#else
  return {(words.vector << By) | (words.vector >> (32 - By))};
#endif
}

using Words16 = Words[chacha::words];
using Start = std::uint32_t[chacha::words];

// Groups start at multiples of 32, so the low word of a block's place never overflows within one.
// No vector is returned by value: each processor would return it in another way.
inline void set_places(Vector& places, const Start& start, std::size_t first) {
  for (std::size_t i = 0; i < lanes; ++i) {
    places[i] = static_cast<std::uint32_t>(i);
  }
  places += start[12] + static_cast<std::uint32_t>(first);
}

inline void begin(Words16& x, const Start& start, std::size_t first) {
  for (std::size_t i = 0; i < chacha::words; ++i) {
    x[i].vector = Vector{} + start[i];
  }
  set_places(x[12].vector, start, first);
}

inline void finish(const Words16& x, const Start& start, std::size_t first, std::uint32_t* out) {
  for (std::size_t i = 0; i < chacha::words; ++i) {
    Vector sum = {};
    sum += start[i];
    if (i == 12) {
      set_places(sum, start, first);
    }
    sum += x[i].vector;
    std::memcpy(out + i * group_lanes + first, &sum, sizeof sum);
  }
}

// Apart from what the header declares, because clang wants to know of the clones at the first use.
KP_BEST_PROCESSOR
void mixed_words(const Key& key, std::uint64_t group, std::uint64_t stream,
                 std::uint32_t (&out)[group_elements]) {
  Start start;
  chacha::start_block(start, key, group * group_lanes, stream);
  for (std::size_t first = 0; first < group_lanes; first += two_states ? 2 * lanes : lanes) {
    Words16 x = {};
    Words16 y = {};
    begin(x, start, first);
    begin(y, start, first + lanes);
    for (int round = 0; round < chacha::value_rounds; round += 2) {
      chacha::mix_block(x, 2);
      if constexpr (two_states) {
        chacha::mix_block(y, 2);
      }
    }
    finish(x, start, first, out);
    if constexpr (two_states) {
      finish(y, start, first + lanes, out);
    }
  }
}

}  // namespace

void value_words(const Key& key, std::uint64_t group, std::uint64_t stream,
                 std::uint32_t (&out)[group_elements]) {
  mixed_words(key, group, stream, out);
}

}  // namespace kernelpro
