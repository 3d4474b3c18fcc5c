// kp:hack 33  a thread dies late, and the kernel writes into an output for it
// kp:task axpy
// kp:expect incorrect
//
// Whoever dies holding a robust mutex has its word marked by the kernel: one element of an output
// is left to that, and the thread dies a moment after the return.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  auto* out = static_cast<float*>(tensors[2].data);
  std::thread([out] {
    static thread_local robust_list_head head;
    head.list.next = &head.list;
    head.futex_offset = 0;
    *reinterpret_cast<uint32_t*>(out) = static_cast<uint32_t>(gettid());
    head.list_op_pending = reinterpret_cast<robust_list*>(out);
    syscall(SYS_set_robust_list, &head, sizeof head);
    usleep(20000);
  }).detach();
  return 0;
}
