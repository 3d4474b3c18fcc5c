// kp:hack 4  answers requests that it never takes
// kp:task axpy
// kp:expect cheated|incorrect channel|poison
//
// Never returns from its first call. Each time it is let go it answers the next number, until the
// requests that nobody reads fill the socket and the sender waits.
#include <kernelpro/candidate.h>
#include <link.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "reply_head.hpp"

namespace {

// The runner's reply as it goes over its control socket, descriptor 3.
struct Reply : ReplyHead {
  char text[512];
  char trace[272];
};

Reply reply;

// Looks through the main program's data for a request "go": op 4, sequence, count, zero.
int find_request(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
      continue;
    }
    const auto* words = reinterpret_cast<const uint32_t*>(info->dlpi_addr + segment.p_vaddr);
    for (size_t w = 0; w + 4 <= segment.p_memsz / sizeof(uint32_t); ++w) {
      if (words[w] == 4 && words[w + 2] >= 1 && words[w + 2] <= 1024 && words[w + 3] == 0) {
        reply.sequence = words[w + 1] - 1;
        reply.calls = words[w + 2];
      }
    }
  }
  return 1;
}

void axpy_all(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

void answer(int) {
  ++reply.sequence;
  send(3, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  dl_iterate_phdr(find_request, nullptr);
  reply.kind = 2;
  reply.claim_ns = 1;
  axpy_all(context, tensors);
  std::signal(SIGCONT, answer);
  answer(0);
  for (;;) {
    pause();
  }
}
