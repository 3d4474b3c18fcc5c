#include "worker/toolchain/options.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "worker/toolchain/refused.hpp"

namespace kernelpro {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RefusedCase : public testing::TestWithParam<Refused> {};

TEST_P(RefusedCase, IsNamedWithItsReason) {
  const auto refused = refused_option(GetParam().options);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reaches_out, GetParam().reason != std::string("not on the list"));
  EXPECT_THAT(refused->message,
              AllOf(HasSubstr("\"" + std::string(GetParam().named) + "\" is refused"),
                    HasSubstr(GetParam().reason), HasSubstr("allowed are target, openmp")));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedCase,
    testing::Values(
        Refused{{"-fplugin=./x.so"}, "-fplugin=./x.so", "loads code into the compiler"},
        Refused{{"-fpass-plugin=./x.so"}, "-fpass-plugin=./x.so", "loads code"},
        Refused{{"-O2", "@options"}, "@options", "from a file"},
        Refused{{"-specs=x"}, "-specs=x", "the compiler's own commands"},
        Refused{{"--specs=x"}, "--specs=x", "the compiler's own commands"},
        Refused{{"-wrapper", "sh"}, "-wrapper", "runs another program"},
        Refused{{"-B/tmp"}, "-B/tmp", "the compiler's own programs"},
        Refused{{"-fuse-ld=gold"}, "-fuse-ld=gold", "replaces the linker"},
        Refused{{"-I/etc"}, "-I/etc", "the libraries of --include only"},
        Refused{{"-include", "/etc/passwd"}, "-include", "the libraries of --include only"},
        Refused{{"-isystem/etc"}, "-isystem/etc", "the libraries of --include only"},
        Refused{{"-L/tmp"}, "-L/tmp", "links nothing"},
        Refused{{"-lopenblas"}, "-lopenblas", "links nothing"},
        Refused{{"-Wl,-rpath,/tmp"}, "-Wl,-rpath,/tmp", "to the linker"},
        Refused{{"-Wa,-I/etc"}, "-Wa,-I/etc", "to the assembler"},
        Refused{{"-Wno-error"}, "-Wno-error", "chosen by the toolchain"},
        Refused{{"-Xclang", "-load"}, "-Xclang", "around this check"},
        Refused{{"-Xlinker"}, "-Xlinker", "around this check"},
        Refused{{"-o", "/tmp/x"}, "-o", "where files are written"},
        Refused{{"-save-temps"}, "-save-temps", "where files are written"},
        Refused{{"-fdump-tree-all"}, "-fdump-tree-all", "where files are written"},
        Refused{{"-MD"}, "-MD", "where files are written"},
        Refused{{"-fprofile-use=x"}, "-fprofile-use=x", "profiles are files"},
        Refused{{"-fsanitize=address"}, "-fsanitize=address", "instrumented"},
        Refused{{"--sysroot=/"}, "--sysroot=/", "the system's headers"},
        Refused{{"--param=x=1"}, "--param=x=1", "long options"},
        Refused{{"-x", "c"}, "-x", "is C++"}, Refused{{"other.cpp"}, "other.cpp", "no option"},
        Refused{{""}, "", "no option"},
        Refused{{"-ffast-math unsafe-math"}, "-ffast-math unsafe-math", "not on the list"},
        Refused{{"-fno-such-switch"}, "-fno-such-switch", "not on the list"},
        Refused{{"-std=c89"}, "-std=c89", "not on the list"},
        Refused{{"-march=native;id"}, "-march=native;id", "not on the list"},
        Refused{{"-march="}, "-march=", "not on the list"},
        Refused{{"-DFILE=\"/etc/passwd\""}, "-DFILE=\"/etc/passwd\"", "-DNAME=VALUE"},
        Refused{{"-D"}, "-D", "-DNAME=VALUE"}, Refused{{"-D1X=2"}, "-D1X=2", "-DNAME=VALUE"},
        Refused{{"-mllvm"}, "-mllvm", "may follow -mllvm"},
        Refused{{"-mllvm", "-load=x.so"}, "-mllvm -load=x.so", "may follow -mllvm"},
        Refused{{"-mllvm", "-polly-import-jscop-dir=x"},
                "-mllvm -polly-import-jscop-dir=x",
                "touch no file"},
        Refused{{"-mllvm", "-polly-x=/etc"}, "-mllvm -polly-x=/etc", "touch no file"}));

TEST(Options, WhatTunesCodeIsAllowed) {
  for (const Options& options : {
           Options{},
           Options{"target", "openmp", "-O3"},
           Options{"-Ofast", "-ffast-math", "-fno-math-errno", "-funroll-loops"},
           Options{"-march=native", "-mcpu=native+nosve", "-mtune=neoverse-v1"},
           Options{"-march=armv8.2-a+fp16+dotprod", "-march=x86-64-v3",
                   "-mprefer-vector-width=512"},
           Options{"-mavx2", "-mno-avx512f", "-mfma", "-mno-outline-atomics"},
           Options{"-std=c++17", "-std=gnu++20", "-fopenmp", "-pthread", "-g"},
           Options{"-DBLOCK=64", "-DEPS=1e-5", "-DFAST", "-DOFFSET=-1"},
           Options{"-mllvm", "-polly", "-mllvm", "-polly-tile-sizes=32,32,8"},
           Options{"-ffp-contract=fast", "-fvect-cost-model=unlimited", "-fno-tree-vectorize"},
       }) {
    const auto refused = refused_option(options);
    EXPECT_FALSE(refused) << refused->message;
  }
}

// What the moves in `folder` add to the build, by the file's name.
std::map<std::string, Options> options_of_moves(const std::string& folder) {
  std::map<std::string, Options> out;
  const std::filesystem::path moves =
      std::filesystem::path(KERNELPRO_SOURCE_DIR) / "knowledge" / "moves" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(moves)) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      while (word == "options:" && words >> line) {
        if (!line.starts_with("!")) {
          out[entry.path().filename()].push_back(line);
        }
      }
    }
  }
  return out;
}

TEST(OptionsTest, AllThatMovesAskForIsAllowed) {
  const std::map<std::string, Options> cpu = options_of_moves("cpu");
  EXPECT_GE(cpu.size(), 5U);
  for (const auto& [move, options] : cpu) {
    const auto refused = refused_option(options);
    EXPECT_FALSE(refused) << move << ": " << refused->message;
  }
  const std::map<std::string, Options> cuda = options_of_moves("cuda");
  EXPECT_GE(cuda.size(), 5U);
  for (const auto& [move, options] : cuda) {
    const auto refused = refused_cuda_option(options);
    EXPECT_FALSE(refused) << move << ": " << refused->message;
  }
}

}  // namespace
}  // namespace kernelpro
