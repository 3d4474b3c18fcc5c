// Sums up what one pattern of machine code takes, with the lines it stands at.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/model/profile.hpp"
#include "worker/profile/instruction.hpp"

namespace kernelpro {

// What is summed up of one pattern.
class PatternSum {
 public:
  void begin(const Instruction& instruction) { pattern_.begun += instruction.executed.value_or(0); }

  // `executed` instructions at this one, `samples` of its own.
  void add(const SourcePlace& place, double executed, double samples) {
    pattern_.executed += executed;
    pattern_.samples += samples;
    if (place.line > 0) {
      lines_[{place.file, place.line}] += executed;
    }
  }

  void add(const Instruction& instruction) {
    add(instruction.place, instruction.executed.value_or(0), instruction.samples.value_or(0));
  }

  CodePattern finish() {
    constexpr std::size_t most_places = 3;
    // By how often they are executed, then by their places.
    std::vector<std::pair<double, std::pair<std::string, int>>> places;
    places.reserve(lines_.size());
    for (const auto& [line, executed] : lines_) {
      places.emplace_back(-executed, line);
    }
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < std::min(places.size(), most_places); ++i) {
      pattern_.places.push_back({places[i].second.first, places[i].second.second});
    }
    return std::move(pattern_);
  }

 private:
  CodePattern pattern_;
  std::map<std::pair<std::string, int>, double> lines_;
};

}  // namespace kernelpro
