#include "common/base/hash.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace kernelpro {
namespace {

// FIPS 180-4, section 4.2.2.
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::size_t block_bytes = 64;
using State = std::array<std::uint32_t, 8>;

std::array<std::uint32_t, 64> message_schedule(const unsigned char* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t t = 0; t < 16; ++t) {
    words[t] = static_cast<std::uint32_t>(block[4 * t]) << 24U |
               static_cast<std::uint32_t>(block[4 * t + 1]) << 16U |
               static_cast<std::uint32_t>(block[4 * t + 2]) << 8U |
               static_cast<std::uint32_t>(block[4 * t + 3]);
  }
  for (std::size_t t = 16; t < words.size(); ++t) {
    const std::uint32_t near = words[t - 2];
    const std::uint32_t far = words[t - 15];
    const std::uint32_t sigma1 = std::rotr(near, 17) ^ std::rotr(near, 19) ^ (near >> 10U);
    const std::uint32_t sigma0 = std::rotr(far, 7) ^ std::rotr(far, 18) ^ (far >> 3U);
    words[t] = sigma1 + words[t - 7] + sigma0 + words[t - 16];
  }
  return words;
}

void absorb(State& state, const unsigned char* block) {
  const std::array<std::uint32_t, 64> words = message_schedule(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < words.size(); ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t first = h + sum1 + choice + round_constants[t] + words[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + sum0 + majority;
  }
  const State mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] += mixed[i];
  }
}

std::uint64_t load_word(const unsigned char* bytes, std::size_t count = 8) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

// One-to-one in `word` for a given `lane` and the other way round: a change of a single word can
// never cancel itself out. The word is multiplied before it joins the lane, so that no plain pair
// of bits in neighboring words cancels either.
std::uint64_t absorb_word(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * 0xa0761d6478bd642fULL, 29) * 0x9fb21c651e98df25ULL;
}

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 32U)) * 0xd6e8feb86659fd93ULL;
  value = (value ^ (value >> 32U)) * 0xd6e8feb86659fd93ULL;
  return value ^ (value >> 32U);
}

}  // namespace

std::string sha256(std::string_view data) {
  State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
  const std::size_t whole = data.size() / block_bytes * block_bytes;
  for (std::size_t at = 0; at < whole; at += block_bytes) {
    absorb(state, bytes + at);
  }
  // The rest, a one bit, zeros, and the length in bits as a big-endian 64-bit number.
  std::array<unsigned char, 2 * block_bytes> tail{};
  const std::size_t rest = data.size() - whole;
  if (rest > 0) {
    std::memcpy(tail.data(), bytes + whole, rest);
  }
  tail[rest] = 0x80;
  const std::size_t tail_bytes = rest + 9 <= block_bytes ? block_bytes : 2 * block_bytes;
  const std::uint64_t bits = static_cast<std::uint64_t>(data.size()) * 8;
  for (std::size_t i = 0; i < 8; ++i) {
    tail[tail_bytes - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  }
  for (std::size_t at = 0; at < tail_bytes; at += block_bytes) {
    absorb(state, tail.data() + at);
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) {
      text.push_back(digits[(word >> static_cast<unsigned>(shift)) & 15U]);
    }
  }
  return text;
}

std::uint64_t memory_hash(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint64_t lane0 = 0x243f6a8885a308d3ULL;
  std::uint64_t lane1 = 0x13198a2e03707344ULL;
  std::uint64_t lane2 = 0xa4093822299f31d0ULL;
  std::uint64_t lane3 = 0x082efa98ec4e6c89ULL;
  std::size_t left = bytes;
  for (; left >= 32; left -= 32, at += 32) {  // four lanes: the multiplications overlap
    lane0 = absorb_word(lane0, load_word(at));
    lane1 = absorb_word(lane1, load_word(at + 8));
    lane2 = absorb_word(lane2, load_word(at + 16));
    lane3 = absorb_word(lane3, load_word(at + 24));
  }
  for (; left >= 8; left -= 8, at += 8) {
    lane0 = absorb_word(lane0, load_word(at));
  }
  if (left > 0) {
    lane0 = absorb_word(lane0, load_word(at, left));
  }
  std::uint64_t hash = mix(static_cast<std::uint64_t>(bytes));
  for (const std::uint64_t lane : {lane0, lane1, lane2, lane3}) {
    hash = mix(std::rotl(hash, 17) ^ mix(lane));
  }
  return hash;
}

}  // namespace kernelpro
