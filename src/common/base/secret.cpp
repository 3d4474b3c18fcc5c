#include "common/base/secret.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace kernelpro {

namespace {

constexpr std::size_t word_digits = 8;
constexpr std::size_t key_digits = 8 * word_digits;

std::optional<std::uint32_t> digit_of(char digit) {
  if (digit >= '0' && digit <= '9') {
    return static_cast<std::uint32_t>(digit - '0');
  }
  if (digit >= 'a' && digit <= 'f') {
    return static_cast<std::uint32_t>(digit - 'a' + 10);
  }
  return std::nullopt;
}

}  // namespace

Key secret_key() {
  Key key;
  if (::getentropy(&key, sizeof key) != 0) {
    // Going on with a key that can be guessed would make every verdict worthless.
    std::fputs("kernelpro: the system has no source of random numbers (getentropy failed)\n",
               stderr);
    std::abort();
  }
  return key;
}

std::string key_text(const Key& key) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint32_t word : key.words) {
    for (int shift = 28; shift >= 0; shift -= 4) {
      out += digits[(word >> shift) & 15U];
    }
  }
  return out;
}

std::optional<Key> parse_key(std::string_view text) {
  if (text.size() != key_digits) {
    return std::nullopt;
  }
  Key key;
  for (std::size_t i = 0; i < key_digits; ++i) {
    const std::optional<std::uint32_t> digit = digit_of(text[i]);
    if (!digit) {
      return std::nullopt;
    }
    std::uint32_t& word = key.words[i / word_digits];
    word = (word << 4U) | *digit;
  }
  return key;
}

std::uint64_t KeyedRandom::next() {
  if (used_ == chacha::words) {
    chacha::make_block(block_, key_, blocks_++, 0, chacha::key_rounds);
    used_ = 0;
  }
  const std::uint64_t low = block_[used_++];
  return low | (static_cast<std::uint64_t>(block_[used_++]) << 32);
}

std::uint64_t KeyedRandom::below(std::uint64_t bound) {
  // What is left over at the top would make small numbers likelier.
  const std::uint64_t uneven = (0 - bound) % bound;
  std::uint64_t drawn = next();
  while (drawn < uneven) {
    drawn = next();
  }
  return drawn % bound;
}

}  // namespace kernelpro
