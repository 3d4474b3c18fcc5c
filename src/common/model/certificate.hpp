// All that is needed to repeat a verdict on this machine or another.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/model/candidate.hpp"
#include "common/model/ceilings.hpp"
#include "common/model/header_library.hpp"
#include "common/model/task.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

// What one kernel takes of the device, as ptxas says. Bytes, but for registers and barriers.
struct KernelResources {
  std::string kernel;        // demangled where that is possible
  std::string architecture;  // "sm_90a"
  int registers = 0;         // per thread
  int spill_stores = 0;
  int spill_loads = 0;
  int shared_bytes = 0;     // static; what a launch adds is not known here
  int constant_bytes = -1;  // -1: ptxas does not say (it does not from sm_90 on)
  int stack_bytes = 0;      // per thread, with the functions called
  int barriers = 0;
};

// How a shared object came to be.
struct BuildRecord {
  std::string compiler;            // full path
  std::string compiler_identity;   // its version line
  std::vector<std::string> flags;  // everything passed, the probed target included
  std::string source_hash;
  std::string binary_hash;
  // Of nvcc, with what it says that costs speed; empty for other compilers. Initialized, so that
  // lists of the fields above go on.
  std::vector<KernelResources> kernels = {};   // NOLINT(readability-redundant-member-init)
  std::vector<std::string> warnings = {};      // NOLINT(readability-redundant-member-init)
  std::vector<IncludedLibrary> includes = {};  // NOLINT(readability-redundant-member-init)
};

struct GpuRecord {
  std::string name;
  std::string uuid;
  std::string architecture;  // "90a"
  std::string driver;        // the CUDA version it speaks: "13.0"
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
};

struct MachineRecord {
  std::string processor;
  std::string architecture;
  std::string kernel;
  int cores = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t cache_bytes = 0;              // last-level cache
  std::map<std::string, double> clocks_mhz;  // empty where the system does not tell
  int landlock_abi = 0;
  std::vector<GpuRecord> gpus;  // the one that was used, or all when a worker describes itself
};

// The GPU that a candidate ran on, or the processor.
[[nodiscard]] std::string device_of(const MachineRecord& machine, Backend backend);

struct Certificate {
  // Those before were drawn by older generators: not all their values can be repeated.
  int version = 5;
  std::string program_version;
  std::string date;  // UTC, ISO 8601
  Task task;
  std::string task_hash;
  Candidate candidate;
  Candidate incumbent;
  BuildRecord build;
  BuildRecord incumbent_build;
  MachineRecord machine;
  int threads = 0;      // what candidate and incumbent were given; 0: not recorded
  std::string sandbox;  // "landlock" or "none"
  Key master;           // every draw of the evaluation follows from it
  Ceilings ceilings;
  Verdict verdict;
};

}  // namespace kernelpro
