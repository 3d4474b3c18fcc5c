// The file that libkernelpro_trace.so writes, read. Its form is told in src/trace/trace_writer.hpp.
#pragma once

#include <filesystem>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/trace.hpp"

namespace kernelpro {

// One trace for each part of the program between cudaProfilerStart and cudaProfilerStop, or one of
// the whole program. A file that was cut off, or that has lines nobody can read, gives what is
// there, marked as not complete. An error when there is no file, when it is none of ours, or when
// it says that nothing could be recorded.
[[nodiscard]] Result<std::vector<Trace>> read_trace(const std::filesystem::path& path);

// `path` and the files that child processes wrote beside it, as far as they exist; the largest
// first.
[[nodiscard]] std::vector<std::filesystem::path> trace_files(const std::filesystem::path& path);

}  // namespace kernelpro
