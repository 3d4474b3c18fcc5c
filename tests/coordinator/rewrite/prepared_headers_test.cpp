#include "coordinator/rewrite/prepared_headers.hpp"

#include <gmock/gmock.h>

#include "fixture.hpp"

namespace kernelpro {
namespace {

using testing::parse_settings;
using testing::task_folders;
using testing::text_of;

TEST(PreparedHeadersTest, TakesTheHeadersInFrontOfEverythingElse) {
  EXPECT_EQ(leading_includes("// A kernel.\n\n#include <cmath>\n/* more */\n#include <cstdint>\n\n"
                             "#include \"kernelpro/candidate.h\"\n#include <vector>\n"),
            "#include <cmath>\n#include <cstdint>\n#include \"kernelpro/candidate.h\"\n"
            "#include <vector>\n");
  EXPECT_EQ(leading_includes("#include <cmath>\n#include \"own.h\"\n#include <vector>\n"),
            "#include <cmath>\n");
  EXPECT_EQ(leading_includes("#define HUGE 1\n#include <cmath>\n"), "");
  EXPECT_EQ(leading_includes("#include <cmath> \\\n\n"), "");
  EXPECT_EQ(leading_includes("#include <cmath"), "");
  EXPECT_EQ(leading_includes(""), "");
}

TEST(PreparedHeadersTest, AreReadInsteadOfTheHeadersThemselves) {
  PreparedHeaders headers;
  ParseSettings settings = parse_settings();
  settings.prepared_headers = headers.of("#include <cstdint>\n", settings, {});
  ASSERT_FALSE(settings.prepared_headers.empty());
  EXPECT_TRUE(parse_program("std::int64_t f();\n", settings).ok());
  EXPECT_FALSE(parse_program("std::int64_t f();\n", parse_settings()).ok());
}

TEST(PreparedHeadersTest, EveryBundledSourceReadsTheSameWithThem) {
  PreparedHeaders headers;
  for (const std::filesystem::path& folder : task_folders()) {
    const std::string source = text_of(folder / "baseline.cpp");
    ParseSettings settings = parse_settings();
    settings.prepared_headers = headers.of(source, settings, {});
    EXPECT_FALSE(settings.prepared_headers.empty()) << folder;
    const Result<Program> program = parse_program(source, settings);
    ASSERT_TRUE(program.ok()) << program.error().text();
    EXPECT_EQ(print_program(*program), print_program(testing::parsed(source))) << folder;
  }
}

TEST(PreparedHeadersTest, AHeaderThatDoesNotExistOrMayNotBeReadIsLeftToTheSource) {
  PreparedHeaders headers;
  EXPECT_EQ(headers.of("#include <no_such_header>\n", parse_settings(), {}), "");
  EXPECT_EQ(headers.of("#include </etc/hostname>\n", parse_settings(), {}), "");
}

TEST(PreparedHeadersTest, OneSetIsPreparedOnce) {
  PreparedHeaders headers;
  const std::string source = "#include <cstdint>\nint f();\n";
  const std::filesystem::path first = headers.of(source, parse_settings(), {});
  EXPECT_EQ(headers.of("#include <cstdint>\nint g();\n", parse_settings(), {}), first);
  EXPECT_NE(headers.of("#include <cstddef>\nint g();\n", parse_settings(), {}), first);
}

}  // namespace
}  // namespace kernelpro
