#include "trace/modules.hpp"

#include <charconv>

#include "common/base/hash.hpp"
#include "trace/cubin.hpp"

namespace kernelpro::trace {
namespace {

constexpr std::size_t most_kernels = std::size_t{1} << 20U;

std::uint64_t hash_of(std::string_view name) {
  return memory_hash(name.data(), name.size());
}

}  // namespace

void Modules::add(const void* cubin, std::size_t bytes) {
  const std::vector<std::string_view> kernels = kernels_in(cubin, bytes);
  const std::uint64_t module = kernels.empty() ? several : memory_hash(cubin, bytes);
  const std::lock_guard lock(mutex_);
  for (const std::string_view kernel : kernels) {
    full_ = full_ || by_kernel_.size() >= most_kernels;
    if (full_) {
      return;
    }
    const auto [known, fresh] = by_kernel_.emplace(hash_of(kernel), module);
    if (!fresh && known->second != module) {
      known->second = several;
    }
  }
}

std::string Modules::module_of(std::string_view kernel) const {
  const std::lock_guard lock(mutex_);
  const auto known = by_kernel_.find(hash_of(kernel));
  if (full_ || known == by_kernel_.end()) {
    return "-";
  }
  if (known->second == several) {
    return "?";
  }
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof digits, known->second, 16).ptr};
}

}  // namespace kernelpro::trace
