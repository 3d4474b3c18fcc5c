// What a request becomes on the compiler's command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

using Words = std::vector<std::string>;

inline void append(Words& to, const Words& from) {
  to.insert(to.end(), from.begin(), from.end());
}

struct BuildFlags {
  std::vector<std::string> compile;
  std::vector<std::string> link;
  std::vector<std::string> read;  // folders that the jailed compiler needs beside the system's
};

// All flags but those that name folders of the build. An environment error when `openmp` is asked
// for and is not there.
[[nodiscard]] Result<BuildFlags> build_flags(const BuildRequest& request, const Compiler& compiler);

// Names of files and libraries become parts of paths and flags: a bad_input error when one is not
// plain.
[[nodiscard]] Status check_names(const BuildRequest& request);

// The names of the source in its folder: the extension tells the compiler what it is.
inline constexpr const char* cpp_source_name = "candidate.cpp";
inline constexpr const char* cuda_source_name = "candidate.cu";

}  // namespace kernelpro
