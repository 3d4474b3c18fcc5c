#include "coordinator/suite/suite_file.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "coordinator/report/suite_records.hpp"
#include "coordinator/suite/suite_json.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SchemaFile;
using testing::solved_record;
using testing::suite_record;

SuiteHeader header() {
  SuiteHeader out;
  out.program_version = "0.1.0";
  out.date = "2026-03-01T12:00:00Z";
  out.machine = "NVIDIA H200";
  out.backend = Backend::cuda;
  out.torch = "2.11.0";
  out.kernelbench = "423217d";
  return out;
}

class SuiteFiles : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(scratch_.ok()) << scratch_.error().text(); }

  [[nodiscard]] fs::path file() const { return scratch_->path() / "results.jsonl"; }
  [[nodiscard]] std::string text() const {
    const Result<std::string> found = read_file(file());
    return found.ok() ? *found : "";
  }
  void write(const std::string& content) const {
    EXPECT_TRUE(write_file_unsynced(file(), content).ok());
  }

  // A file with these records; closed again.
  void make(const std::vector<SuiteRecord>& records) const {
    Result<SuiteFile> made = SuiteFile::open(file(), header());
    ASSERT_TRUE(made.ok()) << made.error().text();
    for (const SuiteRecord& record : records) {
      ASSERT_TRUE(made->append(record).ok());
    }
  }

  template <typename T>
  static std::string refusal(const Result<T>& result) {
    EXPECT_FALSE(result.ok());
    if (result.ok()) {
      return "";
    }
    EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
    return result.error().text();
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("suite-file-test");
};

TEST_F(SuiteFiles, WhatWasWrittenIsRead) {
  SuiteRecord whole = solved_record({3, 21}, 100);
  whole.problem_hash = "abcd";
  whole.date = "2026-03-01T12:00:01Z";
  whole.described = R"({"flops":12,"inputs":[]})";
  whole.degenerate = {"zeros pass"};
  whole.untimed = {{"compile", "it fails"}};
  whole.candidate->rule = "r";
  whole.candidate->summary = "s";
  whole.candidate->precision = "tf32";
  whole.candidate->allow_precision = {"tf32"};
  whole.candidate->noise_floor = 0.01;
  SuiteRecord poor = suite_record({1, 2}, {});
  poor.refused = "random";
  poor.failed = "gone";
  make({whole, poor});
  const Result<SuiteContent> content = read_suite_file(file());
  ASSERT_TRUE(content.ok()) << content.error().text();
  EXPECT_EQ(to_json(content->header), to_json(header()));
  ASSERT_EQ(content->records.size(), 2U);
  EXPECT_EQ(to_json(content->records.at({3, 21})), to_json(whole));
  EXPECT_EQ(to_json(content->records.at({1, 2})), to_json(poor));
  EXPECT_EQ(content->records.at({3, 21}).described, whole.described);
}

TEST_F(SuiteFiles, ItsLinesAreAsTheSchemasSay) {
  SuiteRecord refused = suite_record({1, 2}, {{"eager", 5}});
  refused.refused = "random";
  refused.failed = "gone";
  refused.described = "{}";
  EXPECT_EQ(SchemaFile("suite_header.json").complaints(to_json(header())), "");
  EXPECT_EQ(SchemaFile("suite_record.json").complaints(to_json(refused)), "");
  EXPECT_EQ(SchemaFile("suite_record.json").complaints(to_json(solved_record({1, 1}, 10))), "");
  EXPECT_NE(SchemaFile("suite_record.json").complaints(to_json(header())), "");
}

TEST_F(SuiteFiles, TheLastRecordOfAProblemCounts) {
  make({solved_record({1, 1}, 10), solved_record({1, 2}, 10), solved_record({1, 1}, 20)});
  const Result<SuiteContent> content = read_suite_file(file());
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->records.size(), 2U);
  EXPECT_EQ(content->records.at({1, 1}).candidate->time_ns, 20);
}

TEST_F(SuiteFiles, ACutLastLineIsDropped) {
  make({solved_record({1, 1}, 10), solved_record({1, 2}, 10)});
  const std::string whole = text();
  const std::size_t second = whole.rfind('\n', whole.size() - 2) + 1;
  write(whole.substr(0, second + 30));
  const Result<SuiteContent> seen = read_suite_file(file());
  ASSERT_TRUE(seen.ok()) << seen.error().text();
  EXPECT_EQ(seen->records.size(), 1U);
  EXPECT_EQ(text().size(), second + 30);  // reading changes nothing
  make({solved_record({1, 2}, 10)});
  EXPECT_EQ(text(), whole);
}

TEST_F(SuiteFiles, AnotherMachineBackendOrPyTorchIsRefusedWithWhatDiffers) {
  make({});
  SuiteHeader other = header();
  other.machine = "NVIDIA A100";
  other.torch = "2.12.0";
  other.conditions = "threads 2";
  EXPECT_THAT(
      refusal(SuiteFile::open(file(), other)),
      HasSubstr("it was measured elsewhere (machine: NVIDIA H200, now NVIDIA A100; PyTorch: "
                "2.11.0, now 2.12.0; conditions: nothing, now threads 2); name another file "
                "with --into"));
  other = header();
  other.backend = Backend::cpu;
  EXPECT_THAT(refusal(SuiteFile::open(file(), other)), HasSubstr("backend: cuda, now cpu"));
  // Another day, another commit: records say themselves which problem they are of.
  other = header();
  other.date = "2027-01-01T00:00:00Z";
  other.kernelbench = "another";
  EXPECT_TRUE(SuiteFile::open(file(), other).ok());
}

TEST_F(SuiteFiles, AFileOfSomethingElseIsLeftAsItIs) {
  for (const char* content : {"my notes", "my notes\n", "{\"a\": 1}\n", "{}\n{}\n"}) {
    write(content);
    EXPECT_THAT(refusal(SuiteFile::open(file(), header())),
                HasSubstr("it does not hold results of `kernelpro bench kernelbench`"))
        << content;
    EXPECT_EQ(text(), content);
    EXPECT_THAT(refusal(read_suite_file(file())), HasSubstr("it does not hold results"));
  }
  EXPECT_THAT(refusal(read_suite_file(file().parent_path() / "none")), HasSubstr("No such file"));
}

TEST_F(SuiteFiles, AnotherVersionOfTheFormatIsNamed) {
  nlohmann::json later = to_json(header());
  later["kernelbench_suite"] = 2;
  write(later.dump() + "\n");
  EXPECT_THAT(refusal(read_suite_file(file())), HasSubstr("version 2 of the format"));
}

TEST_F(SuiteFiles, ABadLineIsNamedByItsNumber) {
  make({solved_record({1, 1}, 10)});
  const std::string good = text();
  const auto with_line = [&](const std::function<void(nlohmann::json&)>& spoil) {
    nlohmann::json record = to_json(solved_record({1, 2}, 10));
    spoil(record);
    write(good + record.dump() + "\n");
    return refusal(read_suite_file(file()));
  };
  EXPECT_THAT(with_line([](nlohmann::json& r) { r.erase("times"); }),
              HasSubstr("results.jsonl:3: "));
  EXPECT_THAT(with_line([](nlohmann::json& r) { r["level"] = "one"; }), HasSubstr("/level"));
  EXPECT_THAT(with_line([](nlohmann::json& r) { r["problem"] = 0; }), HasSubstr("count from 1"));
  EXPECT_THAT(with_line([](nlohmann::json& r) { r["extra"] = 1; }), HasSubstr("extra"));
  EXPECT_THAT(with_line([](nlohmann::json& r) { r["times"]["eager"] = {1, -1}; }),
              HasSubstr("not a positive number"));
  EXPECT_THAT(with_line([](nlohmann::json& r) { r["candidate"]["outcome"] = "good"; }),
              HasSubstr("/candidate/outcome"));
  write(good + "{\"level\": 1,\n");
  EXPECT_THAT(refusal(SuiteFile::open(file(), header())), HasSubstr("results.jsonl:3: "));
}

TEST_F(SuiteFiles, TwoCannotWriteIt) {
  const Result<SuiteFile> first = SuiteFile::open(file(), header());
  ASSERT_TRUE(first.ok());
  const Result<SuiteFile> second = SuiteFile::open(file(), header());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::busy);
}

TEST_F(SuiteFiles, AFolderThatIsNotThereIsNamed) {
  const Result<SuiteFile> file = SuiteFile::open("/nowhere/at/all.jsonl", header());
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().text(), HasSubstr("/nowhere/at/all.jsonl"));
}

}  // namespace
}  // namespace kernelpro
