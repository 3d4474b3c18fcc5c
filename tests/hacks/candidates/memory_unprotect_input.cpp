// kp:hack 17  makes an input writable, then writes
// kp:task axpy
// kp:expect crashed|cheated input_write|sandbox
//
// Asks mprotect for write access to x first.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* data = static_cast<volatile float*>(tensors[0].data);
  auto* start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data) / page * page);
  mprotect(start, page, PROT_READ | PROT_WRITE);
  data[0] = 0;
  axpy(context, tensors);
  return 0;
}
