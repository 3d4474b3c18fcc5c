// Sizes of trials. For the files of learn only.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {

// What the sizes of callers may have in common, and sizes drawn apart do not show: blocks of 32
// numbers, a width that divides by two, heads that divide the channels. Nothing of it: all empty.
struct Supposition {
  std::map<std::string, std::vector<std::int64_t>> drawn_from;  // by axis
  std::map<std::string, AxisRange> held_out;                    // what is checked then
  struct Multiple {
    std::string of;  // another axis
    std::int64_t times = 1;
  };
  std::map<std::string, Multiple> multiple_of;  // by axis
  struct Row {
    std::string length;  // a formula
    std::int64_t step = 1;
  };
  std::map<std::string, Row> at_least;  // by distance of rows: what such a row holds
  std::set<std::string> stated;         // axes of which the function itself says so
};

// Multiples of `step`; from 16 on few, since work may grow with their product.
[[nodiscard]] Supposition multiples(const std::vector<std::string>& axes, std::int64_t step,
                                    std::size_t extents);
// Sizes beyond one block of `step`, also between its multiples.
[[nodiscard]] Supposition beyond_blocks(const std::string& axis, std::int64_t step);
// Sizes of filters, strides and edges.
[[nodiscard]] Supposition small_sizes(const std::vector<std::string>& axes);
[[nodiscard]] Supposition multiple_of(const std::string& axis, const std::string& other,
                                      std::int64_t times = 1);

// Sizes of trials that the range allows: the usual ones, else from its lowest on.
[[nodiscard]] std::vector<std::int64_t> trial_sizes(const AxisRange& range, std::size_t axes);

// What the function states by assert; bounds, orders and equal sizes go to `learned` and `axes`.
[[nodiscard]] Supposition asserted(const Asked& asked, const std::string& source, Learned& learned,
                                   std::vector<std::string>& axes);
// Without sizes that the function's own asserts rule out.
[[nodiscard]] Supposition within_bounds(Supposition supposed, const Learned& learned);
// Both; where they say different things, what the first says.
[[nodiscard]] Supposition with(Supposition first, const Supposition& second);

// Whether sizes are so small that almost any product comes near.
[[nodiscard]] bool has_tiny_sizes(const Supposition& supposed);

// Makes it hold: ranges, derived axes and notes go to `learned`, new axes to `axes`.
void suppose(const Supposition& supposed, Learned& learned, std::vector<std::string>& axes);

// One size for each axis, apart from each other where there are enough, in the order that the
// function asserts.
[[nodiscard]] Axes draw_sizes(std::mt19937& random, const std::vector<std::string>& axes,
                              const Learned& learned, const Supposition& supposed);

// Which sizes may be taken for the same where shapes cannot be told otherwise.
enum class Ties { none, of_a_kind, all };

// The sizes that a condition of the function names.
[[nodiscard]] std::vector<std::string> named_in(const std::string& condition,
                                                const std::vector<std::string>& axes);

// Why no call on trial did anything, by the last of them, and what the user can do. `takes`: sizes
// at which its asserts hold, as far as some were found.
[[nodiscard]] std::string trouble_text(const Asked& asked, const std::vector<std::string>& axes,
                                       const TrialResult& last, const Axes& takes = {});

// Small numbers for the axes that the failed assertion names, at which it works, the others as they
// were drawn; empty: none were found.
[[nodiscard]] Axes find_asserted(const Probe& probe, const OwnCall& call, const Axes& drawn,
                                 const std::string& assertion, const std::vector<std::string>& axes,
                                 std::stop_token stop);

// Shapes at sizes of which something is supposed. `hopeless`: no other sizes would help.
struct TriedShapes {
  Result<Shapes> shapes;
  bool hopeless = false;
};
[[nodiscard]] TriedShapes find_shapes(const Probe& probe, const Asked& asked,
                                      const Learned& learned, const std::vector<std::string>& axes,
                                      const Supposition& supposed, Ties most, std::stop_token stop);

}  // namespace kernelpro::learn
