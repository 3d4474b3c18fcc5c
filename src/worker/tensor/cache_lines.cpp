#include "worker/tensor/cache_lines.hpp"

#include <string>

#include "common/base/file.hpp"

namespace kernelpro {

#if defined(__x86_64__)

namespace {

constexpr std::size_t line = 64;

bool has_clflushopt() {
  const Result<std::string> told = read_file("/proc/cpuinfo");
  return told && told->find(" clflushopt ") != std::string::npos;
}

}  // namespace

bool can_drop_lines() {
  static const bool can = has_clflushopt();
  return can;
}

void drop_lines(const char* begin, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += line) {
    asm volatile("clflushopt %0" : : "m"(begin[at]));
  }
  asm volatile("mfence" : : : "memory");
}

#else

bool can_drop_lines() {
  return false;
}

void drop_lines(const char* /*begin*/, std::size_t /*bytes*/) {}

#endif

}  // namespace kernelpro
