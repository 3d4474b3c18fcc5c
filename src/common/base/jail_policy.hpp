// What kernelpro-jail takes away from the program it starts, and its command line for that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

struct JailPolicy {
  std::vector<std::string> read;     // files and folders that may be read and executed
  std::vector<std::string> write;    // folders that may also be written to
  std::vector<std::string> devices;  // device files that may be opened, and driven by ioctl
  std::int64_t memory_bytes = 0;     // address space; 0: no limit
  std::int64_t heap_bytes = 0;       // memory of its own to write to; 0: no limit
  std::int64_t file_bytes = 0;       // largest file written; 0: none at all
  std::int64_t processes = 0;        // threads and processes of the user; 0: no limit
  std::int64_t cpu_seconds = 0;      // of each process; 0: no limit
  std::int64_t tree_cpu_ms = 0;      // of all processes together, under `guard`; 0: no limit
  std::int64_t open_files = 256;     // descriptors at a time
  std::vector<int> keep_fds;         // descriptors that stay open beside 0, 1 and 2
  bool drop_user = true;             // as root: become `nobody` first
  bool landlock = true;              // false only under --sandbox none
  // Whether the jail stays as the parent of the program and ends all that it started with it, for
  // programs that start others. Without, the jail itself becomes the program.
  bool guard = false;
  // Whether it may use TCP: a profiler talks so to what it profiles, which then has to be kept from
  // it by a filter of its own.
  bool network = false;
};

// The arguments that start `program` under `policy`; `jail` is the path of kernelpro-jail.
[[nodiscard]] std::vector<std::string> jail_arguments(const std::string& jail,
                                                      const JailPolicy& policy,
                                                      const std::vector<std::string>& program);

struct JailedProgram {
  JailPolicy policy;
  std::vector<std::string> program;
};

// The inverse, for kernelpro-jail itself (`arguments` without its own name).
[[nodiscard]] Result<JailedProgram> parse_jail_arguments(const std::vector<std::string>& arguments);

// The landlock ABI of this kernel: 0 when there is none.
[[nodiscard]] int landlock_abi();

// The exit code by which kernelpro-jail says that it could not build the jail.
inline constexpr int jail_failed_exit_code = 121;

}  // namespace kernelpro
