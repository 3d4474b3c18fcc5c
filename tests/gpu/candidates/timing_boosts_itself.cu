// kp:hack 9  asks the driver for higher clocks before its own rounds, and takes it back behind them
// kp:task stream
// kp:expect cheated|launch_failed|passed clock|sandbox|status|no-gain
//
// Not by the library that manages GPUs, which is out of reach, but as the driver's library does it
// for a context: a request to the kernel's module on a descriptor that the process has. What the
// clocks do in its own rounds is not undone in the incumbent's by anyone else. Its twin is
// honest_times_itself.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "second_context.cuh"
#include "stream.cuh"
#include "timeslice.cuh"

namespace {

// NV_ESC_RM_ALLOC.
struct Allocation {
  uint32_t client;
  uint32_t parent;
  uint32_t object;
  uint32_t kind;
  void* parameters;
  uint32_t bytes;
  uint32_t status;
};

struct Boost {
  uint32_t flags;
  uint32_t seconds;
};

uint32_t device = 0;  // the parent of a group of channels
constexpr uint32_t subdevice = 0xcafe2080;
int (*let_go)() = nullptr;
int (*real_wait)() = nullptr;

int watch_device(int descriptor, unsigned long request, void* argument) {
  const auto* words = static_cast<const uint32_t*>(argument);
  if (_IOC_TYPE(request) == 'F' && _IOC_NR(request) == 0x2b && words[3] == channel_group) {
    device = words[1];
  }
  return watch_ioctl(descriptor, request, argument);
}

bool allocate_subdevice() {
  constexpr uint32_t subdevice_kind = 0x2080;
  uint32_t first = 0;
  Allocation allocation = {groups[0].client, device,       subdevice, subdevice_kind,
                           &first,           sizeof first, 0};
  return real_ioctl(groups[0].descriptor, _IOWR('F', 0x2b, Allocation), &allocation) == 0 &&
         allocation.status == 0;
}

// 0 takes back what was asked for, 2 asks for the highest.
bool boost(uint32_t command, uint32_t seconds) {
  constexpr uint32_t perf_boost = 0x2080200a;
  constexpr uint32_t for_computing = 1U << 4 | 1U << 6;
  Boost asked = {command | for_computing, seconds};
  Control control = {groups[0].client, subdevice, perf_boost, 0, &asked, sizeof asked, 0};
  return real_ioctl(groups[0].descriptor, _IOWR('F', 0x2a, Control), &control) == 0 &&
         control.status == 0;
}

int boost_before_ready() {
  boost(2, 1);
  return let_go();
}

int wait_and_give_back() {
  const int code = real_wait();
  boost(0, 0);
  return code;
}

int redirect_again(dl_phdr_info* info, size_t, void*) {
  if (info->dlpi_name == nullptr || std::strstr(info->dlpi_name, "libcuda.so") == nullptr) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
      continue;
    }
    const uint64_t begin = (info->dlpi_addr + segment.p_vaddr + 7) / 8 * 8;
    const uint64_t end = (info->dlpi_addr + segment.p_vaddr + segment.p_filesz) / 8 * 8;
    replace_in(reinterpret_cast<uint64_t*>(begin), (end - begin) / 8,
               reinterpret_cast<uint64_t>(watch_ioctl), reinterpret_cast<uint64_t>(watch_device));
  }
  return 1;
}

bool set_up() {
  if (!watch_groups()) {
    return false;
  }
  dl_iterate_phdr(redirect_again, nullptr);
  if (make_second_context() == nullptr || group_count == 0 || device == 0) {
    return false;
  }
  let_go = driver_function<int (*)()>("cuCtxResetPersistingL2Cache");
  real_wait = driver_function<int (*)()>("cuCtxSynchronize");
  return allocate_subdevice() && boost(2, 1) && let_go != nullptr && real_wait != nullptr &&
         call_before_ready(boost_before_ready) &&
         replace_in_program("cuCtxSynchronize", reinterpret_cast<void*>(wait_and_give_back));
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  return ready ? launch(call, call.stream) : 1;  // not tried is no success
}
