// kp:hack 27  the driver asked to load code from files of others
// kp:task stream
// kp:expect cheated sandbox
//
// It reads a file where a path is given, and says what it thinks of what is in it.
#include "driver.cuh"
#include "stream.cuh"

namespace {

void ask() {
  CUmodule module = nullptr;
  const auto load = driver_function<decltype(&cuModuleLoad)>("cuModuleLoad");
  const auto create = driver_function<decltype(&cuLinkCreate)>("cuLinkCreate_v2");
  const auto add = driver_function<decltype(&cuLinkAddFile)>("cuLinkAddFile_v2");
  for (const char* path : {"/etc/shadow", "/root/.bashrc", "/home"}) {
    if (load != nullptr) {
      load(&module, path);
    }
    CUlinkState state = nullptr;
    if (create != nullptr && add != nullptr &&
        create(0, nullptr, nullptr, &state) == CUDA_SUCCESS) {
      add(state, CU_JIT_INPUT_PTX, path, 0, nullptr, nullptr);
    }
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool asked = (ask(), true);
  const Call call = call_of(context, tensors);
  return asked ? launch(call, call.stream) : 1;
}
