// The form of CUPTI's records as we read it, held against the toolkit's own header.
#include "trace/cupti_records.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "common/base/file.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

constexpr char comparison[] = R"(
#include <cupti.h>
#include <cstddef>
#include "trace/cupti_records.hpp"
namespace cupti = kernelpro::trace::cupti;

template <typename Record>
constexpr bool has_times = offsetof(Record, start) == cupti::start &&
                           offsetof(Record, end) == cupti::end;

template <typename Record>
constexpr bool is_kernel =
    has_times<Record> && offsetof(Record, registersPerThread) == cupti::kernel::registers &&
    offsetof(Record, deviceId) == cupti::kernel::device &&
    offsetof(Record, contextId) == cupti::kernel::context &&
    offsetof(Record, streamId) == cupti::kernel::stream &&
    offsetof(Record, gridX) == cupti::kernel::grid &&
    offsetof(Record, gridZ) == cupti::kernel::grid + 8 &&
    offsetof(Record, blockX) == cupti::kernel::block &&
    offsetof(Record, blockZ) == cupti::kernel::block + 8 &&
    offsetof(Record, staticSharedMemory) == cupti::kernel::static_shared &&
    offsetof(Record, dynamicSharedMemory) == cupti::kernel::dynamic_shared &&
    offsetof(Record, localMemoryPerThread) == cupti::kernel::local &&
    offsetof(Record, correlationId) == cupti::kernel::correlation &&
    offsetof(Record, name) == cupti::kernel::name;
static_assert(is_kernel<CUpti_ActivityKernel5>);
static_assert(is_kernel<CUpti_ActivityKernel6>);
static_assert(is_kernel<CUpti_ActivityKernel7>);
static_assert(is_kernel<CUpti_ActivityKernel8>);
static_assert(is_kernel<CUpti_ActivityKernel9>);
#if CUPTI_API_VERSION >= 130000
static_assert(is_kernel<CUpti_ActivityKernel10>);
#endif

template <typename Record>
constexpr bool is_copy =
    has_times<Record> && offsetof(Record, copyKind) == cupti::copy::kind &&
    offsetof(Record, srcKind) == cupti::copy::source &&
    offsetof(Record, dstKind) == cupti::copy::target &&
    offsetof(Record, bytes) == cupti::copy::bytes &&
    offsetof(Record, streamId) == cupti::copy::stream;
template <typename Record>
constexpr bool is_plain_copy =
    is_copy<Record> && offsetof(Record, correlationId) == cupti::copy::correlation;
template <typename Record>
constexpr bool is_peer_copy =
    is_copy<Record> && offsetof(Record, correlationId) == cupti::copy::peer_correlation;
static_assert(is_plain_copy<CUpti_ActivityMemcpy4>);
static_assert(is_plain_copy<CUpti_ActivityMemcpy5>);
static_assert(is_peer_copy<CUpti_ActivityMemcpyPtoP3>);
static_assert(is_peer_copy<CUpti_ActivityMemcpyPtoP4>);
static_assert(cupti::copy::pageable == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);

template <typename Record>
constexpr bool is_fill =
    has_times<Record> && offsetof(Record, bytes) == cupti::fill::bytes &&
    offsetof(Record, streamId) == cupti::fill::stream &&
    offsetof(Record, correlationId) == cupti::fill::correlation;
static_assert(is_fill<CUpti_ActivityMemset3>);
static_assert(is_fill<CUpti_ActivityMemset4>);

static_assert(offsetof(CUpti_ActivityAPI, cbid) == cupti::call::function);
static_assert(offsetof(CUpti_ActivityAPI, start) == cupti::call::start);
static_assert(offsetof(CUpti_ActivityAPI, end) == cupti::call::end);
static_assert(offsetof(CUpti_ActivityAPI, threadId) == cupti::call::thread);
static_assert(offsetof(CUpti_ActivityAPI, correlationId) == cupti::call::correlation);

template <typename Record>
constexpr bool is_device =
    offsetof(Record, computeCapabilityMajor) == cupti::device::major &&
    offsetof(Record, computeCapabilityMinor) == cupti::device::minor &&
    offsetof(Record, id) == cupti::device::id && offsetof(Record, name) == cupti::device::name;
static_assert(is_device<CUpti_ActivityDevice3>);
static_assert(is_device<CUpti_ActivityDevice4>);

static_assert(offsetof(CUpti_CallbackData, callbackSite) == cupti::call_site);
static_assert(CUPTI_API_ENTER == 0);
static_assert(offsetof(CUpti_ResourceData, resourceDescriptor) == cupti::resource_descriptor);
static_assert(offsetof(CUpti_ModuleResourceData, cubinSize) == cupti::cubin_bytes);
static_assert(offsetof(CUpti_ModuleResourceData, pCubin) == cupti::cubin);
static_assert(int{cupti::driver_domain} == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(int{cupti::runtime_domain} == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(int{cupti::resource_domain} == CUPTI_CB_DOMAIN_RESOURCE);
static_assert(int{cupti::module_loaded} == CUPTI_CBID_RESOURCE_MODULE_LOADED);

constexpr bool same(cupti::Kind ours, int theirs) { return static_cast<int>(ours) == theirs; }
static_assert(same(cupti::Kind::copy, CUPTI_ACTIVITY_KIND_MEMCPY));
static_assert(same(cupti::Kind::fill, CUPTI_ACTIVITY_KIND_MEMSET));
static_assert(same(cupti::Kind::driver_call, CUPTI_ACTIVITY_KIND_DRIVER));
static_assert(same(cupti::Kind::runtime_call, CUPTI_ACTIVITY_KIND_RUNTIME));
static_assert(same(cupti::Kind::device, CUPTI_ACTIVITY_KIND_DEVICE));
static_assert(same(cupti::Kind::kernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
static_assert(same(cupti::Kind::peer_copy, CUPTI_ACTIVITY_KIND_MEMCPY2));

static_assert(CUPTI_API_VERSION >= cupti::oldest_version &&
              CUPTI_API_VERSION <= cupti::newest_version);
)";

TEST(CuptiRecordsTest, TheToolkitDeclaresThemAsWeReadThem) {
  const std::filesystem::path toolkit = "/usr/local/cuda/include";
  if (!std::filesystem::exists(toolkit / "cupti.h")) {
    GTEST_SKIP() << "there is no " << toolkit / "cupti.h";
  }
  const Result<ScratchDir> scratch = ScratchDir::create("cupti-records-test");
  ASSERT_TRUE(scratch);
  const std::filesystem::path source = scratch->path() / "comparison.cpp";
  ASSERT_TRUE(write_file_unsynced(source, comparison));
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
