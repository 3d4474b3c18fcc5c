// Builds that include libraries of headers: what they see, what is recorded, what is cached.
#include "worker/toolchain/header_tree.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "worker/toolchain/cuda.hpp"
#include "worker/toolchain/fixture.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;
using testing::StrEq;

using Files = std::map<std::string, std::string>;

HeaderLibrary small_library() {
  return {"small",
          "0123abc",
          {{"small/twice.hpp",
            "#pragma once\n#include \"detail/add.hpp\"\n"
            "inline float twice(float x) { return add(x, x); }\n"},
           {"small/detail/add.hpp",
            "#pragma once\n#include <small/one.hpp>\n"
            "inline float add(float x, float y) { return x + one * y; }\n"},
           {"small/one.hpp", "constexpr float one = 1;\n"},
           {"small/unused.hpp", "#error never included\n"}},
          {}};
}

constexpr const char* using_source = R"(
#include <small/twice.hpp>
#include "kernelpro/candidate.h"
extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  float* out = static_cast<float*>(tensors[0].data);
  for (int64_t i = 0; i < tensors[0].shape[0]; ++i) out[i] = twice(out[i]);
  return 0;
}
)";

class HeaderTreeTest : public ToolchainTest {
 protected:
  [[nodiscard]] Toolchain with(std::vector<HeaderLibrary> libraries) const {
    Toolchain toolchain = open(probed_settings());
    const Status laid = toolchain.use_headers(std::move(libraries));
    EXPECT_TRUE(laid.ok()) << laid.error().text();
    return toolchain;
  }

  [[nodiscard]] static BuildOutcome with_every(const Toolchain& toolchain,
                                               const std::string& source) {
    BuildOutcome last;
    for (const Compiler& compiler : processor_compilers(toolchain)) {
      SCOPED_TRACE(compiler.name);
      last = build(toolchain, {source, compiler.name, {}, {}, {}});
    }
    return last;
  }
};

TEST_F(HeaderTreeTest, ABuildSeesAndRecordsExactlyWhatItIncludes) {
  const Toolchain toolchain = with({small_library(), {"other", "", {{"other.h", "\n"}}, {}}});
  for (const Compiler& compiler : processor_compilers(toolchain)) {
    SCOPED_TRACE(compiler.name);
    const BuildOutcome outcome = build(toolchain, {using_source, compiler.name, {}, {}, {}});
    ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
    ASSERT_THAT(outcome.record.includes, SizeIs(1));
    const IncludedLibrary& library = outcome.record.includes.front();
    EXPECT_EQ(library.name, "small");
    EXPECT_EQ(library.commit, "0123abc");
    EXPECT_THAT(library.files, ElementsAre(Key("small/detail/add.hpp"), Key("small/one.hpp"),
                                           Key("small/twice.hpp")));
    EXPECT_THAT(outcome.record.flags, Not(testing::Contains("-isystem")))
        << "no path of this machine";
  }
}

TEST_F(HeaderTreeTest, WithoutTheLibraryOrAnIncludeNothingIsRecorded) {
  EXPECT_FALSE(build(open(probed_settings()), {using_source, "g++", {}, {}, {}}).ok);
  const BuildOutcome plain = build(with({small_library()}), {doubling_source, "g++", {}, {}, {}});
  ASSERT_TRUE(plain.ok) << plain.diagnostics;
  EXPECT_THAT(plain.record.includes, IsEmpty());
}

TEST_F(HeaderTreeTest, TheCacheKnowsTheHeadersThatAreIncludedAndNoOthers) {
  const ToolchainSettings settings = probed_settings();
  HeaderLibrary library = small_library();
  const auto built_with = [&settings](const HeaderLibrary& one) {
    Toolchain toolchain = open(settings);
    EXPECT_TRUE(toolchain.use_headers({one}).ok());
    return build(toolchain, {using_source, "g++", {}, {}, {}});
  };
  EXPECT_FALSE(built_with(library).cached);
  const BuildOutcome again = built_with(library);
  EXPECT_TRUE(again.cached);
  EXPECT_THAT(again.record.includes, SizeIs(1));
  library.files["small/unused.hpp"] = "#error still not\n";
  EXPECT_TRUE(built_with(library).cached);
  library.files["small/one.hpp"] += "// a comment\n";
  EXPECT_FALSE(built_with(library).cached);
}

// What the compiler does not call a dependency is not there when it compiles.
TEST_F(HeaderTreeTest, WhatIsReadWithoutBeingIncludedIsNotThere) {
  const Toolchain toolchain = with({small_library()});
  const std::string source =
      std::string(using_source) + "asm(\".incbin \\\"../inc/small/small/unused.hpp\\\"\");\n";
  const BuildOutcome outcome = with_every(toolchain, source);
  EXPECT_FALSE(outcome.ok);
}

TEST_F(HeaderTreeTest, LibrariesMayIncludeEachOtherAndNothingElse) {
  HeaderLibrary other = {"other", "", {{"other.h", "#include <small/twice.hpp>\n"}}, {}};
  const std::string uses = source_with("#include \"other.h\"\nfloat four() { return twice(2); }\n");
  const Toolchain both = with({other, small_library()});
  EXPECT_THAT(build(both, {uses, "g++", {}, {}, {}}).record.includes, SizeIs(2));

  for (const char* outside : {"\"/etc/passwd\"", "\"../../../../../../etc/passwd\"",
                              "\"../../../../../../../etc/passwd\""}) {
    other.files["other.h"] = std::string("#include ") + outside + "\n";
    const BuildOutcome outcome =
        build(with({other}), {source_with("#include <other.h>\n"), "g++", {}, {}, {}});
    EXPECT_FALSE(outcome.ok);
    EXPECT_THAT(outcome.diagnostics, Not(HasSubstr("root:")));
    EXPECT_THAT(outcome.diagnostics, HasSubstr("passwd"));
  }
  EXPECT_EQ(
      build(with({other}),
            {source_with("#include <other.h>\n#include \"/etc/passwd\"\n"), "g++", {}, {}, {}})
          .rule,
      "private_file");
}

TEST_F(HeaderTreeTest, AHeaderThatWasLeftOutIsNamedWithTheReason) {
  HeaderLibrary library = small_library();
  library.left_out = {{"small/big.hpp", "it has 104857600 bytes"}};
  const BuildOutcome outcome =
      build(with({library}), {source_with("#include <small/big.hpp>\n"), "g++", {}, {}, {}});
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.diagnostics,
              HasSubstr("note: small/small/big.hpp was left out of the library: it has 104857600"));
}

TEST_F(HeaderTreeTest, PathsThatLeaveALibraryAreRefused) {
  Toolchain toolchain = open(probed_settings());
  for (const char* path : {"../evil.h", "/tmp/evil.h", "a/../../evil.h", "", "folder/"}) {
    const Status refused = toolchain.use_headers({{"small", "", {{path, "x"}}, {}}});
    ASSERT_FALSE(refused.ok()) << path;
    EXPECT_THAT(refused.error().message, HasSubstr("leaves its library"));
  }
  for (const char* name : {"", "..", "a/b", "a b"}) {
    EXPECT_FALSE(toolchain.use_headers({{name, "", {{"x.h", "x"}}, {}}}).ok()) << name;
  }
}

TEST_F(HeaderTreeTest, NvccNamesHeadersOfTheDeviceToo) {
  if (!find_nvcc()) {
    GTEST_SKIP() << "nvcc is not installed: builds of CUDA candidates are not tested";
  }
  HeaderLibrary library = small_library();
  library.files["small/device.hpp"] = "#include <small/one.hpp>\n";
  const std::string source = R"(
#ifdef __CUDA_ARCH__
#include <small/device.hpp>
#endif
extern "C" __global__ void fill(float* x) {
#ifdef __CUDA_ARCH__
  x[threadIdx.x] = one;
#endif
}
)";
  BuildRequest wanted{source, "nvcc", {}, {}, {}};
  wanted.cubin = true;
  for (const bool cubin : {true, false}) {
    wanted.cubin = cubin;
    const BuildOutcome outcome = build(with({library}), wanted);
    ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
    ASSERT_THAT(outcome.record.includes, SizeIs(1));
    EXPECT_THAT(outcome.record.includes.front().files,
                ElementsAre(Key("small/device.hpp"), Key("small/one.hpp")));
    EXPECT_TRUE(build(with({library}), wanted).cached);
    EXPECT_THAT(*read_file(outcome.library), Not(HasSubstr(scratch().string())));
  }
}

// The folder of CUTLASS's headers, where somebody names one.
TEST_F(HeaderTreeTest, ACandidateInCuTeIsBuiltWithWhatItIncludesOfCutlass) {
  const char* const folder = std::getenv("KERNELPRO_TEST_CUTLASS");
  if (folder == nullptr || !find_nvcc()) {
    GTEST_SKIP() << "KERNELPRO_TEST_CUTLASS names no folder of CUTLASS's headers";
  }
  HeaderLibrary cutlass{"cutlass", "", {}, {}};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      cutlass.files[entry.path().lexically_relative(folder).string()] = *read_file(entry.path());
    }
  }
  const std::string source = R"(
#include <cute/tensor.hpp>
#include "kernelpro/candidate.h"
using namespace cute;
__global__ void transpose(const float* in, float* out, int m, int n) {
  const auto from = make_tensor(make_gmem_ptr(in), make_layout(make_shape(m, n), make_stride(n, 1)));
  auto to = make_tensor(make_gmem_ptr(out), make_layout(make_shape(n, m), make_stride(m, 1)));
  const auto tile = make_shape(Int<32>{}, Int<32>{});
  const auto mine = local_tile(from, tile, make_coord(blockIdx.y, blockIdx.x));
  auto theirs = local_tile(to, tile, make_coord(blockIdx.x, blockIdx.y));
  __shared__ float shared[32 * 33];
  auto block = make_tensor(make_smem_ptr(shared),
                           make_layout(tile, make_stride(Int<33>{}, Int<1>{})));
  block(threadIdx.y, threadIdx.x) = mine(threadIdx.y, threadIdx.x);
  __syncthreads();
  theirs(threadIdx.y, threadIdx.x) = block(threadIdx.x, threadIdx.y);
}
extern "C" int kp_launch(const kp_context* c, const kp_tensor* t, int32_t) {
  const int m = static_cast<int>(t[0].shape[0]);
  const int n = static_cast<int>(t[0].shape[1]);
  transpose<<<dim3(n / 32, m / 32), dim3(32, 32), 0, static_cast<cudaStream_t>(c->stream)>>>(
      static_cast<const float*>(t[0].data), static_cast<float*>(t[1].data), m, n);
  return static_cast<int>(cudaGetLastError());
}
)";
  const BuildOutcome outcome = build(with({cutlass}), {source, "nvcc", {}, {}, {}});
  ASSERT_TRUE(outcome.ok) << outcome.diagnostics;
  ASSERT_THAT(outcome.record.includes, SizeIs(1));
  const IncludedLibrary& included = outcome.record.includes.front();
  EXPECT_THAT(included.files, AllOf(testing::Contains(Key(StrEq("cute/tensor.hpp"))),
                                    Not(testing::Contains(Key(StrEq("cutlass/gemm/gemm.h"))))));
  EXPECT_LT(included.files.size(), cutlass.files.size());
  EXPECT_TRUE(build(with({cutlass}), {source, "nvcc", {}, {}, {}}).cached);
}

}  // namespace
}  // namespace kernelpro
