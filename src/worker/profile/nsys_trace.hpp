// What Nsight Systems (nsys) recorded of a program, as a trace.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string_view>

#include "common/base/result.hpp"
#include "common/model/trace.hpp"

namespace kernelpro {

// Reads what `nsys stats --format csv` prints for its reports cuda_gpu_trace and cuda_api_trace;
// without the second (empty) the trace has no calls. Units are those that the columns name.
// Launches are numbered among those in the report, which are all of the process only where nsys
// recorded the whole of it.
[[nodiscard]] Result<Trace> read_nsys_trace(std::string_view gpu_csv, std::string_view api_csv);

// Asks the user's nsys for both reports of a recording (.nsys-rep). An environment error without
// nsys.
[[nodiscard]] Result<Trace> read_nsys_report(const std::filesystem::path& path,
                                             std::stop_token stop = {});

}  // namespace kernelpro
