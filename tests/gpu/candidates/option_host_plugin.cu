// kp:hack 31  a plug-in for the host compiler
// kp:task stream
// kp:expect cheated build_option
// kp:options -Xcompiler=-fplugin=/tmp/kernelpro-escape-plugin.so
//
// Would load code into the compiler.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
