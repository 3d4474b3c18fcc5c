#include <gmock/gmock.h>

#include "worker/toolchain/options.hpp"
#include "worker/toolchain/refused.hpp"

namespace kernelpro {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RefusedCudaOption : public testing::TestWithParam<Refused> {};

TEST_P(RefusedCudaOption, IsNamedWithItsReason) {
  const auto refused = refused_cuda_option(GetParam().options);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reaches_out, GetParam().reason != std::string("not on the list"));
  EXPECT_THAT(refused->message,
              AllOf(HasSubstr("\"" + std::string(GetParam().named) + "\" is refused"),
                    HasSubstr(GetParam().reason), HasSubstr("allowed with nvcc are -O0")));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedCudaOption,
    testing::Values(
        Refused{{"-Xcompiler", "-fplugin=x"}, "-Xcompiler", "around this check"},
        Refused{{"-Xcompiler=-fplugin=x"}, "-Xcompiler=-fplugin=x", "around this check"},
        Refused{{"--compiler-options=-B."}, "--compiler-options=-B.", "around this check"},
        Refused{{"-Xlinker", "-T"}, "-Xlinker", "around this check"},
        Refused{{"--linker-options", "x"}, "--linker-options", "around this check"},
        Refused{{"-Xcudafe", "x"}, "-Xcudafe", "around this check"},
        Refused{{"-Xcicc", "x"}, "-Xcicc", "around this check"},
        Refused{{"-Xfatbin", "x"}, "-Xfatbin", "around this check"},
        Refused{{"-Xnvlink", "x"}, "-Xnvlink", "around this check"},
        Refused{{"--ptxas-options=-v"}, "--ptxas-options=-v", "-Xptxas"},
        Refused{{"--options-file", "x"}, "--options-file", "from a file"},
        Refused{{"-optf", "x"}, "-optf", "from a file"}, Refused{{"@x"}, "@x", "from a file"},
        Refused{{"-ccbin", "/tmp"}, "-ccbin", "the host compiler"},
        Refused{{"-ccbin=/tmp"}, "-ccbin=/tmp", "the host compiler"},
        Refused{{"--compiler-bindir=/tmp"}, "--compiler-bindir=/tmp", "the host compiler"},
        Refused{{"--run"}, "--run", "by the judge only"},
        Refused{{"-run-args", "x"}, "-run-args", "by the judge only"},
        Refused{{"-gencode=arch=compute_80,code=sm_80"},
                "-gencode=arch=compute_80,code=sm_80",
                "the architecture"},
        Refused{{"-arch=native"}, "-arch=native", "the architecture"},
        Refused{{"--gpu-architecture=sm_80"}, "--gpu-architecture=sm_80", "the architecture"},
        Refused{{"-code=sm_80"}, "-code=sm_80", "the architecture"},
        Refused{{"--threads", "0"}, "--threads", "how many builds"},
        Refused{{"--threads=8"}, "--threads=8", "how many builds"},
        Refused{{"-t8"}, "-t8", "how many builds"},
        Refused{{"--split-compile=0"}, "--split-compile=0", "how many builds"},
        Refused{{"-I/etc"}, "-I/etc", "the libraries of --include only"},
        Refused{{"-I", "/etc"}, "-I", "the libraries of --include only"},
        Refused{{"-include", "/etc/passwd"}, "-include", "the libraries of --include only"},
        Refused{{"--pre-include=x"}, "--pre-include=x", "not on the list"},
        Refused{{"--include-path=/"}, "--include-path=/", "the libraries of --include only"},
        Refused{{"-isystem=/etc"}, "-isystem=/etc", "the libraries of --include only"},
        Refused{{"-L/tmp"}, "-L/tmp", "links nothing"},
        Refused{{"-lcublas"}, "-lcublas", "links nothing"},
        Refused{{"--library=cublas"}, "--library=cublas", "links nothing"},
        Refused{{"-o", "/tmp/x"}, "-o", "where files are written"},
        Refused{{"--output-file=x"}, "--output-file=x", "where files are written"},
        Refused{{"--keep"}, "--keep", "where files are written"},
        Refused{{"--keep-dir=/tmp"}, "--keep-dir=/tmp", "where files are written"},
        Refused{{"-MD"}, "-MD", "where files are written"},
        Refused{{"-dlink"}, "-dlink", "to link on the device"},
        Refused{{"-dc"}, "-dc", "to link on the device"},
        Refused{{"-rdc=true"}, "-rdc=true", "to link on the device"},
        Refused{{"-cudart=shared"}, "-cudart=shared", "what is linked"},
        Refused{{"-G"}, "-G", "debugger"}, Refused{{"-x", "c"}, "-x", "is CUDA C++"},
        Refused{{"other.cu"}, "other.cu", "no option"}, Refused{{""}, "", "no option"},
        Refused{{"use_fast_math"}, "use_fast_math", "no option"},
        Refused{{"target"}, "target", "no option"}, Refused{{"-O4"}, "-O4", "not on the list"},
        Refused{{"-Ofast"}, "-Ofast", "not on the list"},
        Refused{{"-std=c++11"}, "-std=c++11", "not on the list"},
        Refused{{"-ffast-math"}, "-ffast-math", "not on the list"},
        Refused{{"-fmad=maybe"}, "-fmad=maybe", "not on the list"},
        Refused{{"-fmad", "true"}, "-fmad", "not on the list"},
        Refused{{"-maxrregcount=1;id"}, "-maxrregcount=1;id", "-maxrregcount=N"},
        Refused{{"-maxrregcount", "32"}, "-maxrregcount", "-maxrregcount=N"},
        Refused{{"-maxrregcount=99999"}, "-maxrregcount=99999", "-maxrregcount=N"},
        Refused{{"-diag-suppress=1,"}, "-diag-suppress=1,", "-diag-suppress=N"},
        Refused{{"--diag-error=20"}, "--diag-error=20", "-diag-suppress=N"},
        Refused{{"-D x -I/"}, "-D x -I/", "-DNAME=VALUE"},
        Refused{{"-DX=1 -I/"}, "-DX=1 -I/", "-DNAME=VALUE"},
        Refused{{"-DX=$(id)"}, "-DX=$(id)", "-DNAME=VALUE"},
        Refused{{"-DX=1,Y"}, "-DX=1,Y", "-DNAME=VALUE"},
        Refused{{"-UX -I/"}, "-UX -I/", "not on the list"},
        Refused{{"--use_fast_math -I/"}, "--use_fast_math -I/", "not on the list"},
        Refused{{"---use_fast_math"}, "---use_fast_math", "not on the list"},
        Refused{{"-Xptxas"}, "-Xptxas", "may follow -Xptxas"},
        Refused{{"-Xptxas", "-o,/tmp/x"}, "-Xptxas -o,/tmp/x", "may follow -Xptxas"},
        Refused{{"-Xptxas", "-O3,--options-file=x"},
                "-Xptxas -O3,--options-file=x",
                "may follow -Xptxas"},
        Refused{{"-Xptxas", "-O3 -o x"}, "-Xptxas -O3 -o x", "may follow -Xptxas"},
        Refused{{"-Xptxas", "-O3,"}, "-Xptxas -O3,", "may follow -Xptxas"},
        Refused{{"-Xptxas=-optf=x"}, "-Xptxas=-optf=x", "may follow -Xptxas"},
        Refused{{"-Xptxas=-dlcm=xx"}, "-Xptxas=-dlcm=xx", "may follow -Xptxas"}));

TEST(CudaOptions, WhatTunesKernelsIsAllowed) {
  for (const Options& options : {
           Options{},
           Options{"-O0", "-O1", "-O2", "-O3", "-std=c++17", "-std=c++20"},
           Options{"--use_fast_math", "-use_fast_math", "-ftz=true", "-prec-div=false"},
           Options{"--prec-sqrt=false", "-fmad=false", "--fmad=true", "-maxrregcount=64"},
           Options{"--extra-device-vectorization", "--expt-relaxed-constexpr"},
           Options{"--expt-extended-lambda", "-diag-suppress=177", "-diag-suppress=20,177"},
           Options{"-Xptxas", "-O3", "-Xptxas", "-dlcm=cg,-dscm=wt", "-Xptxas=-warn-spills"},
           Options{"-Xptxas", "--allow-expensive-optimizations=true"},
           Options{"-DBLOCK=64", "-DEPS=1e-5", "-DFAST", "-U__CUDA_NO_HALF_OPERATORS__"},
       }) {
    const auto refused = refused_cuda_option(options);
    EXPECT_FALSE(refused) << refused->message;
  }
}

}  // namespace
}  // namespace kernelpro
