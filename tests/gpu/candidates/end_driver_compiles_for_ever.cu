// kp:hack bad-input  code that the driver's own compiler does not finish in time or memory
// kp:task stream
// kp:expect timed_out|out_of_memory|launch_failed|crashed|cheated status|sandbox|signal|exit
//
// What nvcc never sees: a text of some hundred megabytes, made and handed over in the first call.
#include <string>

#include "driver.cuh"
#include "stream.cuh"

namespace {

std::string endless_text() {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 p) {\n"
      ".reg .b32 %r<512>;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [p];\nld.global.u32 %r0, [%d1];\n";
  for (int i = 1; i < 512; ++i) {
    text += "ld.global.u32 %r" + std::to_string(i) + ", [%d1+" + std::to_string(4 * i) + "];\n";
  }
  for (int64_t i = 0; i < 6'000'000; ++i) {
    text += "mad.lo.u32 %r" + std::to_string(i * 7919 % 512) + ", %r" +
            std::to_string(i * 104729 % 512) + ", %r" + std::to_string(i * 15485863 % 512) +
            ", %r" + std::to_string(i * 31 % 512) + ";\n";
  }
  for (int i = 0; i < 512; ++i) {
    text += "st.global.u32 [%d1+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
  }
  return text + "ret;\n}\n";
}

int compile() {
  const auto load = driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  const std::string text = endless_text();
  CUmodule module = nullptr;
  return load == nullptr || load(&module, text.c_str()) != CUDA_SUCCESS;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const int failed = compile();
  const Call call = call_of(context, tensors);
  return failed != 0 ? failed : launch(call, call.stream);
}
