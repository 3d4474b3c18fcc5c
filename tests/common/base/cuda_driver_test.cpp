// The interfaces of driver and CUPTI as we declare them, held against the toolkit's own headers.
#include "common/base/cuda_driver.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

constexpr char driver[] = R"(
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
static_assert(int{cuda::multiprocessor_threads} ==
              CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
static_assert(int{cuda::multiprocessor_shared_bytes} ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
static_assert(int{cuda::multiprocessor_registers} ==
              CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
static_assert(int{cuda::block_shared_bytes} ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(int{cuda::multiprocessor_blocks} ==
              CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
static_assert(int{cuda::reserved_shared_bytes} ==
              CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
static_assert(int{cuda::capability_major} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(int{cuda::file_descriptors_supported} ==
              CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
)";

// The newest kernel record that the header has.
constexpr char records[] = R"(
#include <cupti.h>
#include <cstddef>
#include "runner/cupti_records.hpp"
namespace cupti = kernelpro::runner::cupti;
template <typename Record>
constexpr bool has_times = offsetof(Record, start) == cupti::start_offset &&
                           offsetof(Record, end) == cupti::end_offset;
static_assert(has_times<CUpti_ActivityMemcpy6>);
static_assert(has_times<CUpti_ActivityMemset4>);
static_assert(has_times<CUpti_ActivityKernel9>);
static_assert(offsetof(CUpti_ActivityKernel9, name) == cupti::name_offset);
#if CUPTI_API_VERSION >= 130000
static_assert(has_times<CUpti_ActivityKernel10>);
static_assert(offsetof(CUpti_ActivityKernel10, name) == cupti::name_offset);
#endif
static_assert(int{cupti::kernel} == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(int{cupti::copy} == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(int{cupti::fill} == CUPTI_ACTIVITY_KIND_MEMSET);
)";

class Toolkit : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Toolkit, DeclaresItAsWeDo) {
  const auto& [header, comparison] = GetParam();
  const std::filesystem::path toolkit = "/usr/local/cuda/include";
  if (!std::filesystem::exists(toolkit / header)) {
    GTEST_SKIP() << "there is no " << toolkit / header;
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

INSTANTIATE_TEST_SUITE_P(Interfaces, Toolkit,
                         ::testing::Values(std::pair("cuda.h", driver),
                                           std::pair("cupti.h", records)),
                         [](const auto& named) { return named.index == 0 ? "Driver" : "Records"; });

}  // namespace
}  // namespace kernelpro
