// What whole numbers in tensors mean, by what other tensors are touched for them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {
namespace {

bool is_whole(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::tensor && !leaf.returned && !is_floating(leaf.element.dtype) &&
         leaf.element.lanes == 1 && leaf.element.enumerators.empty();
}

// Larger than any extent at the sizes of trials, where the type allows that.
double far_index(const Leaf& leaf) {
  switch (leaf.element.dtype) {
    case DType::i8:
      return 100;
    case DType::u8:
      return 200;
    default:
      return 30'000;
  }
}

class NumberFinder {
 public:
  NumberFinder(const Probe& probe, const OwnCall& call, const Axes& base, const NewTask& request,
               const std::vector<std::string>& axes, std::stop_token stop)
      : probe_(probe),
        call_(call),
        base_(base),
        request_(request),
        axes_(axes),
        stop_(std::move(stop)) {}

  Result<WholeNumbers> run() {
    // Offsets first: without them nothing of what they count is touched.
    for (const Leaf& leaf : call_.leaves) {
      if (is_whole(leaf) && out_.offsets.empty()) {
        KP_TRY(try_offsets(leaf));
      }
    }
    for (const Leaf& leaf : call_.leaves) {
      if (is_whole(leaf) && leaf.name != out_.offsets) {
        KP_TRY(try_index(leaf));
      }
    }
    KP_TRY(settle_plain_numbers(probe_, call_, base_, out_, stop_));
    KP_TRY(name_axes());
    return std::move(out_);
  }

 private:
  Result<std::vector<TrialResult>> with(const Leaf& leaf, const std::vector<Filling>& fillings) {
    std::vector<TrialCall> calls;
    for (const Filling& filling : fillings) {
      calls.push_back(out_.trial(base_));
      calls.back().filling[leaf.name] = filling;
    }
    return probe_.run(calls, stop_);
  }

  static std::int64_t reach(const TrialResult& result, const std::string& tensor) {
    const auto found = result.tensors.find(tensor);
    return found == result.tensors.end() ? 0 : found->second.reach();
  }

  Status try_offsets(const Leaf& leaf) {
    KP_LET(const auto results, with(leaf, {{Filling::Kind::constant, 0},
                                           {Filling::Kind::constant, 3},
                                           {Filling::Kind::ramp, 1},
                                           {Filling::Kind::ramp, WholeNumbers::trial_ramp}}));
    if (!results[0].returned || !results[2].returned || !results[3].returned ||
        results[0].tensors.at(leaf.name).loaded == 0) {
      return {};
    }
    for (const auto& [name, touched] : results[0].tensors) {
      const std::int64_t still = reach(results[1], name);
      const std::int64_t rows = results[2].tensors.at(leaf.name).reach() - 1;
      if (name != leaf.name && still == touched.reach() && rows > 0 &&
          reach(results[2], name) == rows && reach(results[3], name) == 2 * rows &&
          touched.reach() < rows) {
        counted_.push_back(name);
      }
    }
    if (!counted_.empty()) {
      out_.offsets = leaf.name;
      out_.entries = "nnz";
    }
    return {};
  }

  Status try_index(const Leaf& leaf) {
    // A place reaches further with every step; a number that is compared does not.
    const double far = far_index(leaf);
    KP_LET(const auto results, with(leaf, {{Filling::Kind::constant, 0},
                                           {Filling::Kind::constant, WholeNumbers::trial_index},
                                           {Filling::Kind::constant, far},
                                           {Filling::Kind::constant, WholeNumbers::trial_index / 2},
                                           {Filling::Kind::constant, far / 2}}));
    if (!results[0].returned || results[0].tensors.at(leaf.name).loaded == 0) {
      return {};
    }
    std::vector<std::string> near;    // within reach of small numbers only because of them
    std::vector<std::string> beyond;  // those reach further than all else
    for (const auto& [name, touched] : results[0].tensors) {
      if (name == leaf.name) {
        continue;
      }
      if (results[1].returned && results[3].returned &&
          reach(results[1], name) > reach(results[3], name) &&
          reach(results[3], name) > touched.reach()) {
        near.push_back(name);
      } else if (results[2].returned && reach(results[2], name) > touched.reach() &&
                 reach(results[2], name) > reach(results[4], name)) {
        beyond.push_back(name);
      }
    }
    if (!beyond.empty()) {
      const std::string& target = beyond.front();
      KP_LET(const std::string below, longest_within(leaf, target, reach(results[0], target)));
      out_.indices[leaf.name] = {"", target, near, false, below};
      return {};
    }
    if (!near.empty()) {
      out_.indices[leaf.name] = {"", near.front(), {near.begin() + 1, near.end()}, true, ""};
      return {};
    }
    if (!results[2].returned && results[1].returned) {
      // A place so far away that it is nobody's memory; the tensor that is looked up is unknown.
      out_.indices[leaf.name] = {"", "", {}, false, ""};
    }
    return {};
  }

  // Which axis an index may count up to and stay within the tensor: along the rows these are the
  // columns, whichever of the two is larger here.
  Result<std::string> longest_within(const Leaf& leaf, const std::string& target,
                                     std::int64_t within) {
    std::string longest;
    for (const std::string& axis : axes_) {
      const std::int64_t size = base_.at(axis);
      if (size < 1 || (!longest.empty() && size <= base_.at(longest))) {
        continue;
      }
      KP_LET(const auto results,
             with(leaf, {{Filling::Kind::constant, static_cast<double>(size - 1)}}));
      longest = results[0].returned && reach(results[0], target) <= within ? axis : longest;
    }
    return longest;
  }

  // Axes of the function that change nothing at all say how far indices and offsets go: the size of
  // a list for that list alone.
  Status name_axes() {
    if (out_.offsets.empty() && out_.indices.empty()) {
      return {};
    }
    KP_LET(std::vector<std::string> idle, idle_axes());
    const std::map<std::string, std::string> idle_sizes = take_list_sizes(idle);
    const auto counts = [](const std::string& name) {
      return name.find("nnz") != std::string::npos || name.find("nonzero") != std::string::npos ||
             name.find("entries") != std::string::npos;
    };
    std::ranges::sort(idle, {},
                      [&](const std::string& name) { return std::pair(counts(name), name); });
    KP_LET(const auto base, probe_.run({out_.trial(base_)}, stop_));
    std::map<std::string, std::string> bounds;
    for (auto& [name, index] : out_.indices) {
      if (!index.free) {
        continue;
      }
      const auto leaf = std::ranges::find(call_.leaves, name, &Leaf::name);
      std::string known = bound_among(targets_of(index), bounds);
      if (known.empty()) {
        known = leaf->element.dtype == DType::u8
                    ? "256"  // a table for every byte
                    : size_among(targets_of(index), base[0], idle_sizes);
      }
      if (known.empty() && !idle.empty() && (!counts(idle.front()) || out_.offsets.empty())) {
        known = idle.front();
        idle.erase(idle.begin());
      }
      if (known.empty()) {
        known = index.target + "_rows";
        out_.more_axes.push_back(known);
      }
      index.bound = known;
      for (const std::string& target : targets_of(index)) {
        bounds.emplace(target, index.bound);
      }
    }
    const auto list = std::ranges::find_if(
        counted_, [&](const std::string& tensor) { return idle_sizes.contains(tensor); });
    if (!out_.offsets.empty() && !idle.empty()) {
      out_.entries = idle.back();
    } else if (!out_.offsets.empty() && list != counted_.end()) {
      out_.entries = idle_sizes.at(*list);
    }
    return {};
  }

  static std::vector<std::string> targets_of(const WholeNumbers::Index& index) {
    std::vector<std::string> targets = index.others;
    targets.insert(targets.begin(), index.target);
    return targets;
  }

  static std::string bound_among(const std::vector<std::string>& targets,
                                 const std::map<std::string, std::string>& bounds) {
    for (const std::string& target : targets) {
      if (bounds.contains(target)) {
        return bounds.at(target);
      }
    }
    return "";
  }

  // The size of a list whose places are its elements, and not rows of them: of one that the
  // function asks for, where there is such.
  [[nodiscard]] std::string size_among(const std::vector<std::string>& targets,
                                       const TrialResult& base,
                                       const std::map<std::string, std::string>& idle_sizes) const {
    std::string found;
    for (const std::string& target : targets) {
      const auto size = std::ranges::find(call_.leaves, target, &Leaf::size_of);
      const bool is_given = size != call_.leaves.end() && contains(axes_, size->name);
      if (is_given && reach(base, target) == std::lround(WholeNumbers::trial_index) + 1 &&
          (found.empty() || !idle_sizes.contains(target))) {
        found = size->name;
      }
    }
    return found;
  }

  [[nodiscard]] Result<std::vector<std::string>> idle_axes() {
    std::vector<std::string> idle;
    for (const std::string& axis : axes_) {
      Axes changed = base_;
      changed[axis] += 2;
      KP_LET(const auto results,
             probe_.run({out_.trial(base_), out_.trial(completed(changed, request_))}, stop_));
      bool same = results[0].returned && results[1].returned;
      for (const auto& [name, touched] : results[0].tensors) {
        same = same && touched.hash == results[1].tensors.at(name).hash &&
               touched.reach() == reach(results[1], name);
      }
      if (same) {
        idle.push_back(axis);
      }
    }
    return idle;
  }

  // Takes the sizes of lists off: by list.
  [[nodiscard]] std::map<std::string, std::string> take_list_sizes(
      std::vector<std::string>& axes) const {
    std::map<std::string, std::string> lists;
    for (const Leaf& leaf : call_.leaves) {
      if (!leaf.size_of.empty() && std::erase(axes, leaf.name) > 0) {
        lists.emplace(leaf.size_of, leaf.name);
      }
    }
    return lists;
  }

  const Probe& probe_;
  const OwnCall& call_;
  const Axes& base_;
  const NewTask& request_;
  const std::vector<std::string>& axes_;
  std::stop_token stop_;
  WholeNumbers out_;
  std::vector<std::string> counted_;  // what the offsets count the elements of
};

}  // namespace

Result<WholeNumbers> find_whole_numbers(const Probe& probe, const OwnCall& call, const Axes& base,
                                        const NewTask& request,
                                        const std::vector<std::string>& axes,
                                        std::stop_token stop) {
  return NumberFinder(probe, call, base, request, axes, std::move(stop)).run();
}

}  // namespace kernelpro::learn
