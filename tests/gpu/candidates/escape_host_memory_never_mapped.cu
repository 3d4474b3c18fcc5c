// kp:hack 27  memory of the host made through the driver and mapped nowhere
// kp:task stream
// kp:expect passed|out_of_memory|crashed|timed_out|launch_failed|cheated status|sandbox|no-gain
//
// Pages that no process maps are in nobody's resident memory, and the heap's limit does not see
// them. A gibibyte in each call until it is refused; stops by itself at 12 GiB, or when a quarter
// of the machine's memory is left, and is right then. Its end gives the memory back.
#include <sys/sysinfo.h>

#include "driver.cuh"
#include "stream.cuh"

namespace {

bool take_a_gibibyte() {
  static const auto create = driver_function<decltype(&cuMemCreate)>("cuMemCreate");
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  properties.location.id = 0;
  CUmemGenericAllocationHandle handle = 0;
  return create(&handle, size_t{1} << 30, &properties, 0) == CUDA_SUCCESS;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int taken = 0;
  struct sysinfo machine{};
  const bool room = sysinfo(&machine) == 0 && machine.freeram > machine.totalram / 4;
  if (taken < 12 && room) {
    if (!take_a_gibibyte()) {
      return 1;
    }
    ++taken;
  }
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
