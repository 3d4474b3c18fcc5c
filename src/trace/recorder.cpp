#include "trace/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "trace/cupti_records.hpp"
#include "trace/recorder_state.hpp"

namespace kernelpro::trace {
namespace {

using cupti::Kind;
using cupti::read_at;

// CUPTI hands a buffer over only when all its records are complete, so small ones come sooner.
constexpr std::size_t buffer_bytes = std::size_t{256} << 10U;
constexpr std::size_t buffer_alignment = 8;
constexpr std::chrono::milliseconds flush_period{100};
constexpr std::uint32_t flush_complete = 0;
constexpr std::uint32_t flush_forced = 1;
constexpr std::uint32_t most_functions = 4096;  // of one interface; there are about 800

// After these there may be nobody left to give the records.
constexpr std::array<std::string_view, 3> endings = {"cudaDeviceReset", "cuCtxDestroy",
                                                     "cuDevicePrimaryCtxReset"};

// Called often, at once and without effect on the GPU: recording them would only slow the host.
constexpr std::array<std::string_view, 22> trifles = {
    "cudaGetDevice",
    "cudaSetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaDeviceGetAttribute",
    "cudaFuncGetAttributes",
    "cudaFuncSetAttribute",
    "cudaPointerGetAttributes",
    "cudaStreamIsCapturing",
    "cudaStreamGetCaptureInfo",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuGetProcAddress",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxGetDevice",
    "cuCtxPushCurrent",
    "cuCtxPopCurrent",
    "cuDevicePrimaryCtxGetState"};

// Never destroyed: CUPTI may call back until the very end.
Recorder& recorder() {
  static auto* one = new Recorder;
  return *one;
}

// Whatever happens in `work` (memory or threads may run out), the program goes on. False: it
// happened.
template <typename Work>
bool survive(const Work& work) noexcept {
  try {
    work();
    return true;
  } catch (...) {
    return false;
  }
}

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) noexcept {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  *size = *buffer == nullptr ? 0 : buffer_bytes;
  *records = 0;
}

void note_all(Recorder& all, void* context, std::uint32_t stream, std::uint8_t* buffer,
              std::size_t valid) {
  const std::lock_guard lock(all.writing);
  void* record = nullptr;
  while (valid > 0 && all.cupti.next_record(buffer, valid, &record) == 0 && record != nullptr) {
    note(all, record);
  }
  std::size_t lost = 0;
  if (all.cupti.dropped(context, stream, &lost) == 0 && lost > 0) {
    all.writer.line('L', std::to_string(lost));
  }
  all.writer.flush();
}

void take_buffer(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*size*/,
                 std::size_t valid) noexcept {
  if (buffer == nullptr) {
    return;
  }
  if (Recorder& all = recorder(); all.process == getpid()) {
    // Otherwise the records of this buffer are lost.
    survive([&] { note_all(all, context, stream, buffer, valid); });
  }
  std::free(buffer);
}

void add_module(Recorder& all, const void* resource) {
  const auto* module =
      reinterpret_cast<const void*>(read_at<std::uintptr_t>(resource, cupti::resource_descriptor));
  if (module != nullptr) {
    all.modules.add(reinterpret_cast<const void*>(read_at<std::uintptr_t>(module, cupti::cubin)),
                    read_at<std::size_t>(module, cupti::cubin_bytes));
  }
}

void called_back(void* /*ours*/, std::uint32_t domain, std::uint32_t what,
                 const void* data) noexcept {
  Recorder& all = recorder();
  if (data == nullptr || all.process != getpid()) {
    return;
  }
  if (domain == cupti::resource_domain && what == cupti::module_loaded) {
    // Otherwise this module stays unknown.
    survive([&] { add_module(all, data); });
  } else if (domain != cupti::resource_domain &&
             read_at<std::uint32_t>(data, cupti::call_site) == 0) {
    all.cupti.flush(flush_complete);
  }
}

// Chooses among the functions of one interface.
void choose_calls(Recorder& all, std::uint32_t domain, int (*enable)(std::uint32_t, std::uint8_t)) {
  const char* text = nullptr;
  for (std::uint32_t function = 1;
       function < most_functions && all.cupti.callback_name(domain, function, &text) == 0;
       ++function) {
    const std::string_view name = text != nullptr ? base_name(text) : std::string_view();
    if (std::find(endings.begin(), endings.end(), name) != endings.end()) {
      all.cupti.enable_callback(1, all.subscriber, domain, function);
    }
    if (enable != nullptr && std::find(trifles.begin(), trifles.end(), name) != trifles.end()) {
      enable(function, 0);
    }
  }
}

std::string refusal(const Recorder& all, int result) {
  return "CUPTI refuses to record: " + all.cupti.text_of(result) +
         "; another profiler or debugger may be attached to the program";
}

// Empty, or why nothing is recorded.
std::string enable_records(Recorder& all) {
  if (const int result = all.cupti.subscribe(&all.subscriber, called_back, nullptr); result != 0) {
    return refusal(all, result);
  }
  int result = all.cupti.register_callbacks(give_buffer, take_buffer);
  for (const Kind kind :
       {Kind::kernel, Kind::copy, Kind::fill, Kind::runtime_call, Kind::driver_call}) {
    result = result == 0 ? all.cupti.enable(static_cast<std::uint32_t>(kind)) : result;
  }
  if (result != 0) {
    all.cupti.unsubscribe(all.subscriber);
    return refusal(all, result);
  }
  // Without these a trace is still one.
  all.cupti.enable(static_cast<std::uint32_t>(Kind::device));
  all.cupti.enable(static_cast<std::uint32_t>(Kind::peer_copy));
  all.cupti.enable_callback(1, all.subscriber, cupti::resource_domain, cupti::module_loaded);
  choose_calls(all, cupti::driver_domain, all.cupti.enable_driver_call);
  choose_calls(all, cupti::runtime_domain, all.cupti.enable_runtime_call);
  return {};
}

std::string check_version(Recorder& all) {
  std::uint32_t version = 0;
  if (const int result = all.cupti.version(&version); result != 0) {
    return refusal(all, result);
  }
  all.writer.line('V', std::to_string(version));
  if (version < cupti::oldest_version || version > cupti::newest_version) {
    return "the form of the records of CUPTI version " + std::to_string(version) +
           " is not known; set KERNELPRO_CUPTI to that of CUDA 12 or 13";
  }
  return {};
}

std::string begin(Recorder& all) {
  if (std::string problem = all.cupti.load(); !problem.empty()) {
    return problem;
  }
  if (std::string problem = check_version(all); !problem.empty()) {
    return problem;
  }
  std::uint64_t now = 0;
  all.cupti.timestamp(&now);
  all.writer.begin_at(now);
  return enable_records(all);
}

void flush_now_and_then() {
  Recorder& all = recorder();
  std::unique_lock lock(all.ending);
  while (!all.ended.wait_for(lock, flush_period, [&all] { return all.stopping; })) {
    lock.unlock();
    all.cupti.flush(flush_complete);
    lock.lock();
  }
}

// The program's signals are for its own threads.
void start_flusher(Recorder& all) {
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  // Otherwise the records come when buffers are full, and at the end.
  survive([&all] { all.flusher = std::thread(flush_now_and_then); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void end_recording(Recorder& all) {
  {
    const std::lock_guard lock(all.ending);
    all.stopping = true;
  }
  all.ended.notify_all();
  if (all.flusher.joinable()) {
    all.flusher.join();
  }
  all.cupti.flush(flush_forced);
  const std::lock_guard lock(all.writing);
  all.writer.close();
}

void finish() noexcept {
  if (Recorder& all = recorder(); all.process == getpid()) {
    // Otherwise the file lacks its end, as if the program had been cut off.
    survive([&all] { end_recording(all); });
  }
}

void start(const char* file) {
  Recorder& all = recorder();
  all.process = getpid();
  // CUPTI's threads may hand over records while this still runs.
  std::unique_lock lock(all.writing);
  if (!all.writer.open(file)) {
    return;
  }
  lock.unlock();
  const std::string problem = begin(all);
  lock.lock();
  if (!problem.empty()) {
    all.writer.line('R', problem);
  }
  all.writer.flush();
  lock.unlock();
  if (problem.empty()) {
    start_flusher(all);
    (void)std::atexit(finish);
  }
}

}  // namespace

void start_recording() noexcept {
  const char* file = std::getenv("KERNELPRO_TRACE_FILE");
  if (file == nullptr || *file == '\0') {
    return;
  }
  static std::once_flag once;
  survive([file] { std::call_once(once, start, file); });
}

}  // namespace kernelpro::trace
