// The steps of learning about a function. For the files of learn only.
#pragma once

#include <cstdint>
#include <functional>
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

[[nodiscard]] bool is_finite(const TrialResult& result);
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

// The most numbers of an enum that follow each other.
struct EnumeratorRun {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
[[nodiscard]] EnumeratorRun longest_run(const std::vector<Enumerator>& enumerators);

using Fillings = std::map<std::string, Filling>;  // by tensor

// Numbers for every tensor of whole numbers, before it is known what they mean; the first is zeros.
[[nodiscard]] std::vector<Fillings> blind_fillings(const OwnCall& call);

[[nodiscard]] bool writes(const TrialResult& result);

// The elements of a tensor that a call reached, or what a list holds behind a call that resized it.
[[nodiscard]] std::int64_t reach_of(const Leaf& leaf, const TouchedTensor& touched,
                                    const Axes& axes);

// Whether a call wrote more than the number that it returned.
[[nodiscard]] bool writes_for_caller(const TrialResult& result, const OwnCall& call);

// What calls that differ in such numbers alone have touched together.
[[nodiscard]] TrialResult together(const std::vector<TrialResult>& results);

// What whole numbers in tensors mean: places in other tensors, offsets of rows, or just numbers.
class WholeNumbers {
 public:
  // On trial: the place that every index says, and by how much offsets rise.
  static constexpr double trial_index = 4;
  static constexpr double trial_ramp = 2;

  struct Index {
    std::string bound;  // the axis that it stays below, where that is no extent of `target`
    std::string target;
    std::vector<std::string> others;  // of which nothing but it says how long they are
    bool free = false;                // nor of the target
    std::string below;  // else: the axis that it has to stay below; empty: the first extent
  };

  std::map<std::string, Index> indices;
  std::string offsets;  // the tensor of row offsets, if there is one
  std::string entries;  // the axis of what the offsets count
  std::vector<std::string> more_axes;
  std::map<std::string, std::vector<std::string>> targets;  // shapes known through an index
  // What is neither: numbers that trials have, and others at which other elements are touched.
  Fillings plain;
  std::vector<Fillings> others;
  std::int64_t least_plain = 0;  // numbers below it make the function fail
  bool bounded_below = false;

  // What the index in that tensor stays below, as far as the request's shapes tell.
  [[nodiscard]] std::string bound_of(const std::string& tensor, const NewTask& request) const;
  [[nodiscard]] TrialCall trial(const Axes& axes) const;
  // With all numbers at which it touches other elements.
  [[nodiscard]] std::vector<TrialCall> trials(const Axes& axes) const;
  // With the number of entries that a trial had.
  [[nodiscard]] Axes with_entries(Axes axes, const TrialResult& result) const;
  [[nodiscard]] std::optional<std::vector<std::string>> shape_of(
      const std::string& tensor, const std::vector<Observation>& seen,
      const std::vector<std::string>& axes) const;
  // Adds values and derived axes to the request.
  void describe(NewTask& request, const OwnCall& call,
                const std::vector<std::string>& only_read) const;
};

// Which numbers the tensors without such a meaning get on trial.
[[nodiscard]] Status settle_plain_numbers(const Probe& probe, const OwnCall& call, const Axes& base,
                                          WholeNumbers& numbers, std::stop_token stop);

[[nodiscard]] Result<WholeNumbers> find_whole_numbers(const Probe& probe, const OwnCall& call,
                                                      const Axes& base, const NewTask& request,
                                                      const std::vector<std::string>& axes,
                                                      std::stop_token stop);

// The function and what was said of it.
struct Asked {
  const OwnSource& source;
  const OwnFunction& function;
  const OwnCall& call;
  const NewTask& said;
};

// What calls on trial showed.
struct Shapes {
  Learned learned;  // with shapes, ties and notes, or with what is missing
  std::vector<std::string> axes;
  Axes base;  // sizes at which the function works
  WholeNumbers numbers;
  std::vector<Observation> seen;
};

// How far the function reaches into its tensors. Where sizes drawn apart do not tell, sizes with
// something in common are tried: multiples of a number or of each other.
[[nodiscard]] Result<Shapes> settle_shapes(const Probe& probe, const Asked& asked,
                                           const Learned& learned,
                                           const std::vector<std::string>& axes,
                                           std::stop_token stop);

// Whole numbers that the code compares with a few others alone become choices of these.
void add_few_numbers(OwnCall& call, const std::string& source, const std::string& function);

// The same where numbers are one of a few, as enums are: shapes by the first of them, and the
// others as far as they keep to these. An axis of its own counts them.
[[nodiscard]] Result<Shapes> settle_shapes_and_choices(const Probe& probe, const Asked& asked,
                                                       const Learned& learned,
                                                       const std::vector<std::string>& axes,
                                                       std::stop_token stop);

// The number at place `axis`, which counts from 1, in plain arithmetic.
[[nodiscard]] std::string choice_formula(const std::vector<Enumerator>& choices,
                                         const std::string& axis);

// Which tensors are only read, and which hold something before the call that matters.
void settle_roles(const OwnCall& call, Learned& learned, const std::vector<Observation>& seen);

// Rows of what is written lie apart: their distance ("ldc" of "(m - 1)*ldc + n") becomes their
// length and some room, which is a size of its own. So do rows that are only read, where it worked
// at no sizes at which they overlap. `base` is changed along.
void keep_rows_apart(Learned& learned, const std::vector<Observation>& seen,
                     std::vector<std::string>& axes, Axes& base);

// How many terms one result adds up: loads of the most read tensor for each element written.
// Where a sum is kept in a variable over a whole row or list, that is its longest extent.
void settle_reduction(const OwnFunction& function, const OwnCall& call, Learned& learned,
                      const std::vector<Observation>& seen, const std::vector<std::string>& axes);

// What is known so far, and changed along.
struct Settling {
  const WholeNumbers& numbers;
  Learned& learned;
  std::vector<std::string>& axes;
  Axes& base;
};

// Whole numbers that are no sizes: whatever they are, the same memory is touched. They are drawn
// from all that the function takes; those that may say how often something is done, only from as
// many as keep a call short.
[[nodiscard]] Status settle_numbers_by_value(const Probe& probe,
                                             const std::function<Result<Probe>()>& timing,
                                             const Asked& asked, const std::string& source,
                                             Settling at, std::stop_token stop);

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

// The sizes that are timed: those at which a call takes about a millisecond. `timing` is the
// probe that times, asked for where the user leaves sizes open.
[[nodiscard]] Status settle_sizes(const std::function<Result<Probe>()>& timing, const OwnCall& call,
                                  Learned& learned, const WholeNumbers& numbers,
                                  const std::vector<std::string>& small, std::stop_token stop);

// Whether sizes are in the order that the function asserts; others are raised to be.
[[nodiscard]] bool are_in_order(const Axes& axes, const Learned& learned);
void put_in_order(Axes& axes, const Learned& learned);

// With sizes that have to stay below that one no larger than that.
[[nodiscard]] Axes with_size(Axes axes, const std::string& name, std::int64_t size,
                             const Learned& learned);

// In order; what the user times stays, and others give way to it.
[[nodiscard]] Axes in_said_order(Axes axes, const Learned& learned);

// Ranges of sizes in an order do not overlap: whatever is drawn of them is in that order.
void keep_ranges_apart(Learned& learned, const std::function<bool(const std::string&)>& is_said);

// The nearest size, mostly below, that the user and the function allow.
[[nodiscard]] std::int64_t allowed(const Learned& learned, const std::string& name,
                                   std::int64_t size);

// Of all tensors at these sizes.
[[nodiscard]] std::int64_t bytes_at(const Axes& axes, const OwnCall& call, const NewTask& request);

// Says so where a call of that long cannot have touched its tensors.
void note_early_end(const OwnCall& call, Learned& learned, const Axes& axes, std::int64_t took_ns);

// What was chosen beyond what the user said and what was seen.
[[nodiscard]] std::vector<Question> choices(const NewTask& said, const NewTask& settled);

}  // namespace kernelpro::learn
