#include "coordinator/task/cuda_source.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* launcher_file = R"(#include <cuda_runtime.h>
#include <cmath>
#define CHECK(x) (x)
namespace a {
struct Pair { float x; __host__ __device__ float sum() const { return x; } };
__host__ __device__ inline float twice(float v) { return 2 * v; }
template <typename T>
__global__ void __launch_bounds__(256) kernel(const T* x, T* y, int n) { y[threadIdx.x] = x[0]; }
void launch(const float* x, float* y, int n) {
  kernel<<<1, n>>>(x, y, n);
}
void again(const float* x, float* y, int n) { launch(x, y, n); }
void host(const float* from, float* to, int count) { to[0] = twice(from[0]); }
}  // namespace a
int main() { return 0; }
)";

TEST(CudaSource, TellsKernelsLaunchersAndPlainFunctionsApart) {
  const CudaParts parts = take_cuda_apart(launcher_file);
  std::vector<std::string> kinds;
  for (const CudaFunction& one : parts.functions) {
    const std::string host = one.is_plain ? " plain" : " cuda";
    kinds.push_back(one.name + (one.is_kernel ? " kernel" : host));
  }
  EXPECT_THAT(kinds, ElementsAre("a::twice plain", "a::kernel kernel", "a::launch cuda",
                                 "a::again cuda", "a::host plain", "main cuda"));
  EXPECT_THAT(parts.functions[1].types, ElementsAre("const T*", "T*", "int"));
  EXPECT_THAT(parts.functions[4].names, ElementsAre("from", "to", "count"));
  EXPECT_EQ(parts.functions[2].line, 9);
}

TEST(CudaSource, IsPlainCodeWithoutWhatBelongsToCuda) {
  const CudaParts parts = take_cuda_apart(launcher_file);
  EXPECT_THAT(
      parts.plain,
      AllOf(HasSubstr("#include <cmath>"), HasSubstr("inline float twice(float v)"),
            HasSubstr("void host("), Not(HasSubstr("cuda_runtime")),
            Not(HasSubstr("__device__ inline")), Not(HasSubstr("launch")), Not(HasSubstr("main"))));
  EXPECT_EQ(std::ranges::count(parts.plain, '\n'),
            std::ranges::count(std::string(launcher_file), '\n'));
}

TEST(CudaSource, DeclaresWhatUsesCudaWithoutItsBody) {
  const CudaParts parts = take_cuda_apart(launcher_file);
  EXPECT_THAT(parts.declared,
              AllOf(HasSubstr("void launch(const float* x, float* y, int n) {\n\n}"),
                    HasSubstr("__global__ void __launch_bounds__(256) kernel"),
                    Not(HasSubstr("<<<")), Not(HasSubstr("threadIdx"))));
}

}  // namespace
}  // namespace kernelpro
