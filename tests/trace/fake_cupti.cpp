// A CUPTI without a GPU: it hands over the records that it is told to, in CUPTI's own form and by
// CUPTI's own functions. A test compiles it as a shared library.
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "trace/cupti_records.hpp"

namespace cupti = kernelpro::trace::cupti;

namespace {

using Record = std::array<std::uint8_t, 256>;
using GiveBuffer = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using TakeBuffer = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
using Callback = void (*)(void*, std::uint32_t, std::uint32_t, const void*);

constexpr int no_more = 12;
constexpr int bad_parameter = 1;

const std::vector<std::string> driver_functions = {"INVALID", "cuLaunchKernel", "cuProfilerStart",
                                                   "cuProfilerStop", "cuCtxDestroy_v2"};
const std::vector<std::string> runtime_functions = {"INVALID",
                                                    "cudaLaunchKernel_v7000",
                                                    "cudaDeviceSynchronize_v3020",
                                                    "cudaProfilerStart_v4000",
                                                    "cudaProfilerStop_v4000",
                                                    "cudaMemcpyAsync_ptsz_v7000",
                                                    "cudaDeviceReset_v3020",
                                                    "cudaGetDevice_v3020",
                                                    "cudaMemsetAsync_v3020"};

std::mutex mutex;
std::condition_variable flushed;
std::uint64_t flushes = 0;
std::vector<Record> pending;
std::size_t dropped = 0;
GiveBuffer give = nullptr;
TakeBuffer take = nullptr;
Callback callback = nullptr;
std::vector<std::pair<std::uint32_t, std::uint32_t>> enabled_callbacks;

int number_in(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

template <typename T>
void put(Record& record, std::size_t offset, T value) {
  std::memcpy(record.data() + offset, &value, sizeof value);
}

// Names outlive their records, as CUPTI's do. "null" is none.
const char* kept(const std::string& name) {
  return name == "null" ? nullptr : (new std::string(name))->c_str();
}

Record made(std::uint32_t kind) {
  Record record{};
  put(record, 0, kind);
  return record;
}

std::uint64_t number(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 0);
}

void put_times(Record& record, std::size_t start, std::size_t end, const std::string& from,
               const std::string& to) {
  put<std::uint64_t>(record, start, number(from));
  put<std::uint64_t>(record, end, number(to));
}

// kernel:name:correlation:start:end:registers
void add_kernel(const std::vector<std::string>& words) {
  namespace at = cupti::kernel;
  Record record = made(10);
  put(record, at::name, kept(words[1]));
  put(record, at::correlation, static_cast<std::uint32_t>(number(words[2])));
  put_times(record, cupti::start, cupti::end, words[3], words[4]);
  put(record, at::registers, static_cast<std::uint16_t>(number(words[5])));
  put<std::uint32_t>(record, at::context, 1);
  put<std::uint32_t>(record, at::stream, 7);
  for (std::int32_t i = 0; i < 3; ++i) {
    put(record, at::grid + static_cast<std::size_t>(4 * i), 10 + i);
    put(record, at::block + static_cast<std::size_t>(4 * i), 20 + i);
  }
  put<std::int32_t>(record, at::static_shared, 1024);
  put<std::int32_t>(record, at::dynamic_shared, 2048);
  put<std::uint32_t>(record, at::local, 16);
  pending.push_back(record);
}

// copy:kind:memory of the source:bytes:correlation:start:end
void add_copy(const std::vector<std::string>& words, bool between_devices) {
  namespace at = cupti::copy;
  Record record = made(between_devices ? 22 : 1);
  put(record, at::kind, static_cast<std::uint8_t>(number(words[1])));
  put(record, at::source, static_cast<std::uint8_t>(number(words[2])));
  put<std::uint8_t>(record, at::target, 3);
  put(record, at::bytes, number(words[3]));
  put<std::uint32_t>(record, at::stream, 7);
  put(record, between_devices ? at::peer_correlation : at::correlation,
      static_cast<std::uint32_t>(number(words[4])));
  put_times(record, cupti::start, cupti::end, words[5], words[6]);
  pending.push_back(record);
}

// fill:bytes:correlation:start:end
void add_fill(const std::vector<std::string>& words) {
  namespace at = cupti::fill;
  Record record = made(2);
  put(record, at::bytes, number(words[1]));
  put(record, at::correlation, static_cast<std::uint32_t>(number(words[2])));
  put_times(record, cupti::start, cupti::end, words[3], words[4]);
  pending.push_back(record);
}

// runtime:function:correlation:start:end, and the same for driver
void add_call(const std::vector<std::string>& words, bool driver) {
  namespace at = cupti::call;
  Record record = made(driver ? 4 : 5);
  put(record, at::function, static_cast<std::uint32_t>(number(words[1])));
  put(record, at::correlation, static_cast<std::uint32_t>(number(words[2])));
  put<std::uint32_t>(record, at::thread, 99);
  put_times(record, at::start, at::end, words[3], words[4]);
  pending.push_back(record);
}

// device:id:major:minor:name
void add_device(const std::vector<std::string>& words) {
  namespace at = cupti::device;
  Record record = made(8);
  put(record, at::id, static_cast<std::uint32_t>(number(words[1])));
  put(record, at::major, static_cast<std::uint32_t>(number(words[2])));
  put(record, at::minor, static_cast<std::uint32_t>(number(words[3])));
  put(record, at::name, kept(words[4]));
  pending.push_back(record);
}

// module:file. Its memory is gone when the callback returns.
void load_module(const std::vector<std::string>& words) {
  std::ifstream file(words[1], std::ios::binary);
  const std::string cubin((std::istreambuf_iterator<char>(file)), {});
  struct {
    std::uint32_t id = 1;
    std::size_t bytes = 0;
    const char* data = nullptr;
  } module;
  module.bytes = cubin.size();
  module.data = cubin.data();
  const std::array<const void*, 3> resource = {nullptr, nullptr, &module};
  callback(nullptr, cupti::resource_domain, cupti::module_loaded, resource.data());
}

// call-back:domain:function, if somebody asked for it.
void call_back(const std::vector<std::string>& words) {
  const std::uint32_t site = 0;
  for (const auto& [domain, function] : enabled_callbacks) {
    if (domain == number(words[1]) && function == number(words[2])) {
      callback(nullptr, domain, function, &site);
    }
  }
}

bool is_subscribed() {
  return number_in("FAKE_SUBSCRIBE", 0) == 0;
}

}  // namespace

extern "C" {

// The test's own: does what `text` says. Returns false for a word it does not know.
bool fake_do(const char* text) {
  std::vector<std::string> words;
  std::istringstream parts(text);
  for (std::string word; std::getline(parts, word, ':');) {
    words.push_back(word);
  }
  if (words[0] == "module") {
    load_module(words);
    return true;
  }
  if (words[0] == "call-back") {
    call_back(words);
    return true;
  }
  std::unique_lock lock(mutex);
  if (words[0] == "await-flush") {
    // A flush that began after this moment has ended.
    const std::uint64_t before = flushes;
    flushed.wait(lock, [before] { return flushes >= before + 2; });
  } else if (words[0] == "kernel") {
    add_kernel(words);
  } else if (words[0] == "kernels") {  // kernels:count
    for (std::uint64_t i = 0; i < number(words[1]); ++i) {
      const std::string correlation = std::to_string(i);
      add_kernel({"kernel", "many", correlation, "10", "20", "1"});
    }
  } else if (words[0] == "copy" || words[0] == "peer-copy") {
    add_copy(words, words[0] == "peer-copy");
  } else if (words[0] == "fill") {
    add_fill(words);
  } else if (words[0] == "runtime" || words[0] == "driver") {
    add_call(words, words[0] == "driver");
  } else if (words[0] == "device") {
    add_device(words);
  } else if (words[0] == "record") {  // record:kind
    pending.push_back(made(static_cast<std::uint32_t>(number(words[1]))));
  } else if (words[0] == "drop") {
    dropped = number(words[1]);
  } else {
    return false;
  }
  return true;
}

int cuptiGetVersion(std::uint32_t* version) {
  *version = static_cast<std::uint32_t>(number_in("FAKE_VERSION", 130001));
  return 0;
}

int cuptiGetResultString(int result, const char** text) {
  *text = result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : nullptr;
  return result == 39 ? 0 : bad_parameter;
}

int cuptiGetTimestamp(std::uint64_t* time) {
  *time = 1'000'000;
  return 0;
}

int cuptiSubscribe(void** subscriber, Callback function, void* /*data*/) {
  *subscriber = &mutex;
  callback = function;
  return number_in("FAKE_SUBSCRIBE", 0);
}

int cuptiUnsubscribe(void* /*subscriber*/) {
  return 0;
}

int cuptiEnableCallback(std::uint32_t /*on*/, void* /*subscriber*/, std::uint32_t domain,
                        std::uint32_t function) {
  enabled_callbacks.emplace_back(domain, function);
  return 0;
}

int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t function, const char** name) {
  const auto& names = domain == cupti::driver_domain ? driver_functions : runtime_functions;
  if (function >= names.size()) {
    return bad_parameter;
  }
  *name = names[function].c_str();
  return 0;
}

int cuptiActivityEnable(std::uint32_t kind) {
  return number_in("FAKE_ENABLE", 0) == static_cast<int>(kind) ? 35 : 0;
}

int cuptiActivityRegisterCallbacks(GiveBuffer give_one, TakeBuffer take_one) {
  give = give_one;
  take = take_one;
  return 0;
}

int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, void** record) {
  auto* at = static_cast<std::uint8_t*>(*record);
  at = at == nullptr ? buffer : at + sizeof(Record);
  if (at + sizeof(Record) > buffer + valid) {
    return no_more;
  }
  *record = at;
  return 0;
}

int cuptiActivityGetNumDroppedRecords(void* /*context*/, std::uint32_t /*stream*/,
                                      std::size_t* amount) {
  const std::lock_guard lock(mutex);
  *amount = dropped;
  dropped = 0;
  return 0;
}

int cuptiActivityFlushAll(std::uint32_t /*flag*/) {
  std::vector<Record> all;
  {
    const std::lock_guard lock(mutex);
    all.swap(pending);
  }
  for (std::size_t done = 0; is_subscribed() && done < all.size();) {
    std::uint8_t* buffer = nullptr;
    std::size_t bytes = 0;
    std::size_t most = 0;
    give(&buffer, &bytes, &most);
    const std::size_t count = std::min(all.size() - done, bytes / sizeof(Record));
    std::memcpy(buffer, all.data() + done, count * sizeof(Record));
    take(nullptr, 0, buffer, bytes, count * sizeof(Record));
    done += count;
  }
  const std::lock_guard lock(mutex);
  ++flushes;
  flushed.notify_all();
  return 0;
}
}
