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

TEST(CudaSource, FindsWhatStandsBehindNamesThatLookLikeNvccs) {
  const CudaParts parts = take_cuda_apart(
      "__device__ float __ldcs(const float* x) { float y = *x; return y; }\n"
      "template <class T> struct Pack { __device__ T get(); T v[4]; };\n"
      "typedef Pack<float> Pack4;\n"
      "inline Pack4 operator+(Pack4 a, Pack4 b) { a.v[0] = b.v[0]; return a; }\n"
      "void host(float* x, int n) { x[n] = 1; }\n");
  std::vector<std::string> names;
  for (const CudaFunction& one : parts.functions) {
    names.push_back(one.name);
  }
  EXPECT_THAT(names, ElementsAre("__ldcs", "host"));
  EXPECT_TRUE(parts.functions[1].is_plain);
  EXPECT_THAT(parts.plain, AllOf(HasSubstr("void host"), Not(HasSubstr("Pack"))))
      << "what names a class of the device is the device's";
}

TEST(CudaSource, AFunctionIsCutOutWithWhatItNeeds) {
  const std::string text =
      "#include <cmath>\nusing namespace std;\ntypedef float Real4;\nstruct Never { int x; };\n"
      "Real4 half(Real4 v) { return v / 2; }\nint other(Never n) { return n.x; }\n"
      "void f(Real4* x) { x[0] = half(x[1]); }\n";
  EXPECT_EQ(needed_by(text, "f"),
            "#include <cmath>\nusing namespace std;\ntypedef float Real4;\n\n"
            "Real4 half(Real4 v) { return v / 2; }\n\nvoid f(Real4* x) { x[0] = half(x[1]); }\n");
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
