// The public header stands on its own in every language it promises. Those under src/ are each
// compiled alone by the build (kp_lone_headers).
#include <gmock/gmock.h>

#include "common/base/process.hpp"
#include "house/source_tree.hpp"

namespace kernelpro {
namespace {

Finished compile_alone(const std::filesystem::path& header, const std::string& language,
                       const std::string& standard) {
  Command command;
  command.arguments = {KERNELPRO_CXX, "-fsyntax-only",    "-Wall",    "-Wextra",
                       "-Werror",     "-std=" + standard, "-include", header.string(),
                       "-x",          language,           "/dev/null"};
  const Result<Finished> done = run_command(command);
  EXPECT_TRUE(done.ok()) << done.error().text();
  return done.ok() ? *done : Finished{};
}

TEST(HeadersTest, ThePublicInterfaceIsPlainCAndAnyCpp) {
  const std::vector<std::filesystem::path> headers = files_under(source_tree / "include", {".h"});
  ASSERT_FALSE(headers.empty());
  for (const std::filesystem::path& header : headers) {
    for (const auto& [language, standard] :
         {std::pair("c", "c99"), std::pair("c++", "c++11"), std::pair("c++", "c++20")}) {
      const Finished done = compile_alone(header, language, standard);
      EXPECT_TRUE(done.succeeded()) << header << " as " << standard << "\n" << done.errors;
    }
  }
}

}  // namespace
}  // namespace kernelpro
