// A user's function called on trial: what it touches, how long it takes, where it fails.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/result.hpp"
#include "common/model/formula.hpp"
#include "coordinator/task/own_call.hpp"

namespace kernelpro {

// How a tensor is filled before a call.
struct Filling {
  enum class Kind { positive, constant, ramp, below, around_zero, around };
  Kind kind = Kind::positive;
  double number = 0;
};

struct TrialCall {
  Axes axes;                               // of every axis leaf
  std::map<std::string, Filling> filling;  // by tensor; floating: positive, whole numbers: 0
  std::map<std::string, std::int64_t>
      filled;       // numbers that are filled; the default fits any trial
  int repeats = 0;  // timed calls after the first
};

struct TouchedTensor {
  std::int64_t loaded = 0;  // one behind the last element that was read
  std::int64_t stored = 0;
  bool fresh_read = false;   // an element was read before it was written
  std::int64_t written = 0;  // elements, each counted once
  std::int64_t least = 0;    // the same where other numbers in the tensors led to fewer
  std::int64_t size = -1;    // of a list after the call; -1: of nothing that has one
  bool finite = true;
  std::int64_t loads = 0;  // of elements, each as often as it was read
  std::uint64_t hash = 0;

  [[nodiscard]] std::int64_t reach() const { return loaded > stored ? loaded : stored; }
};

struct TrialResult {
  bool returned = false;
  int signal = 0;         // that ended it; SIGALRM: it took too long
  std::string assertion;  // of its own that failed: "n % 8 == 0"
  std::int64_t nanoseconds = 0;
  std::map<std::string, TouchedTensor> tensors;
};

// The function with the program around it, built once.
class Probe {
 public:
  enum class Purpose { watch, time };

  // Errors: the source cannot be built (bad_input, with the compiler's words), no compiler.
  [[nodiscard]] static Result<Probe> build(const OwnSource& source, const OwnCall& call,
                                           Purpose purpose, std::stop_token stop);

  // One result for each call; each runs in a process of its own, inside the jail.
  [[nodiscard]] Result<std::vector<TrialResult>> run(const std::vector<TrialCall>& calls,
                                                     std::stop_token stop) const;

  // Of the calls so far, those that took too long; each has cost seconds.
  [[nodiscard]] int endless() const { return *endless_; }

 private:
  std::shared_ptr<ScratchDir> folder_;
  std::shared_ptr<int> endless_ = std::make_shared<int>(0);
  OwnCall call_;
};

}  // namespace kernelpro
