// The programs of others that read machine code or run it in a simulation. Each may be missing.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/process.hpp"
#include "common/base/result.hpp"

namespace kernelpro {

struct HostTools {
  std::string disassembler;  // objdump
  std::string lines;         // addr2line
  std::string simulator;     // llvm-mca
  std::string valgrind;
  std::string sample_library;  // libkernelpro_sample.so
  std::string jail;
  bool landlock = true;
  bool own = true;  // what is read is the user's: nobody else may have to be able to
};

// KERNELPRO_LLVM_MCA and KERNELPRO_VALGRIND name others than those of PATH; empty: none.
[[nodiscard]] HostTools find_host_tools(const std::string& programs);

// Runs one of them in the jail: it may read the system and `files`, and write nothing. An error
// also where it fails.
[[nodiscard]] Result<std::string> run_reader(const HostTools& tools,
                                             const std::vector<std::string>& arguments,
                                             const std::vector<std::string>& files,
                                             std::stop_token stop);

}  // namespace kernelpro
