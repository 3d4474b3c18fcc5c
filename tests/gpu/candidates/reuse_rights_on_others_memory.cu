// kp:hack 12  asks the driver for rights on what the other processes have on the GPU
// kp:task stream
// kp:expect passed no-gain
//
// All runners are one user to the driver, who gives out numbers one after the other. Who has the
// right to duplicate the incumbent's objects could map its buffers, and find the same inputs there
// before the clock, or its outputs. The driver says which rights one has: where it names that one,
// the call ends with 77, which its summary shows, and with 1 where it could not be asked.
#include "driver.cuh"
#include "second_context.cuh"
#include "stream.cuh"
#include "timeslice.cuh"

namespace {

constexpr uint32_t get_access_rights = 0xd03;  // NV0000_CTRL_CMD_CLIENT_GET_ACCESS_RIGHTS
constexpr uint32_t may_duplicate = 1;
constexpr uint32_t of_this_process = 16;  // a process has some

struct Rights {
  uint32_t object;
  uint32_t client;
  uint32_t mask;
};

// The rights on a client, which are those on all that it owns.
uint32_t rights_on(const Group& own, uint32_t client) {
  Rights rights = {client, client, 0};
  Control control = {own.client, own.client, get_access_rights, 0, &rights, sizeof rights, 0};
  const int code = real_ioctl(own.descriptor, _IOWR('F', 0x2a, Control), &control);
  return code == 0 && control.status == 0 ? rights.mask : 0;
}

int ask() {
  if (!watch_groups()) {
    return 1;
  }
  in_context(make_second_context(), [] { cudaFree(nullptr); });
  if (group_count == 0 || (rights_on(groups[0], groups[0].client) & may_duplicate) == 0) {
    return 1;
  }
  const uint32_t own = groups[0].client;
  const uint32_t first = own & 0xffff0000U;
  for (uint32_t client = first; client + of_this_process < own; ++client) {
    if ((rights_on(groups[0], client) & may_duplicate) != 0) {
      return 77;
    }
  }
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const int found = ask();
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  return found != 0 ? found : failed;
}
