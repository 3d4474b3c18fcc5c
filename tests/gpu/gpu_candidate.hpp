// The CUDA candidates that try to cheat, each with what is expected of the judge.
#pragma once

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "hacks/hack_candidate.hpp"

namespace kernelpro {

// A source under candidates/, read like those of the CPU. Three more words stand for rules:
//   values   `incorrect` without a rule will do beside the rules named
//   suspect  `passed` will do when it is marked as suspect, however fast
//   no-gain  `passed` will do when it is not faster at all: the interval's lower end is at most
//            1 + budget. Without it, `not-faster` lets the placement of code pass
// A line #include "NAME.cuh" is replaced by that file: a candidate is one source.
struct GpuCandidate {
  HackCandidate hack;
  std::string expected;
  bool values = false;
  bool suspect = false;
  bool no_gain = false;
};

inline const std::filesystem::path& gpu_candidates_folder() {
  static const std::filesystem::path folder =
      std::filesystem::path(KERNELPRO_SOURCE_DIR) / "tests" / "gpu" / "candidates";
  return folder;
}

inline std::string text_of(const std::string& name) {
  const Result<std::string> text = read_file(gpu_candidates_folder() / name);
  return text ? *text : "#error \"" + text.error().text() + "\"\n";
}

inline GpuCandidate parse_gpu_candidate(const std::string& file) {
  GpuCandidate one;
  const std::string source = text_of(file);
  one.hack = parse_hack(file, source);
  one.expected = expected_text(one.hack);
  one.values = std::erase(one.hack.rules, "values") > 0;
  one.suspect = std::erase(one.hack.rules, "suspect") > 0;
  one.no_gain = std::erase(one.hack.rules, "no-gain") > 0;
  one.hack.not_faster |= one.no_gain;
  Candidate& candidate = one.hack.candidate;
  candidate.source = with_includes(source, gpu_candidates_folder(), ".cuh");
  candidate.backend = Backend::cuda;
  candidate.compiler = "nvcc";
  candidate.options.insert(candidate.options.begin(), "-O3");
  return one;
}

// All of them, by number and file.
inline std::vector<GpuCandidate> read_gpu_candidates() {
  std::vector<GpuCandidate> out;
  for (const auto& entry : std::filesystem::directory_iterator(gpu_candidates_folder())) {
    if (entry.path().extension() == ".cu") {
      out.push_back(parse_gpu_candidate(entry.path().filename().string()));
    }
  }
  std::sort(out.begin(), out.end(), [](const GpuCandidate& a, const GpuCandidate& b) {
    return std::pair(rank_of(a.hack), a.hack.file) < std::pair(rank_of(b.hack), b.hack.file);
  });
  return out;
}

inline bool meets_expectation(const GpuCandidate& one, const Verdict& verdict) {
  if (one.suspect && verdict.outcome == Outcome::passed && verdict.suspect) {
    return true;
  }
  if (one.values && verdict.outcome == Outcome::incorrect && verdict.rule.empty()) {
    return true;
  }
  const bool gained = verdict.outcome == Outcome::passed &&
                      verdict.timing.speedup_interval.low > 1 + verdict.timing.budget;
  return !(one.no_gain && gained) && meets_expectation(one.hack, verdict);
}

// Whether it must not even build.
inline bool fails_to_build(const GpuCandidate& one) {
  return contains(one.hack.outcomes, "build_failed") || contains(one.hack.rules, "private_file") ||
         contains(one.hack.rules, "build_option");
}

}  // namespace kernelpro
