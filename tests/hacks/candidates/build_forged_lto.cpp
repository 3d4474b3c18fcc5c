// kp:hack 31  sections that make the linker call a compiler with options from the object
// kp:task axpy
// kp:expect passed|build_failed|launch_failed|cheated not-faster|private_file|load
//
// An object with such sections is taken for one that is to be optimized at link time, by a
// compiler that finds its options there: here a plug-in and a file to take options from.
#include <kernelpro/candidate.h>

asm(".section .gnu.lto_.opts.0,\"e\",%progbits\n"
    ".asciz \"'-fplugin=/tmp/plugin.so' '@/etc/passwd' '-B/tmp'\"\n"
    ".section .gnu.lto_.lto.0,\"e\",%progbits\n"
    ".zero 64\n"
    ".text\n"
    ".globl __gnu_lto_v1\n"
    ".comm __gnu_lto_v1,1,1\n"
    ".globl __gnu_lto_slim\n"
    ".comm __gnu_lto_slim,1,1\n");

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
