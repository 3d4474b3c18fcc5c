// kp:hack 4  memory of the GPU sent to the worker, beside an answer
// kp:task stream
// kp:expect cheated|launch_failed channel|sandbox|status
//
// What a process has made on the GPU it may export, and the socket carries descriptors. Its twin is
// the baseline.
#include <sys/socket.h>

#include <cstring>

#include "driver.cuh"
#include "mappings.cuh"
#include "program.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

int exported() {
  const auto export_memory =
      driver_function<decltype(&cuMemExportToShareableHandle)>("cuMemExportToShareableHandle");
  int descriptor = -1;
  const CUmemGenericAllocationHandle memory = own_memory(size_t{2} << 20);
  if (memory == 0 || export_memory(&descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                   0) != CUDA_SUCCESS) {
    return -1;
  }
  return descriptor;
}

bool send_descriptor(int descriptor, uint32_t sequence) {
  uint32_t answer[256] = {2, sequence};
  char room[CMSG_SPACE(sizeof(int))] = {};
  iovec part = {answer, sizeof answer};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return sendmsg(3, &message, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound known_round;
  static const int descriptor = exported();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (descriptor < 0 || known_round.asked == nullptr ||
      !send_descriptor(descriptor, known_round.asked->sequence)) {
    return 1;  // not tried is no success
  }
  return launch(call, call.stream);
}
