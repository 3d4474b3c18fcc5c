// The steps of learning about a function. For the files of learn only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/task/learn.hpp"
#include "coordinator/task/probe.hpp"

namespace kernelpro::learn {

struct Observation {
  Axes axes;
  TrialResult result;
};

[[nodiscard]] bool contains(const std::vector<std::string>& list, const std::string& name);

// With the axes that are fixed or derived, as the request's formulas say.
[[nodiscard]] Axes completed(Axes axes, const NewTask& request);
[[nodiscard]] Axes only(const Axes& axes, const std::vector<std::string>& names);

// The numbers of a tensor of that shape; 0 where a formula has no value.
[[nodiscard]] std::int64_t elements(const std::vector<std::string>& shape, const Axes& axes,
                                    const NewTask& request);

// Whether a shape, a derived axis or a value's bound speaks of it.
[[nodiscard]] bool is_used(const std::string& axis, const NewTask& request);

// What to pass for a whole number that changes nothing: what the struct around it says of the other
// extents, else 1.
[[nodiscard]] std::string harmless_value(const std::string& axis, const OwnCall& call,
                                         const NewTask& request);

[[nodiscard]] std::vector<std::string> subtracted_axes(const NewTask& request,
                                                       const std::vector<std::string>& axes);

// What whole numbers in tensors mean: places in other tensors, offsets of rows, or just numbers.
class WholeNumbers {
 public:
  struct Index {
    std::string bound;  // the axis that it stays below; empty: the first extent of `target`
    std::string target;
    bool free = false;  // nothing but the index says how long the target is
  };

  std::map<std::string, Index> indices;
  std::string offsets;  // the tensor of row offsets, if there is one
  std::string entries;  // the axis of what the offsets count
  std::vector<std::string> more_axes;
  std::map<std::string, std::vector<std::string>> targets;  // shapes known through an index

  [[nodiscard]] TrialCall trial(const Axes& axes) const;
  // With the number of entries that a trial had.
  [[nodiscard]] Axes with_entries(Axes axes, const TrialResult& result) const;
  [[nodiscard]] std::optional<std::vector<std::string>> shape_of(
      const std::string& tensor, const std::vector<Observation>& seen,
      const std::vector<std::string>& axes) const;
  // Adds values and derived axes to the request.
  void describe(NewTask& request, const OwnCall& call,
                const std::vector<std::string>& only_read) const;
};

[[nodiscard]] Result<WholeNumbers> find_whole_numbers(const Probe& probe, const OwnCall& call,
                                                      const Axes& base, const NewTask& request,
                                                      const std::vector<std::string>& axes,
                                                      std::stop_token stop);

// Which tensors are only read, and which hold something before the call that matters.
void settle_roles(const OwnCall& call, Learned& learned, const std::vector<Observation>& seen);

// How many terms one result adds up: loads of the most read tensor for each element written.
// Where a sum is kept in a variable over a whole row or list, that is its longest extent.
void settle_reduction(const OwnFunction& function, const OwnCall& call, Learned& learned,
                      const std::vector<Observation>& seen, const std::vector<std::string>& axes);

// What tensors are filled with. `base` are sizes at which the function works.
[[nodiscard]] Status settle_values(const Probe& probe, const OwnCall& call, Learned& learned,
                                   const WholeNumbers& numbers, const Axes& base,
                                   std::stop_token stop);

// The axes that each shape gives: of the function, and those added.
[[nodiscard]] std::vector<std::string> given_axes(const OwnCall& call, const NewTask& request);

// The ranges that sizes are drawn from to check correctness; they leave out sizes at which the
// function itself fails.
[[nodiscard]] Status settle_held_out(const Probe& probe, const OwnCall& call, Learned& learned,
                                     const WholeNumbers& numbers,
                                     const std::vector<std::string>& small, std::stop_token stop);

// The sizes that are timed: those at which a call takes about two milliseconds.
[[nodiscard]] Status settle_sizes(const OwnSource& source, const OwnCall& call, Learned& learned,
                                  const WholeNumbers& numbers,
                                  const std::vector<std::string>& small, std::stop_token stop);

// What was chosen beyond what the user said and what was seen.
[[nodiscard]] std::vector<Question> choices(const NewTask& said, const NewTask& settled);

}  // namespace kernelpro::learn
