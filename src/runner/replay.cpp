#include "runner/replay.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "runner/library.hpp"
#include "runner/seccomp.hpp"

namespace kernelpro::runner {

namespace {

constexpr int bad_job = 2;
constexpr int candidate_failed = 3;
constexpr int device_failed = 4;

struct Job {
  Layout layout{};
  const char* inputs = nullptr;
  std::size_t input_bytes = 0;
};

bool read_layout(const std::string& path, Layout& layout) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool whole = file >= 0 && read(file, &layout, sizeof layout) == sizeof layout;
  close(file);
  return whole && layout.sets == 1 && layout.tensor_count <= max_tensors &&
         layout.scalar_count <= max_values && layout.axis_count <= max_values;
}

bool map_inputs(const std::string& path, Job& job) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) {
    return false;
  }
  job.input_bytes = static_cast<std::size_t>(status.st_size);
  void* mapped = job.input_bytes == 0
                     ? nullptr
                     : mmap(nullptr, job.input_bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  job.inputs = static_cast<const char*>(mapped);
  return mapped != MAP_FAILED;
}

// Every input lies within the file.
bool fits(const Job& job) {
  for (std::size_t i = 0; i < job.layout.tensor_count; ++i) {
    const TensorPlace& place = job.layout.tensors[i];
    if (place.data_offset > place.region_bytes ||
        (place.output == 0 && (place.region_bytes > job.input_bytes ||
                               place.region_offset > job.input_bytes - place.region_bytes))) {
      return false;
    }
  }
  return true;
}

int fail(int code, const std::string& why) {
  std::fprintf(stderr, "kernelpro-runner: %s\n", why.c_str());
  return code;
}

}  // namespace

int replay(Device& device, const char* folder, int calls) {
  static Job job;  // too large for a comfortable stack frame
  const std::string place = std::string(folder) + "/";
  if (!read_layout(place + replay_layout, job.layout) || !map_inputs(place + replay_inputs, job) ||
      !fits(job)) {
    return fail(bad_job, "this folder holds no job to replay: " + place);
  }
  // Before the filter: opening a GPU takes system calls that no candidate needs.
  if (const Status opened = device.open(); !opened) {
    return fail(device_failed, opened.error().text());
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (!install_unwatched_filter()) {
    return fail(bad_job, "the system-call filter cannot be installed");
  }
  Library library;
  std::string why;
  if (!library.load((place + replay_library).c_str(), why)) {
    return fail(candidate_failed, why);
  }
  if (const cuda::Code code = device.lay_out(job.layout, job.inputs, library);
      code != cuda::success) {
    return fail(device_failed, device.text(code));
  }
  const CallArguments& call = device.calls().front();
  const auto tensors = static_cast<std::int32_t>(job.layout.tensor_count);
  if (library.prepare != nullptr && library.state != nullptr &&
      library.prepare(&call.context, call.tensors.data(), tensors) != 0) {
    return fail(candidate_failed, "kp_prepare failed");
  }
  for (int i = 0; i <= calls; ++i) {
    if (const cuda::Code code = device.begin_range(i > 0); code != cuda::success) {
      return fail(device_failed, device.text(code));
    }
    const int status = library.launch(&call.context, call.tensors.data(), tensors);
    if (const cuda::Code code = device.end_range(i > 0); code != cuda::success) {
      return fail(device_failed, device.text(code));
    }
    if (status != 0) {
      return fail(candidate_failed, "kp_launch returned " + std::to_string(status));
    }
  }
  return 0;
}

}  // namespace kernelpro::runner
