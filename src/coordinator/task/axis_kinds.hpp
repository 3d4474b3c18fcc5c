// What sort of size each axis of a function is: a long extent, a filter's width, a number, a flag.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {

inline constexpr std::int64_t small_size = 5;      // of a filter's width and the like
inline constexpr std::int64_t parameter_size = 4;  // of whole numbers that are no extent

enum class AxisKind { extent, small, parameter, flag, bound };

class AxisKinds {
 public:
  AxisKinds(const OwnCall& call, const NewTask& request, const WholeNumbers& numbers,
            const std::vector<std::string>& small);

  [[nodiscard]] const std::map<std::string, AxisKind>& all() const { return kinds_; }
  [[nodiscard]] std::int64_t extents() const {
    return std::ranges::count_if(kinds_,
                                 [](const auto& one) { return one.second == AxisKind::extent; });
  }

  // Not more than an index into it can hold.
  [[nodiscard]] std::int64_t capped(const std::string& name, std::int64_t size) const {
    const auto most = limits_.find(name);
    return most == limits_.end() ? size : std::min(size, most->second);
  }

  [[nodiscard]] std::int64_t size(const std::string& name, std::int64_t extent) const {
    return capped(name, size(kinds_.at(name), extent));
  }

 private:
  [[nodiscard]] static std::int64_t size(AxisKind kind, std::int64_t extent);

  std::map<std::string, AxisKind> kinds_;
  std::map<std::string, std::int64_t> limits_;
};

// Whether the function is for a GPU, which needs more to do.
[[nodiscard]] bool is_for_gpu(const NewTask& request);

}  // namespace kernelpro::learn
