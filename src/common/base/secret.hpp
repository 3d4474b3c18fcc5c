// Keys from the kernel, keys as text, and numbers drawn under a key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/chacha.hpp"

namespace kernelpro {

// A key nobody can foresee, from the kernel.
[[nodiscard]] Key secret_key();

// 64 hexadecimal digits, and back; nothing when it is no such text.
[[nodiscard]] std::string key_text(const Key& key);
[[nodiscard]] std::optional<Key> parse_key(std::string_view text);

// The first 64 bits of a key, for what takes no more: PyTorch's generators. They must belong to
// that one use.
[[nodiscard]] constexpr std::uint64_t short_key(const Key& key) {
  return key.words[0] | (static_cast<std::uint64_t>(key.words[1]) << 32);
}

// One number after another, of which none tells about the next.
class KeyedRandom {
 public:
  explicit KeyedRandom(const Key& key) : key_(key) {}
  std::uint64_t next();
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  Key key_;
  std::uint64_t blocks_ = 0;
  std::uint32_t block_[chacha::words] = {};
  int used_ = chacha::words;
};

}  // namespace kernelpro
