#include "worker/cuda/gpu.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using testing::HasSubstr;

constexpr const char* nvcc_13 = "Cuda compilation tools, release 13.0, V13.0.88";

TEST(DriverVersion, TakesEveryToolkitUpToItsOwnMajorVersion) {
  EXPECT_TRUE(check_driver(13000, nvcc_13));
  EXPECT_TRUE(check_driver(13020, nvcc_13));
  EXPECT_TRUE(check_driver(12040, "Cuda compilation tools, release 12.8, V12.8.9"));
  EXPECT_TRUE(check_driver(13000, "Cuda compilation tools, release 12.8, V12.8.9"));
  EXPECT_TRUE(check_driver(12040, "an nvcc that does not say")) << "then the driver will";
}

TEST(DriverVersion, SaysWhatToDoWhenTheDriverIsTooOld) {
  const Status old = check_driver(12040, nvcc_13);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().kind, ErrorKind::environment);
  EXPECT_THAT(old.error().message,
              HasSubstr("the driver speaks CUDA 12.4 and nvcc is of CUDA 13.0: update the driver, "
                        "or set CUDA_HOME to a toolkit of CUDA 12"));
}

}  // namespace
}  // namespace kernelpro
