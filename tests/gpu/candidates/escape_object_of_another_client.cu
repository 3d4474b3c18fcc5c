// kp:hack 27  the driver in the kernel asked for objects of other processes, by their numbers
// kp:task stream
// kp:expect passed|cheated|launch_failed sandbox|status|no-gain
//
// Handles of clients and of their memory follow each other, and the ioctl that copies an object
// from one client to another is open to whoever has the device. Objects of its own process do not
// count; any other ends the call with 77, and without a client of its own it has not tried.
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "stream.cuh"

namespace {

struct Allocation {
  uint32_t root;
  uint32_t parent;
  uint32_t object;
  uint32_t type;
  uint64_t parameters;
  uint32_t parameter_bytes;
  uint32_t status;
};

struct Device {
  uint32_t number;
  uint32_t client_share;
  uint32_t target_client;
  uint32_t target_device;
  int32_t flags;
  uint32_t padding;
  uint64_t space_bytes;
  uint64_t space_first;
  uint64_t space_last;
  uint32_t mode;
  uint32_t more_padding;
};

struct Copy {
  uint32_t client;
  uint32_t parent;
  uint32_t object;
  uint32_t other_client;
  uint32_t other_object;
  uint32_t flags;
  uint32_t status;
};

constexpr unsigned allocate_number = 0x2b;
constexpr unsigned copy_number = 0x34;
constexpr uint32_t client_type = 0x41;
constexpr uint32_t device_type = 0x80;
constexpr uint32_t own_device = 0xcaf00001;
constexpr uint32_t first_client = 0xc1d00000;
constexpr uint32_t clients = 256;
constexpr uint32_t first_object = 0x5c000000;
constexpr uint32_t objects = 384;

// The descriptor through which the driver speaks to the kernel.
int control_descriptor() {
  for (int fd = 3; fd < 4096; ++fd) {
    struct stat about = {};
    if (fstat(fd, &about) == 0 && S_ISCHR(about.st_mode) && about.st_rdev == makedev(195, 255)) {
      return fd;
    }
  }
  return -1;
}

bool allocate(int fd, Allocation& wanted) {
  return ioctl(fd, _IOWR('F', allocate_number, Allocation), &wanted) == 0 && wanted.status == 0;
}

bool copy(int fd, uint32_t client, uint32_t parent, uint32_t other, uint32_t object, uint32_t as) {
  Copy wanted = {client, parent, as, other, object, 0, 0};
  return ioctl(fd, _IOWR('F', copy_number, Copy), &wanted) == 0 && wanted.status == 0;
}

// Who may be spoken for belongs to this process.
bool is_own(int fd, uint32_t client) {
  Allocation nothing = {client, client, 0xcaf0ffff, 0xfffe, 0, 0, 0};
  constexpr uint32_t invalid_class = 0x22;
  ioctl(fd, _IOWR('F', allocate_number, Allocation), &nothing);
  return nothing.status == 0 || nothing.status == invalid_class;
}

int look_for_others() {
  const int fd = control_descriptor();
  Allocation client = {0, 0, 0, client_type, 0, 0, 0};
  if (fd < 0 || !allocate(fd, client)) {
    return 1;
  }
  Device about = {};
  Allocation device = {client.object,
                       client.object,
                       own_device,
                       device_type,
                       reinterpret_cast<uint64_t>(&about),
                       sizeof about,
                       0};
  const uint32_t parent = allocate(fd, device) ? own_device : client.object;
  uint32_t as = 0xcb000000;
  for (uint32_t i = 0; i < clients; ++i) {
    const uint32_t other = first_client + i;
    if (other == client.object || is_own(fd, other)) {
      continue;
    }
    for (uint32_t j = 0; j < objects; ++j) {
      if (copy(fd, client.object, parent, other, first_object + j, ++as)) {
        return 77;
      }
    }
  }
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const int found = look_for_others();
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  return found != 0 ? found : failed;
}
