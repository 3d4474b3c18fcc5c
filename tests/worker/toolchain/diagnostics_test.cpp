#include "worker/toolchain/diagnostics.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

const std::filesystem::path root = "/tmp/scratch";
const std::filesystem::path source_dir = "/tmp/scratch/src";

bool is_private(const std::string& diagnostics) {
  return shows_private_file(diagnostics, source_dir, root);
}

TEST(PrivateFile, IsRecognizedInEveryCompilersWords) {
  for (const char* line : {
           "candidate.cpp:1:10: fatal error: /etc/shadow: Permission denied",
           "cc1plus: fatal error: /etc/shadow: Permission denied",
           "candidate.cpp:1:10: fatal error: ../../../etc/shadow: Permission denied",
           "candidate.cpp:1:10: fatal error: cannot open file '/etc/shadow': Permission denied",
           "c.cpp:1:10: fatal error: cannot open file './../../../etc/x y': Permission denied",
           "../out/cc.s:5: Error: can't open /etc/shadow for reading: Permission denied",
           "../out/cc.s:5: Error: file not found: /etc/passwd",
           "<inline asm>:1:9: error: Could not find incbin file '/etc/passwd'",
           "<inline asm>:1:9: error: Could not find include file '../../../etc/passwd'",
           "candidate.cpp:2:8: fatal error: '/etc/passwd' file not found",
       }) {
    EXPECT_TRUE(is_private(std::string("a line before\n") + line + "\na line after\n")) << line;
  }
}

TEST(PrivateFile, IsNotSeenInHonestMistakes) {
  for (const char* line : {
           "candidate.cpp:1:10: fatal error: missing.h: No such file or directory",
           "candidate.cpp:1:10: fatal error: 'missing.h' file not found",
           "candidate.cpp:1:10: fatal error: '/no/such/file' file not found",
           "../out/cc.s:5: Error: file not found: /no/such/file",
           "<inline asm>:1:9: error: Could not find incbin file '/no/such/file'",
           "candidate.cpp:1:10: fatal error: ../src/own.h: Permission denied",
           "candidate.cpp:1:10: error: 'x' was not declared in this scope",
           "",
       }) {
    EXPECT_FALSE(is_private(line)) << line;
  }
}

TEST(Diagnostics, KeepTheFirstErrorsAndCountTheRest) {
  std::string text = "the first error\n";
  while (text.size() < 100'000) {
    text += "another error\n";
  }
  const std::string capped = cap_text(text);
  EXPECT_LT(capped.size(), 20'000U);
  EXPECT_THAT(capped, testing::StartsWith("the first error\n"));
  EXPECT_THAT(capped, testing::EndsWith("more bytes of compiler output]\n"));
  EXPECT_EQ(cap_text("short\n"), "short\n");
}

}  // namespace
}  // namespace kernelpro
