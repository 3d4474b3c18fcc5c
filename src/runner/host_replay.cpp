#include "runner/host_replay.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "common/base/clock.hpp"
#include "runner/buffers.hpp"
#include "runner/library.hpp"
#include "runner/replay_files.hpp"
#include "runner/seccomp.hpp"
#include "sample/sampler.hpp"

namespace kernelpro::runner {

namespace {

constexpr int no_job = 2;
constexpr int call_failed = 3;
constexpr std::uint64_t most_sets = 64;

int give_up(int code, const std::string& why) {
  std::fprintf(stderr, "kernelpro-runner: %s\n", why.c_str());
  return code;
}

std::uint64_t arena_bytes(const Layout& layout, bool output) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < layout.tensor_count; ++i) {
    const TensorPlace& place = layout.tensors[i];
    if ((place.output != 0) == output) {
      bytes = std::max(bytes, place.region_offset + place.region_bytes);
    }
  }
  return bytes;
}

std::uint64_t to_page(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// A file in memory with `sets` copies of `content`, or zeros; -1 where there is no room.
int memory_file(std::uint64_t stride, std::uint32_t sets, const char* content,
                std::uint64_t bytes) {
  const int file = memfd_create("replay", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(stride * sets)) != 0) {
    return -1;
  }
  for (std::uint32_t set = 0; content != nullptr && set < sets; ++set) {
    for (std::uint64_t done = 0; done < bytes;) {
      const ssize_t wrote =
          pwrite(file, content + done, bytes - done, static_cast<off_t>(set * stride + done));
      if (wrote <= 0) {
        return -1;
      }
      done += static_cast<std::uint64_t>(wrote);
    }
  }
  return file;
}

void ask_for_scratch(const Library& library, Layout& layout) {
  CallArguments call;
  describe_call(layout, call);
  const auto tensors = static_cast<std::int32_t>(layout.tensor_count);
  if (library.workspace != nullptr) {
    const auto bytes = library.workspace(&call.context, call.tensors.data(), tensors);
    layout.workspace_bytes = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
  }
  layout.workspace_stride = to_page(layout.workspace_bytes);
  layout.workspace_offset = 0;
  if (library.state != nullptr && library.prepare != nullptr) {
    const auto bytes = library.state(&call.context, call.tensors.data(), tensors);
    layout.state_bytes = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
  }
}

bool lay_out(ReplayFiles& job, const Library& library, std::int64_t cache_bytes, Buffers& buffers) {
  Layout& layout = job.layout;
  ask_for_scratch(library, layout);
  const std::uint64_t inputs = arena_bytes(layout, false);
  const std::uint64_t outputs = arena_bytes(layout, true);
  layout.input_stride = to_page(inputs);
  layout.output_stride = to_page(outputs);
  layout.populate = 1;
  const std::uint64_t wanted =
      2 * static_cast<std::uint64_t>(std::max<std::int64_t>(cache_bytes, 0));
  layout.sets = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      wanted / std::max<std::uint64_t>(inputs + outputs, 1) + 1, 1, most_sets));
  const int input_file = memory_file(layout.input_stride, layout.sets, job.inputs,
                                     std::min<std::uint64_t>(inputs, job.input_bytes));
  const int output_file = memory_file(layout.output_stride, layout.sets, nullptr, 0);
  const int workspace_file = layout.workspace_bytes > 0
                                 ? memory_file(layout.workspace_stride, layout.sets, nullptr, 0)
                                 : -1;
  return input_file >= 0 && output_file >= 0 &&
         buffers.attach(layout, input_file, output_file, workspace_file);
}

// Samples are of processor time, of which a busy machine gives little.
constexpr std::int64_t longest_wait = 20;

std::int64_t cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

// The status of the first call that fails; 0: none did.
int call_for(const Library& library, const Buffers& buffers, std::int32_t tensors,
             int milliseconds) {
  const std::int64_t start = now_ns();
  const std::int64_t end = start + longest_wait * milliseconds * 1'000'000LL;
  const std::int64_t cpu_end = cpu_ns() + milliseconds * 1'000'000LL;
  std::int64_t calls = 0;
  int status = 0;
  std::int64_t now = start;
  do {
    const CallArguments& call =
        buffers.calls()[static_cast<std::size_t>(calls) % buffers.calls().size()];
    status = library.launch(&call.context, call.tensors.data(), tensors);
    ++calls;
    now = now_ns();
  } while (status == 0 && now < end && cpu_ns() < cpu_end);
  std::printf("calls %lld ns %lld\n", static_cast<long long>(calls),
              static_cast<long long>(now - start));
  std::fflush(stdout);
  return status;
}

}  // namespace

int replay_on_host(const HostReplay& wanted) {
  static ReplayFiles job;  // too large for a comfortable stack frame
  static Buffers buffers;
  const std::string place = std::string(wanted.folder) + "/";
  if (!read_replay(place, job)) {
    return give_up(no_job, "this folder holds no job to replay: " + place);
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (!install_unwatched_filter()) {
    return give_up(no_job, "the system-call filter cannot be installed");
  }
  Library library;
  std::string why;
  if (!library.load((place + replay_library).c_str(), why)) {
    return give_up(call_failed, why);
  }
  if (!lay_out(job, library, wanted.cache_bytes, buffers)) {
    return give_up(no_job, "there is no memory for the buffers");
  }
  const auto tensors = static_cast<std::int32_t>(job.layout.tensor_count);
  for (const CallArguments& call : buffers.calls()) {
    if (library.prepare != nullptr && library.state != nullptr &&
        library.prepare(&call.context, call.tensors.data(), tensors) != 0) {
      return give_up(call_failed, "kp_prepare failed");
    }
  }
  const CallArguments& first = buffers.calls().front();
  if (wanted.milliseconds > 0 &&
      library.launch(&first.context, first.tensors.data(), tensors) != 0) {
    return give_up(call_failed, "kp_launch failed");
  }
  const bool sampled = wanted.milliseconds > 0 && sample::start(wanted.folder);
  const int status = call_for(library, buffers, tensors, wanted.milliseconds);
  if (sampled) {
    sample::stop();
  }
  return status == 0 ? 0 : give_up(call_failed, "kp_launch returned " + std::to_string(status));
}

}  // namespace kernelpro::runner
