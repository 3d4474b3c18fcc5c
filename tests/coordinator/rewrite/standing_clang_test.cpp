#include "coordinator/rewrite/standing_clang.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "coordinator/rewrite/clang_dump.hpp"
#include "coordinator/rewrite/prepared_headers.hpp"
#include "fixture.hpp"

namespace kernelpro {
namespace {

using testing::gemm;
using ::testing::HasSubstr;
using testing::parse_settings;
using testing::task_folders;
using testing::text_of;

// Settings under which clang stays for sources that begin as `source` does.
struct Standing {
  explicit Standing(const std::string& source) {
    settings.prepared_headers = headers.of(source, settings, {});
    EXPECT_FALSE(settings.prepared_headers.empty());
    settings.standing = &clangs;
  }
  // Whether the source was read by a clang that stays.
  [[nodiscard]] bool reads(const std::string& source) {
    const auto tree = clangs.tree_of(source, settings, {});
    EXPECT_TRUE(tree.ok()) << tree.error().text();
    return tree.ok() && tree->has_value();
  }

  ParseSettings settings = parse_settings();
  PreparedHeaders headers;
  StandingClangs clangs;
};

const std::string tiny = "#include <cstdint>\nint f() {\n  return 1;\n}\n";

TEST(StandingClangTest, EveryBundledSourceReadsTheSame) {
  Standing all(tiny);
  for (const std::filesystem::path& folder : task_folders()) {
    const std::string source = text_of(folder / "baseline.cpp");
    all.settings.prepared_headers = all.headers.of(source, all.settings, {});
    EXPECT_TRUE(all.reads(source)) << folder;
    for (int again = 0; again < 2; ++again) {
      const Result<Program> program = parse_program(source, all.settings);
      ASSERT_TRUE(program.ok()) << program.error().text();
      EXPECT_EQ(*program, testing::parsed(source)) << folder;
    }
  }
}

TEST(StandingClangTest, OneSourceDoesNotChangeTheNext) {
  Standing standing(tiny);
  const std::string odd =
      "#include <cstdint>\n#define int64_t short\n#pragma GCC poison gemm\n"
      "#pragma clang diagnostic error \"-Wunused\"\nnamespace std { using int64_t = char; }\n"
      "void other() {\n  int64_t n = 1;\n}\n";
  const Result<Program> expected = parse_program(gemm(), parse_settings());
  ASSERT_TRUE(expected.ok());
  static_cast<void>(parse_program(odd, standing.settings));
  const Result<Program> program = parse_program(gemm(), standing.settings);
  ASSERT_TRUE(program.ok()) << program.error().text();
  EXPECT_EQ(*program, *expected);
}

TEST(StandingClangTest, MoreSourcesAreReadThanOneProcessTakes) {
  Standing standing(tiny);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(standing.reads(tiny + "int g" + std::to_string(i) + ";\n")) << i;
  }
}

TEST(StandingClangTest, ASourceLongerThanAPipeIsRead) {
  Standing standing(tiny);
  std::string source = tiny;
  for (int i = 0; i < 5000; ++i) {
    source += "int a_variable_of_the_long_source_" + std::to_string(i) + ";\n";
  }
  EXPECT_TRUE(standing.reads(source));
  EXPECT_TRUE(standing.reads(tiny));
}

TEST(StandingClangTest, ASourceThatDoesNotCompileIsToldOfAsEver) {
  Standing standing(tiny);
  for (const char* end : {"int g() {\n  return nothing;\n}\n", "/*", "#if 1\n", "int g() {\n",
                          "\"text", "namespace {\n", "R\"(text"}) {
    const std::string source = tiny + end;
    const Result<Program> expected = parse_program(source, parse_settings());
    const Result<Program> program = parse_program(source, standing.settings);
    ASSERT_FALSE(expected.ok()) << end;
    ASSERT_FALSE(program.ok()) << end;
    EXPECT_EQ(program.error().text(), expected.error().text());
    EXPECT_THAT(program.error().text(), HasSubstr("candidate.cpp:"));
    EXPECT_TRUE(standing.reads(tiny)) << "after " << end;
  }
}

TEST(StandingClangTest, ASourceCannotReadTheMachineNorTheSourcesBehindIt) {
  Standing standing(tiny);
  EXPECT_FALSE(standing.reads(tiny + "#include \"/etc/hostname\"\n"));
  standing.settings.timeout_ms = 2000;
  const auto waits = standing.clangs.tree_of(tiny + "#include \"1.cpp\"\n", standing.settings, {});
  EXPECT_TRUE(!waits.ok() || !waits->has_value());
  standing.settings.timeout_ms = 30'000;
  EXPECT_TRUE(standing.reads(tiny));
}

TEST(StandingClangTest, ASourceWithoutAnEndIsWaitedForNoLongerThanEver) {
  Standing standing(tiny);
  standing.settings.timeout_ms = 2000;
  const Result<Program> program = parse_program(
      tiny +
          "template <int n> struct Fib {\n  static constexpr auto value = [] {\n"
          "    long sum = 0;\n    for (long i = 0; i < 200000; ++i) {\n      sum += i % (n + 1);\n"
          "    }\n    return sum;\n  }();\n};\ntemplate <int n> constexpr long all = "
          "Fib<n>::value + all<n - 1>;\ntemplate <> constexpr long all<0> = 0;\n"
          "long sum = all<800>;\n",
      standing.settings);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().kind, ErrorKind::timeout) << program.error().text();
}

TEST(StandingClangTest, AStopEndsTheWait) {
  Standing standing(tiny);
  std::stop_source stop;
  stop.request_stop();
  const Result<Program> program = parse_program(tiny, standing.settings, stop.get_token());
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().kind, ErrorKind::interrupted);
}

TEST(StandingClangTest, ThreadsReadBesideEachOtherAndMayEnd) {
  Standing standing(tiny);
  const Result<Program> expected = parse_program(gemm(), parse_settings());
  ASSERT_TRUE(expected.ok());
  for (int round = 0; round < 2; ++round) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (int again = 0; again < 3; ++again) {
          const Result<Program> program = parse_program(gemm(), standing.settings);
          EXPECT_TRUE(program.ok() && *program == *expected);
        }
      });
    }
  }
}

TEST(StandingClangTest, WhatIncludesMoreHasAClangOfItsOwn) {
  EXPECT_FALSE(includes_more(tiny));
  EXPECT_TRUE(includes_more(tiny + "#include <vector>\n"));
  Standing standing(tiny);
  const std::string source = tiny + "#include <vector>\nint h() {\n  return 2;\n}\n";
  const Result<Program> program = parse_program(source, standing.settings);
  ASSERT_TRUE(program.ok()) << program.error().text();
  EXPECT_EQ(*program, testing::parsed(source));
}

TEST(StandingClangTest, WithoutClangNoneStays) {
  Standing standing(tiny);
  standing.settings.clang = "/usr/bin/no-such-clang";
  EXPECT_FALSE(standing.reads(tiny));
  const Result<Program> program = parse_program(tiny, standing.settings);
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error().text(), HasSubstr("no-such-clang"));
}

}  // namespace
}  // namespace kernelpro
