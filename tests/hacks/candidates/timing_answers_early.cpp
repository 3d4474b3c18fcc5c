// kp:hack 4  the answer sent while the last elements are still computed
// kp:task axpy
// kp:expect passed|cheated|incorrect not-faster|late_work|channel|poison|clock
//
// What the worker takes to wake up and to stop the runner is taken off its clock, as the empty
// rounds show it. So the answer goes out before the work ends, by as much as stopping was seen to
// take, and the runner's own answer is swallowed.
#include <kernelpro/candidate.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "patched_calls.hpp"
#include "reply_head.hpp"

namespace {

struct Reply : ReplyHead {
  char rest[4096];
};

struct Request {
  uint32_t op;
  uint32_t sequence;
  uint32_t count;
  uint32_t option;
};

const Request* request = nullptr;
uint32_t sequence = 0;
uint32_t place = 0;
bool swallow = false;
size_t reply_bytes = 0;
int64_t began = 0;
int64_t shortest_stop = 0;
double element_ns = 0;

int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

ssize_t send_or_swallow(int fd, const msghdr* message, int flags) {
  reply_bytes = message->msg_iov->iov_len;
  if (swallow) {
    swallow = false;
    return static_cast<ssize_t>(reply_bytes);
  }
  return syscall(SYS_sendmsg, fd, message, flags);
}

int find_request(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
      continue;
    }
    const auto* words = reinterpret_cast<const uint32_t*>(info->dlpi_addr + segment.p_vaddr);
    for (size_t w = 0; w + 1024 <= segment.p_memsz / 4; w += 2) {
      if (words[w] == 4 && words[w + 2] >= 1 && words[w + 2] <= 1024 && words[w + 3] == 0) {
        request = reinterpret_cast<const Request*>(words + w);
      }
    }
  }
  return 1;
}

__attribute__((noinline)) void axpy(float alpha, const float* x, const float* y, float* out,
                                    int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

// Until the clock jumps: the last moment before the stop.
int64_t wait_for_stop() {
  constexpr int64_t jump = 150000;
  const int64_t start = now();
  for (int64_t last = start;;) {
    const int64_t next = now();
    if (next - last > jump || next - start > 50 * jump) {
      return last;
    }
    last = next;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
    Patch patch{"sendmsg", reinterpret_cast<void*>(&send_or_swallow)};
    dl_iterate_phdr(patch_object, &patch);
  }
  if (request->sequence != sequence) {
    sequence = request->sequence;
    place = 0;
    began = now();
  }
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  if (++place != request->count || reply_bytes == 0 || n < 100000) {
    axpy(alpha, x, y, out, 0, n);
    return 0;
  }
  const int64_t start = now();
  const int64_t late =
      element_ns > 0 ? static_cast<int64_t>(0.6 * static_cast<double>(shortest_stop) / element_ns)
                     : 0;
  const int64_t early = n - std::min(late, n / 2);
  axpy(alpha, x, y, out, 0, early);
  const int64_t sent = now();
  Reply reply{};
  reply.kind = 2;
  reply.sequence = sequence;
  reply.claim_ns = sent - began;
  reply.calls = request->count;
  send(3, &reply, reply_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  const bool stopped_at_once = now() - sent > 150000;
  axpy(alpha, x, y, out, early, n);
  element_ns = static_cast<double>(sent - start) / static_cast<double>(early);
  const int64_t stopped = stopped_at_once ? 1 : wait_for_stop() - sent;
  shortest_stop = shortest_stop == 0 ? stopped : std::min(shortest_stop, stopped);
  swallow = true;
  return 0;
}
