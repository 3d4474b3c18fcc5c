// kp:hack 30  calls overlap, the incumbent's single calls are slowed, and its death slows them again
// kp:task rows
// kp:expect cheated|incorrect|timed_out|crashed|out_of_memory|launch_failed|passed poison|clock|values|status|no-gain
//
// What the incumbent's single calls take beside the candidate counts up to 10.5 us, unless they
// take less when its process is gone; they are asked right then, nine of them. A process that dies
// with sixty gibibytes in pieces of the GPU's memory, and as much in mappings, has all of it
// cleared and taken apart while they run: then they are no shorter. Single claims are forged. Its
// twin is honest_much_scratch_kept.cu.
#include <chrono>

#include "driver.cuh"
#include "mappings.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "second_context.cuh"
#include "spin.cuh"
#include "turns_taken.cuh"
#include "unforked.cuh"

namespace {

SingleTimes times;

double now_us() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

// Once it is timed: what is left of the memory, but for a part that the judge may want.
bool take_memory() {
  constexpr size_t piece = size_t{16} << 20;
  constexpr size_t most = size_t{60} << 30;
  constexpr size_t spared = size_t{24} << 30;
  const auto reserve = driver_function<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
  const auto map = driver_function<decltype(&cuMemMap)>("cuMemMap");
  const auto allow = driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  size_t free_bytes = 0;
  size_t all_bytes = 0;
  CUdeviceptr base = 0;
  if (cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess || free_bytes < spared + piece ||
      reserve(&base, most, 0, 0, 0) != CUDA_SUCCESS) {
    return false;
  }
  const size_t wanted = (free_bytes - spared < most ? free_bytes - spared : most) / piece * piece;
  size_t at = 0;
  for (; at < wanted; at += piece) {
    const CUmemGenericAllocationHandle handle = own_memory(piece);
    if (handle == 0 || map(base + at, piece, 0, handle, 0) != CUDA_SUCCESS) {
      break;
    }
  }
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return at > 0 && allow(base, at, &access, 1) == CUDA_SUCCESS &&
         cudaMemset(reinterpret_cast<void*>(base), 1, at) == cudaSuccess;
}

bool taken = false;
int (*let_go)() = nullptr;

// Off the clock, before the first round that counts.
int take_before_ready() {
  static bool tried = false;
  if (!tried && known_round.asked != nullptr && known_round.asked->count > 16) {
    tried = true;
    taken = take_memory();
    static_cast<void>(cudaGetLastError());
  }
  return let_go();
}

bool set_up() {
  let_go = driver_function<int (*)()>("cuCtxResetPersistingL2Cache");
  return let_go != nullptr && forge_singles() && call_before_ready(take_before_ready);
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  times = {};
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  cudaFree(nullptr);
  static KernelsInARow kernels;
  const Call call = call_of(context, tensors);
  known_round.note(context);
  if (!ready || !kernels.good || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (!by_itself()) {
    return launch_beside(call);
  }
  const int failed = launch(call, call.stream);
  if (known_round.asked->gate != 0 && times.note(now_us()) && taken) {
    const double all_us = times.after_first_us > 0 ? times.after_first_us : 3000;
    kernels.leave(end_of(call.stream), 0.1 * all_us, 0.3 * all_us);
  }
  return failed;
}
