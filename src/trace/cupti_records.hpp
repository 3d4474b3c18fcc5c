// Where CUPTI's activity records keep what we read, in bytes from their begin. CUPTI has given a
// record a new form often, but the part read here has stayed since CUDA 10; a test holds it against
// the toolkit's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kernelpro::trace::cupti {

// The versions whose records have these forms, as cuptiGetVersion counts: CUDA 11.1 to 13.
inline constexpr std::uint32_t oldest_version = 14;
inline constexpr std::uint32_t newest_version = 139'999;

enum class Kind : std::uint32_t {
  copy = 1,
  fill = 2,
  driver_call = 4,
  runtime_call = 5,
  device = 8,
  kernel = 10,
  peer_copy = 22,
};

// Of kernels, copies and fills alike.
inline constexpr std::size_t start = 16;
inline constexpr std::size_t end = 24;

namespace kernel {
inline constexpr std::size_t registers = 6;
inline constexpr std::size_t device = 40;
inline constexpr std::size_t context = 44;
inline constexpr std::size_t stream = 48;
inline constexpr std::size_t grid = 52;   // three numbers
inline constexpr std::size_t block = 64;  // three numbers
inline constexpr std::size_t static_shared = 76;
inline constexpr std::size_t dynamic_shared = 80;
inline constexpr std::size_t local = 84;
inline constexpr std::size_t correlation = 92;
inline constexpr std::size_t name = 104;
}  // namespace kernel

namespace copy {
inline constexpr std::size_t kind = 4;
inline constexpr std::size_t source = 5;
inline constexpr std::size_t target = 6;
inline constexpr std::size_t bytes = 8;
inline constexpr std::size_t stream = 40;
inline constexpr std::size_t correlation = 44;
inline constexpr std::size_t peer_correlation = 60;  // of a copy between two GPUs
inline constexpr std::uint8_t pageable = 1;          // as source or target
}  // namespace copy

namespace fill {
inline constexpr std::size_t bytes = 8;
inline constexpr std::size_t stream = 40;
inline constexpr std::size_t correlation = 44;
}  // namespace fill

namespace call {
inline constexpr std::size_t function = 4;
inline constexpr std::size_t start = 8;
inline constexpr std::size_t end = 16;
inline constexpr std::size_t thread = 28;
inline constexpr std::size_t correlation = 32;
}  // namespace call

namespace device {
inline constexpr std::size_t major = 104;
inline constexpr std::size_t minor = 108;
inline constexpr std::size_t id = 112;
inline constexpr std::size_t name = 136;
}  // namespace device

// What the callbacks hand over.
inline constexpr std::uint32_t driver_domain = 1;
inline constexpr std::uint32_t runtime_domain = 2;
inline constexpr std::uint32_t resource_domain = 3;
inline constexpr std::uint32_t module_loaded = 6;
inline constexpr std::size_t call_site = 0;             // of a call: 0 when it begins
inline constexpr std::size_t resource_descriptor = 16;  // of a resource
inline constexpr std::size_t cubin_bytes = 8;           // of a module
inline constexpr std::size_t cubin = 16;

template <typename T>
T read_at(const void* record, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(record) + offset, sizeof value);
  return value;
}

}  // namespace kernelpro::trace::cupti
