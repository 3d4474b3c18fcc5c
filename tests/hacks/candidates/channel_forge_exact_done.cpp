// kp:hack 4  forged "done" with the right sequence number
// kp:task axpy
// kp:expect cheated channel|late_work|clock
//
// Finds the request in the runner's memory, answers it exactly with a claim of one nanosecond,
// and only then computes.
#include <kernelpro/candidate.h>
#include <link.h>
#include <sys/socket.h>

#include "plain_axpy.hpp"
#include "reply_head.hpp"

namespace {

// The runner's reply as it goes over its control socket, descriptor 3.
struct Reply : ReplyHead {
  char text[512];
};

// Looks through the main program's data for a request "go": op 4, sequence, count, zero.
int find_request(dl_phdr_info* info, size_t, void* data) {
  auto* reply = static_cast<Reply*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
      continue;
    }
    const auto* words = reinterpret_cast<const uint32_t*>(info->dlpi_addr + segment.p_vaddr);
    for (size_t w = 0; w + 4 <= segment.p_memsz / sizeof(uint32_t); ++w) {
      if (words[w] == 4 && words[w + 2] >= 1 && words[w + 2] <= 1024 && words[w + 3] == 0) {
        reply->sequence = words[w + 1];
        reply->calls = words[w + 2];
      }
    }
  }
  return 1;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Reply reply{};
  dl_iterate_phdr(find_request, &reply);
  reply.kind = 2;
  reply.claim_ns = 1;
  send(3, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
  axpy(context, tensors);
  return 0;
}
