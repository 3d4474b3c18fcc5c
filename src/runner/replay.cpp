#include "runner/replay.hpp"

#include <sys/prctl.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "runner/library.hpp"
#include "runner/replay_files.hpp"
#include "runner/seccomp.hpp"

namespace kernelpro::runner {

namespace {

constexpr int bad_job = 2;
constexpr int candidate_failed = 3;
constexpr int device_failed = 4;

int fail(int code, const std::string& why) {
  std::fprintf(stderr, "kernelpro-runner: %s\n", why.c_str());
  return code;
}

}  // namespace

int replay(Device& device, const char* folder, int calls) {
  static ReplayFiles job;  // too large for a comfortable stack frame
  const std::string place = std::string(folder) + "/";
  if (!read_replay(place, job)) {
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
