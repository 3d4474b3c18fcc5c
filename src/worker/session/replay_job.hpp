// A candidate and public inputs in a folder, for a profiler around a jailed runner.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/file.hpp"
#include "common/base/result.hpp"
#include "worker/judge/judge.hpp"
#include "worker/profile/profiled_program.hpp"
#include "worker/profile/profilers.hpp"

namespace kernelpro {

// Every job has these values: a profile can be made again, and nothing about the judge's own draws
// can be learned from it.
inline constexpr Key public_key = {};

// How often a job calls the candidate.
inline constexpr int replayed_calls = 5;

class ReplayJob {
 public:
  // Lays down `library` with inputs of `axes` (completed), and its source where that is known:
  // profilers look for it in the folder.
  [[nodiscard]] static Result<ReplayJob> make(Judge& judge, const Axes& axes,
                                              const std::filesystem::path& library,
                                              const std::string& source = "");

  // The runner that replays it, in its jail, which lets `profilers` be at work too. Whatever it
  // writes goes into the folder.
  [[nodiscard]] ProfiledProgram program(const Ground& ground, const JudgeSettings& settings,
                                        const Profilers& profilers) const;
  // The same on processors: it calls the candidate for so long and samples itself; 0: one call.
  [[nodiscard]] ProfiledProgram host_program(const Ground& ground, const JudgeSettings& settings,
                                             int milliseconds, std::int64_t cache_bytes) const;
  [[nodiscard]] std::filesystem::path folder() const { return folder_; }

 private:
  ReplayJob(ScratchDir scratch, std::filesystem::path folder)
      : scratch_(std::move(scratch)), folder_(std::move(folder)) {}
  ScratchDir scratch_;
  std::filesystem::path folder_;  // links resolved
};

}  // namespace kernelpro
