#include "runner/tracer.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "common/base/demangle.hpp"
#include "runner/cupti_records.hpp"

namespace kernelpro::runner {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t buffer_alignment = 8;
constexpr std::uint32_t flush_forced = 1;

using NextRecord = int (*)(std::uint8_t*, std::size_t, void**);

// CUPTI calls back with no word of ours, from a thread of its own.
struct Notes {
  std::mutex mutex;
  NextRecord next = nullptr;
  Trace trace{};
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

Notes& notes() {
  static Notes all;
  return all;
}

template <typename T>
T read_at(const void* record, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(record) + offset, sizeof value);
  return value;
}

void add(Notes& all, std::uint64_t name, std::int64_t ns) {
  Trace& trace = all.trace;
  TracedKernel* end = trace.kernels + trace.count;
  TracedKernel* known = std::find_if(trace.kernels, end,
                                     [name](const TracedKernel& one) { return one.name == name; });
  if (known == end && trace.count < max_traced) {
    *known = {name, 0};
    ++trace.count;
  } else if (known == end) {
    known = end - 1;
  }
  known->ns += ns;
}

void note(Notes& all, const void* record) {
  const auto kind = read_at<std::uint32_t>(record, 0);
  if (kind != cupti::kernel && kind != cupti::copy && kind != cupti::fill) {
    return;
  }
  const auto start = read_at<std::uint64_t>(record, cupti::start_offset);
  const auto end = read_at<std::uint64_t>(record, cupti::end_offset);
  if (start == 0 || end < start) {
    return;
  }
  all.first = all.trace.launches == 0 ? start : std::min(all.first, start);
  all.last = std::max(all.last, end);
  ++all.trace.launches;
  const auto* name =
      kind == cupti::kernel
          ? reinterpret_cast<const char*>(read_at<std::uintptr_t>(record, cupti::name_offset))
          : nullptr;
  add(all, name != nullptr ? name_hash(demangled(name).c_str()) : 0,
      static_cast<std::int64_t>(end - start));
}

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  *size = *buffer == nullptr ? 0 : buffer_bytes;
  *most_records = 0;
}

void take_buffer(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                 std::size_t /*size*/, std::size_t valid) {
  Notes& all = notes();
  const std::lock_guard lock(all.mutex);
  void* record = nullptr;
  while (valid > 0 && all.next(buffer, valid, &record) == 0) {
    note(all, record);
  }
  std::free(buffer);
}

template <typename Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

}  // namespace

Status Tracer::open(const char* library) {
  void* loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    return make_error(ErrorKind::environment, dlerror());
  }
  int (*enable)(std::uint32_t) = nullptr;
  int (*callbacks)(decltype(&give_buffer), decltype(&take_buffer)) = nullptr;
  int (*flush)(std::uint32_t) = nullptr;
  if (!find(loaded, "cuptiActivityEnable", enable) ||
      !find(loaded, "cuptiActivityRegisterCallbacks", callbacks) ||
      !find(loaded, "cuptiActivityGetNextRecord", notes().next) ||
      !find(loaded, "cuptiActivityFlushAll", flush)) {
    return make_error(ErrorKind::environment, "this is no CUPTI", library);
  }
  int code = callbacks(give_buffer, take_buffer);
  for (const cupti::Kind kind : {cupti::kernel, cupti::copy, cupti::fill}) {
    code = code == 0 ? enable(kind) : code;
  }
  if (code != 0) {
    return make_error(ErrorKind::environment, "CUPTI refuses, code " + std::to_string(code),
                      library);
  }
  flush_ = flush;
  return {};
}

void Tracer::begin() const {
  flush_(flush_forced);
  Notes& all = notes();
  const std::lock_guard lock(all.mutex);
  all.trace = {};
  all.first = 0;
  all.last = 0;
}

Trace Tracer::end() const {
  flush_(flush_forced);
  Notes& all = notes();
  const std::lock_guard lock(all.mutex);
  all.trace.span_ns = static_cast<std::int64_t>(all.last - all.first);
  return all.trace;
}

}  // namespace kernelpro::runner
