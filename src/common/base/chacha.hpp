// ChaCha: the keyed one-way function behind every value that a candidate must not foresee. What is
// seen of one stream tells nothing about its key, about another stream or about what comes next.
//
// Plain constexpr C++17 and nothing else, because the judge's GPU kernels are compiled from this
// text too: the same key gives the same values on host and GPU.
#pragma once

#include <cstdint>

namespace kernelpro {

// 256 bits.
struct Key {
  std::uint32_t words[8] = {};
};

constexpr bool operator==(const Key& a, const Key& b) {
  for (int i = 0; i < 8; ++i) {
    if (a.words[i] != b.words[i]) {
      return false;
    }
  }
  return true;
}

namespace chacha {

inline constexpr int words = 16;  // of a block

// The least trusted and fastest of the family for values, of which there are gigabytes; the full
// one for keys.
inline constexpr int value_rounds = 8;
inline constexpr int key_rounds = 20;

template <int By>
constexpr std::uint32_t rotate_left(std::uint32_t value) {
  return (value << By) | (value >> (32 - By));
}

// `Word` is one 32-bit number, or several side by side, a block each, with a rotate_left of its
// own.
template <typename Word>
constexpr void quarter_round(Word& a, Word& b, Word& c, Word& d) {
  a += b;
  d = rotate_left<16>(d ^ a);
  c += d;
  b = rotate_left<12>(b ^ c);
  a += b;
  d = rotate_left<8>(d ^ a);
  c += d;
  b = rotate_left<7>(b ^ c);
}

template <typename Word>
constexpr void mix_block(Word (&x)[words], int rounds) {
  for (int i = 0; i < rounds; i += 2) {
    quarter_round(x[0], x[4], x[8], x[12]);
    quarter_round(x[1], x[5], x[9], x[13]);
    quarter_round(x[2], x[6], x[10], x[14]);
    quarter_round(x[3], x[7], x[11], x[15]);
    quarter_round(x[0], x[5], x[10], x[15]);
    quarter_round(x[1], x[6], x[11], x[12]);
    quarter_round(x[2], x[7], x[8], x[13]);
    quarter_round(x[3], x[4], x[9], x[14]);
  }
}

// What a block starts from: four constants, the key, its place in the stream, and which stream of
// that key it is.
constexpr void start_block(std::uint32_t (&x)[words], const Key& key, std::uint64_t place,
                           std::uint64_t stream) {
  x[0] = 0x61707865U;
  x[1] = 0x3320646eU;
  x[2] = 0x79622d32U;
  x[3] = 0x6b206574U;
  for (int i = 0; i < 8; ++i) {
    x[4 + i] = key.words[i];
  }
  x[12] = static_cast<std::uint32_t>(place);
  x[13] = static_cast<std::uint32_t>(place >> 32);
  x[14] = static_cast<std::uint32_t>(stream);
  x[15] = static_cast<std::uint32_t>(stream >> 32);
}

// Block `place` of stream `stream` under `key`.
constexpr void make_block(std::uint32_t (&out)[words], const Key& key, std::uint64_t place,
                          std::uint64_t stream, int rounds) {
  std::uint32_t start[words] = {};
  start_block(start, key, place, stream);
  for (int i = 0; i < words; ++i) {
    out[i] = start[i];
  }
  mix_block(out, rounds);
  for (int i = 0; i < words; ++i) {
    out[i] += start[i];
  }
}

}  // namespace chacha

// The key for one use, number `index` of those for `purpose`.
constexpr Key derive(const Key& key, std::uint64_t purpose, std::uint64_t index = 0) {
  std::uint32_t block[chacha::words] = {};
  chacha::make_block(block, key, index, purpose, chacha::key_rounds);
  Key out;
  for (int i = 0; i < 8; ++i) {
    out.words[i] = block[i];
  }
  return out;
}

}  // namespace kernelpro
