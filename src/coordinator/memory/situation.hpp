// A candidate that something is to be tried on, and what is remembered for that.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/model/candidate.hpp"
#include "common/model/lesson.hpp"
#include "common/model/node.hpp"

namespace kernelpro::memory {

struct Situation {
  Traits code;
  std::string bottleneck;             // its class
  std::vector<std::string> findings;  // tools that found something
};

[[nodiscard]] Situation situation_of(const Candidate& candidate, const Diagnosis& diagnosis);

// The class of a diagnosis: of the main kernel where it was profiled.
[[nodiscard]] std::string class_of(const Diagnosis& diagnosis);
// The tool of the finding that names the move with the largest predicted gain; empty: none does.
[[nodiscard]] std::string finding_for(const Diagnosis& diagnosis, const std::string& move);

// How much a lesson says about the situation, from 0 to 1: its own weight times the likeness of
// code, class and findings.
[[nodiscard]] double likeness(const Recalled& lesson, const Situation& situation);

// The expected gain of each move that lessons speak of, with the trials that this is worth.
[[nodiscard]] MovePriors priors_for(const Recollection& recollection, const Situation& situation);

// For each move what the lessons that are like the situation say together, the weightiest first.
[[nodiscard]] std::vector<Advice> advice_for(const Recollection& recollection,
                                             const Situation& situation, std::size_t most);

}  // namespace kernelpro::memory
