#include "trace/cupti_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace kernelpro::trace {
namespace {

void* open_library() {
  if (const char* chosen = std::getenv("KERNELPRO_CUPTI"); chosen != nullptr && *chosen != '\0') {
    return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
  }
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL); library != nullptr) {
      return library;
    }
  }
  return nullptr;
}

template <typename Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

}  // namespace

std::string CuptiLibrary::load() {
  void* library = open_library();
  if (library == nullptr) {
    const char* why = dlerror();
    return std::string("CUPTI was not found (") + (why != nullptr ? why : "no reason given") +
           "); set KERNELPRO_CUPTI to the libcupti.so of the CUDA toolkit";
  }
  const bool all = find(library, "cuptiGetVersion", version) &&
                   find(library, "cuptiGetResultString", result_text) &&
                   find(library, "cuptiGetTimestamp", timestamp) &&
                   find(library, "cuptiSubscribe", subscribe) &&
                   find(library, "cuptiUnsubscribe", unsubscribe) &&
                   find(library, "cuptiEnableCallback", enable_callback) &&
                   find(library, "cuptiGetCallbackName", callback_name) &&
                   find(library, "cuptiActivityEnable", enable) &&
                   find(library, "cuptiActivityRegisterCallbacks", register_callbacks) &&
                   find(library, "cuptiActivityGetNextRecord", next_record) &&
                   find(library, "cuptiActivityGetNumDroppedRecords", dropped) &&
                   find(library, "cuptiActivityFlushAll", flush);
  if (!all) {
    return "the library found as CUPTI lacks functions of it; set KERNELPRO_CUPTI to the "
           "libcupti.so of the CUDA toolkit";
  }
  find(library, "cuptiActivityEnableDriverApi", enable_driver_call);
  find(library, "cuptiActivityEnableRuntimeApi", enable_runtime_call);
  return {};
}

std::string CuptiLibrary::text_of(int result) const {
  const char* text = nullptr;
  const bool known = result_text(result, &text) == 0 && text != nullptr;
  return known ? text : "code " + std::to_string(result);
}

}  // namespace kernelpro::trace
