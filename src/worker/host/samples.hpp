// What the sampler left of a program: where its threads spent their time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/host_profile.hpp"

namespace kernelpro {

struct HostSamples {
  // By module, the file that the code is in: samples by offset in that file.
  std::map<std::string, std::map<std::int64_t, double>> modules;
  double elsewhere = 0;  // in code of no file: made at run time, or of the kernel
  double all = 0;
  double lost = 0;                  // beyond what there was room for
  double span_ns = 0;               // of the process with the most samples
  double cpu_ns = 0;                // of all processes
  double system_ns = 0;             // of that, in the kernel
  double faults = 0;                // pages that they were given on their first touch
  double resident_bytes = 0;        // of each process at most, all together
  int processes = 0;                // that have samples
  std::vector<ThreadTime> threads;  // of that process, most work first
};

// Whether the module is a library that lets threads wait for others.
[[nodiscard]] bool lets_threads_wait(const std::string& module);

// Files that are damaged are left out. An error where there are none at all: the library was not
// loaded (a static program, one with more rights than the user).
[[nodiscard]] Result<HostSamples> read_samples(const std::filesystem::path& folder);

}  // namespace kernelpro
