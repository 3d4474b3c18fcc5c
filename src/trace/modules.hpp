// The modules that a program has loaded, for telling from which of them a kernel is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kernelpro::trace {

class Modules {
 public:
  // Copies what it needs.
  void add(const void* cubin, std::size_t bytes);

  // A hash of the module that has the kernel, as hexadecimal digits; "-" when none is known to have
  // it, "?" when several have.
  [[nodiscard]] std::string module_of(std::string_view kernel) const;

 private:
  static constexpr std::uint64_t several = 0;

  mutable std::mutex mutex_;
  bool full_ = false;                                           // then none is known
  std::unordered_map<std::uint64_t, std::uint64_t> by_kernel_;  // hash of a name to its module's
};

}  // namespace kernelpro::trace
