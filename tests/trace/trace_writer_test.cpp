// What the file holds beyond what the whole library can be made to write in a short test.
#include "trace/trace_writer.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "worker/profile/trace_file.hpp"

namespace kernelpro::trace {
namespace {

using ::testing::SizeIs;

TEST(TraceWriterTest, BeyondTheLimitRecordsAreCounted) {
  const Result<ScratchDir> scratch = ScratchDir::create("trace-writer-test");
  ASSERT_TRUE(scratch);
  const std::string path = (scratch->path() / "trace").string();
  TraceWriter writer;
  ASSERT_TRUE(writer.open(path, 3));
  for (std::uint64_t i = 1; i <= 5; ++i) {
    if (writer.start('F')) {
      writer.add(8);
      writer.add(0);
      writer.add(i);
      writer.add_times(100 * i, 100 * i + 10);
      writer.end();
    }
  }
  writer.close();
  const Result<std::vector<Trace>> traces = read_trace(path);
  ASSERT_TRUE(traces.ok()) << traces.error().text();
  EXPECT_THAT(traces->front().fills, SizeIs(3));
  EXPECT_EQ(traces->front().problem, "the program did more than a trace holds: 2 records left out");
}

TEST(TraceWriterTest, ANameIsWrittenOnce) {
  const Result<ScratchDir> scratch = ScratchDir::create("trace-writer-test");
  ASSERT_TRUE(scratch);
  const std::string path = (scratch->path() / "trace").string();
  TraceWriter writer;
  ASSERT_TRUE(writer.open(path));
  EXPECT_EQ(writer.name("", "-"), 0U);
  EXPECT_EQ(writer.name("a", "-"), 1U);
  EXPECT_EQ(writer.name("b", "-"), 2U);
  EXPECT_EQ(writer.name("a", "-"), 1U);
  EXPECT_EQ(writer.name("a", "?"), 3U);
  writer.close();
  const Result<std::string> text = read_file(path);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "kernelpro-trace 1\nN 1 - a\nN 2 - b\nN 3 ? a\nE\n");
}

}  // namespace
}  // namespace kernelpro::trace
