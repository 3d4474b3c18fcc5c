// Text as a server sends it that packs what it says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelpro::llm_server {

inline void add_little_endian(std::string& bytes, std::uint32_t number, int count) {
  for (int i = 0; i < count; ++i) {
    bytes += static_cast<char>((number >> (8 * i)) & 0xFFU);
  }
}

// The form of gzip without its compression: one block of at most 65535 bytes, stored.
inline std::string gzipped(std::string_view text) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char letter : text) {
    crc ^= static_cast<unsigned char>(letter);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
  }
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string bytes("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01", 11);
  add_little_endian(bytes, size, 2);
  add_little_endian(bytes, ~size, 2);
  bytes += text;
  add_little_endian(bytes, ~crc, 4);
  add_little_endian(bytes, size, 4);
  return bytes;
}

}  // namespace kernelpro::llm_server
