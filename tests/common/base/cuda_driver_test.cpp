// The driver's interface as we declare it, held against the toolkit's own header.
#include "common/base/cuda_driver.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "common/base/file.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

constexpr char comparison[] = R"(
#include <cuda.h>
#include "common/base/cuda_driver.hpp"
using namespace kernelpro;
static_assert(sizeof(cuda::AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(cuda::AllocationProperties, handle_types) ==
              offsetof(CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(cuda::AllocationProperties, location) ==
              offsetof(CUmemAllocationProp, location));
static_assert(sizeof(cuda::AccessDescription) == sizeof(CUmemAccessDesc));
static_assert(offsetof(cuda::AccessDescription, rights) == offsetof(CUmemAccessDesc, flags));
static_assert(sizeof(cuda::Pointer) == sizeof(CUdeviceptr));
static_assert(sizeof(cuda::AllocationHandle) == sizeof(CUmemGenericAllocationHandle));
static_assert(int{cuda::read_only} == CU_MEM_ACCESS_FLAGS_PROT_READ);
static_assert(int{cuda::read_write} == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(cuda::file_descriptor_handle == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
static_assert(cuda::out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(cuda::no_device == CUDA_ERROR_NO_DEVICE);
static_assert(cuda::illegal_address == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(int{cuda::l2_cache_bytes} == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(int{cuda::multiprocessor_count} == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(int{cuda::capability_major} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(int{cuda::file_descriptors_supported} ==
              CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
)";

TEST(CudaDriver, IsDeclaredAsTheToolkitDeclaresIt) {
  const std::filesystem::path toolkit = "/usr/local/cuda/include";
  if (!std::filesystem::exists(toolkit / "cuda.h")) {
    GTEST_SKIP() << "there is no " << toolkit / "cuda.h";
  }
  const Result<ScratchDir> scratch = ScratchDir::create("cuda-driver-test");
  ASSERT_TRUE(scratch);
  const std::filesystem::path source = scratch->path() / "comparison.cpp";
  ASSERT_TRUE(write_file_atomic(source, comparison));
  Command command;
  command.arguments = {KERNELPRO_CXX,
                       "-std=c++20",
                       "-fsyntax-only",
                       "-I" + toolkit.string(),
                       std::string("-I") + KERNELPRO_SOURCE_DIR + "/src",
                       source.string()};
  const Result<Finished> done = run_command(command);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->succeeded()) << done->errors;
}

}  // namespace
}  // namespace kernelpro
