#include "worker/profile/csv.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "worker/profile/mutate.hpp"

namespace kernelpro {
namespace {

using testing::ElementsAre;
using Row = std::vector<std::string>;

std::vector<Row> rows_of(std::string_view text, CsvRow& end) {
  CsvReader reader(text);
  std::vector<Row> rows;
  while ((end = reader.next()) == CsvRow::whole) {
    rows.emplace_back(reader.fields().begin(), reader.fields().end());
  }
  return rows;
}

std::vector<Row> whole_rows_of(std::string_view text) {
  CsvRow end{};
  std::vector<Row> rows = rows_of(text, end);
  EXPECT_EQ(end, CsvRow::end);
  return rows;
}

TEST(Csv, GivesQuotedAndPlainFields) {
  EXPECT_THAT(whole_rows_of("\"a\",b,\"\"\n,\"c,d\",\n"),
              ElementsAre(Row{"a", "b", ""}, Row{"", "c,d", ""}));
}

TEST(Csv, AQuoteInsideQuotesIsDoubled) {
  EXPECT_THAT(whole_rows_of(R"("say ""hi""","""","""a""b""")"
                            "\n"),
              ElementsAre(Row{R"(say "hi")", "\"", R"("a"b")"}));
}

TEST(Csv, FieldsWithDoubledQuotesLiveAsLongAsTheirRow) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "\"\"\"" + std::string(50, static_cast<char>('a' + i % 26)) + "\"\"\",";
  }
  CsvReader reader(text);
  ASSERT_EQ(reader.next(), CsvRow::whole);
  EXPECT_EQ(reader.fields()[0], "\"" + std::string(50, 'a') + "\"");
  EXPECT_EQ(reader.fields()[25], "\"" + std::string(50, 'z') + "\"");
}

TEST(Csv, LineEndsInsideQuotesAreContent) {
  EXPECT_THAT(whole_rows_of("\"one\ntwo\",\"x\"\n\"y\",z\n"),
              ElementsAre(Row{"one\ntwo", "x"}, Row{"y", "z"}));
}

TEST(Csv, LinesEndWithLfOrCrLfOrTheText) {
  EXPECT_THAT(whole_rows_of("a,\"b\"\r\nc,d\r\n\"e\",f"),
              ElementsAre(Row{"a", "b"}, Row{"c", "d"}, Row{"e", "f"}));
  EXPECT_THAT(whole_rows_of(""), ElementsAre());
}

TEST(Csv, ATextThatEndsInsideQuotesIsCut) {
  CsvRow end{};
  EXPECT_THAT(rows_of("\"a\",\"b\"\n\"c\",\"d", end), ElementsAre(Row{"a", "b"}));
  EXPECT_EQ(end, CsvRow::cut);
  EXPECT_THAT(rows_of("\"", end), ElementsAre());
  EXPECT_EQ(end, CsvRow::cut);
}

TEST(Csv, AQuoteWhereNoneMayStandIsMalformed) {
  CsvRow end{};
  for (const char* text : {"\"a\"b,c\n", "a\"b\n", "\"a\" ,b\n"}) {
    rows_of(text, end);
    EXPECT_EQ(end, CsvRow::malformed) << text;
  }
}

TEST(Csv, ReadingGoesOnBehindALineThatIsNoRow) {
  CsvReader reader("\"a\" b\n\"c\"\n");
  ASSERT_EQ(reader.next(), CsvRow::malformed);
  EXPECT_EQ(reader.position(), 0U);
  EXPECT_EQ(reader.line(), "\"a\" b");
  reader.skip_line();
  ASSERT_EQ(reader.next(), CsvRow::whole);
  EXPECT_THAT(reader.fields(), ElementsAre("c"));
  EXPECT_EQ(reader.next(), CsvRow::end);
}

TEST(Csv, FieldsAndRowsHaveALimit) {
  const CsvLimits limits{.field_bytes = 10, .fields = 3};
  const auto ends = [&](const std::string& text) { return CsvReader(text, limits).next(); };
  EXPECT_EQ(ends("\"0123456789\",b\n"), CsvRow::whole);
  EXPECT_EQ(ends("\"0123456789a\",b\n"), CsvRow::malformed);
  EXPECT_EQ(ends("\"0123456789abc"), CsvRow::malformed);
  EXPECT_EQ(ends("0123456789abc,b\n"), CsvRow::malformed);
  EXPECT_EQ(ends("a,b,c\n"), CsvRow::whole);
  EXPECT_EQ(ends("a,b,c,d\n"), CsvRow::malformed);
}

TEST(Csv, FieldsWithoutDoubledQuotesAreNotCopied) {
  const std::string text = "\"abc\",def\n";
  CsvReader reader(text);
  ASSERT_EQ(reader.next(), CsvRow::whole);
  EXPECT_EQ(reader.fields()[0].data(), text.data() + 1);
  EXPECT_EQ(reader.fields()[1].data(), text.data() + 6);
}

TEST(Csv, AnyTextIsReadToItsEnd) {
  Random random(1);
  const std::string text = "\"a\",\"b \"\"c\"\" d\",e\r\n\"1\",\"2\n3\",\"\"\n";
  for (int i = 0; i < 20'000; ++i) {
    const std::string damaged = mutate(text + text, random);
    CsvReader reader(damaged);
    std::size_t before = 0;
    for (CsvRow row = reader.next(); row != CsvRow::end; row = reader.next()) {
      if (row != CsvRow::whole) {
        reader.skip_line();
      }
      ASSERT_GT(reader.position(), before);
      before = reader.position();
    }
    ASSERT_EQ(reader.position(), damaged.size());
  }
}

TEST(MappedFile, HasTheFilesContent) {
  Result<ScratchDir> folder = ScratchDir::create("csv_test");
  ASSERT_TRUE(folder) << folder.error().text();
  const auto path = folder->path() / "x.csv";
  ASSERT_TRUE(write_file_unsynced(path, "a,b\n"));
  Result<MappedFile> file = MappedFile::open(path);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->text(), "a,b\n");
  const MappedFile moved = std::move(*file);
  EXPECT_EQ(moved.text(), "a,b\n");
}

TEST(MappedFile, AnEmptyFileIsAnEmptyText) {
  Result<ScratchDir> folder = ScratchDir::create("csv_test");
  ASSERT_TRUE(folder) << folder.error().text();
  ASSERT_TRUE(write_file_unsynced(folder->path() / "empty", ""));
  const Result<MappedFile> file = MappedFile::open(folder->path() / "empty");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->text(), "");
}

TEST(MappedFile, SaysWhichFileCannotBeRead) {
  const Result<MappedFile> none = MappedFile::open("/no/such/file.csv");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), testing::HasSubstr("/no/such/file.csv"));
  const Result<MappedFile> folder = MappedFile::open("/");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().text(), testing::HasSubstr("is not a file"));
}

}  // namespace
}  // namespace kernelpro
