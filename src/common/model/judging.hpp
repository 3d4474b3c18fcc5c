// How candidates are judged. A run keeps it, a worker is asked for it, users set it.
#pragma once

#include <vector>

#include "common/model/backend.hpp"
#include "common/model/header_library.hpp"

namespace kernelpro {

inline constexpr int most_devices = 1024;  // of one machine: a larger number is a slip

// Zeros mean the worker's defaults.
struct JudgingSettings {
  Backend backend = Backend::cpu;
  int device = 0;       // which GPU, as the driver counts
  bool sandbox = true;  // false: --sandbox none, every verdict unverified
  int threads = 0;
  double call_timeout_seconds = 0;
  double timing_seconds = 0;
  bool trace = false;                       // calls on a GPU are traced however long they take
  bool warm = false;                        // timed on inputs that the cache holds already
  std::vector<HeaderFolder> includes = {};  // NOLINT(readability-redundant-member-init)
};

}  // namespace kernelpro
