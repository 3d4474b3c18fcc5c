// Calls of CUDA by their names, of both interfaces and with all their endings.
#include "worker/profile/call_kind.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

TEST(CallKindTest, NamesOfBothInterfacesAreKnown) {
  const std::pair<const char*, CallKind> known[] = {
      {"cudaLaunchKernel", CallKind::launch},
      {"__cudaLaunchKernel", CallKind::launch},
      {"cudaLaunchKernelExC_v11060", CallKind::launch},
      {"cuLaunchKernelEx", CallKind::launch},
      {"cuLaunchCooperativeKernel", CallKind::launch},
      {"cudaGraphLaunch_v10000", CallKind::launch},
      {"cudaDeviceSynchronize", CallKind::synchronize},
      {"cuStreamSynchronize", CallKind::synchronize},
      {"cudaEventSynchronize", CallKind::synchronize},
      {"cuCtxSynchronize_v2", CallKind::synchronize},
      {"cudaMemcpy", CallKind::copy},
      {"cuMemcpyHtoDAsync_v2", CallKind::copy},
      {"cudaMemcpyToSymbolAsync", CallKind::copy},
      {"cudaMemsetAsync", CallKind::fill},
      {"cuMemsetD32Async", CallKind::fill},
      {"cudaMalloc", CallKind::allocate},
      {"cudaMallocAsync", CallKind::allocate},
      {"cudaHostAlloc", CallKind::allocate},
      {"cuMemAlloc_v2", CallKind::allocate},
      {"cuMemCreate", CallKind::allocate},
      {"cudaFree", CallKind::release},
      {"cudaFreeHost", CallKind::release},
      {"cuMemFreeAsync", CallKind::release},
      {"cuMemUnmap", CallKind::release},
  };
  for (const auto& [name, kind] : known) {
    EXPECT_EQ(call_kind(name), kind) << name;
  }
}

TEST(CallKindTest, TheRestIsOther) {
  for (const char* name : {"", "cu", "cuda", "cudaGetDevice", "cudaLaunchHostFunc",
                           "cudaStreamQuery", "cuInit", "cudaGraphAddMemcpyNode", "cudaMemGetInfo",
                           "Memcpy", "cudaStreamWaitEvent", "cudaEventRecord"}) {
    EXPECT_EQ(call_kind(name), CallKind::other) << name;
  }
}

TEST(CallKindTest, StartAndStopOfProfilingAreKnown) {
  EXPECT_TRUE(starts_profiling("cudaProfilerStart"));
  EXPECT_TRUE(starts_profiling("cuProfilerStart"));
  EXPECT_TRUE(stops_profiling("cudaProfilerStop_v4000"));
  EXPECT_FALSE(starts_profiling("cudaProfilerStop"));
  EXPECT_FALSE(stops_profiling("cudaProfilerInitialize"));
}

}  // namespace
}  // namespace kernelpro
