// What sort of size each axis of a function is: a long extent, a filter's width, a number, a
// choice.
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

enum class AxisKind { extent, small, parameter, drawn, bound };

class AxisKinds {
 public:
  AxisKinds(const OwnCall& call, const Learned& learned, const WholeNumbers& numbers,
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
    const auto timed = timed_.find(name);
    return timed != timed_.end() ? timed->second : capped(name, size(kinds_.at(name), extent));
  }

 private:
  [[nodiscard]] static std::int64_t size(AxisKind kind, std::int64_t extent);

  std::map<std::string, AxisKind> kinds_;
  std::map<std::string, std::int64_t> limits_;
  std::map<std::string, std::int64_t> timed_;  // of those that are drawn
};

// Extents of that length, and all else as it is timed.
[[nodiscard]] Axes timed_sizes(std::int64_t extent, const AxisKinds& kinds, const OwnCall& call,
                               const Learned& learned);

// Twice at these sizes, with its tensors filled as the task will fill them.
[[nodiscard]] TrialCall timed_trial(const Axes& axes, const OwnCall& call, const NewTask& request,
                                    const WholeNumbers& numbers);

// Whether the function is for a GPU, which needs more to do.
[[nodiscard]] bool is_for_gpu(const NewTask& request);

}  // namespace kernelpro::learn
