// What is recorded with. For the files of the recorder only.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "trace/cupti_library.hpp"
#include "trace/modules.hpp"
#include "trace/trace_writer.hpp"

namespace kernelpro::trace {

struct Recorder {
  CuptiLibrary cupti;
  void* subscriber = nullptr;
  pid_t process = 0;  // a child made by fork has a copy of all this, and no part in it
  Modules modules;

  std::mutex writing;
  TraceWriter writer;
  std::unordered_map<std::uint64_t, std::string> functions;  // names, by interface and number

  std::mutex ending;
  std::condition_variable ended;
  bool stopping = false;
  std::thread flusher;
};

// "cudaLaunchKernel" of "cudaLaunchKernel_ptsz_v7000": without version and kind of default stream.
[[nodiscard]] std::string_view base_name(std::string_view name);

// Writes a record of CUPTI down as a line of the trace; to be called under `writing`.
void note(Recorder& all, const void* record);

}  // namespace kernelpro::trace
