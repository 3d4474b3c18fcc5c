// Certificates come back as they were, and take little room.
#include <sqlite3.h>

#include "coordinator/store/certificate_parts.hpp"
#include "coordinator/store/columns.hpp"
#include "coordinator/store/deflate.hpp"
#include "coordinator/store/fixture.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::begun_node;
using testing::certificate_of;
using testing::error_text;
using ::testing::HasSubstr;
using testing::judged_node;
using testing::new_run;
using ::testing::Not;
using testing::source_of;

class CertificatesTest : public testing::StoreTest {
 protected:
  void keep(Store& store, NodeId id, const Certificate& certificate) {
    ASSERT_TRUE(store.add_node(run_.id, begun_node(id), source_of(id)).ok());
    const Status kept = store.finish_node(run_.id, judged_node(id), &certificate);
    ASSERT_TRUE(kept.ok()) << kept.error().text();
  }

  void expect_kept(const Store& store, NodeId id, const Certificate& certificate) {
    const Result<std::optional<Certificate>> read = store.load_certificate(run_.id, id);
    ASSERT_TRUE(read.ok()) << read.error().text();
    ASSERT_TRUE(read->has_value());
    EXPECT_EQ(to_json(**read), to_json(certificate));
  }

  // As a tool beside us would.
  void sql(const std::string& text) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  kernelpro::Run run_ = new_run();
};

TEST_F(CertificatesTest, ComeBackAsTheyWereAlsoFromAnotherProcess) {
  Certificate failed = certificate_of(0);
  failed.verdict.outcome = Outcome::build_failed;
  failed.verdict.evidence = {"error: \"quotes\"\nand lines"};
  Certificate elsewhere = certificate_of(2);
  elsewhere.task.name = "changed_since";
  elsewhere.ceilings.list.front().high = 4;
  elsewhere.incumbent.source = source_of(1);
  {
    Store store = open();
    ASSERT_TRUE(store.create_run(run_).ok());
    keep(store, 0, failed);
    keep(store, 1, certificate_of(1));
    keep(store, 2, elsewhere);
    keep(store, 3, certificate_of(3));
    expect_kept(store, 2, elsewhere);
  }
  const Store store = open(StoreMode::read);
  expect_kept(store, 3, certificate_of(3));
  expect_kept(store, 0, failed);
  expect_kept(store, 1, certificate_of(1));
  expect_kept(store, 2, elsewhere);
}

TEST_F(CertificatesTest, AreAbsentForNodesInFlightAndDuplicates) {
  Store store = open();
  ASSERT_TRUE(store.create_run(run_).ok());
  ASSERT_TRUE(store.add_node(run_.id, begun_node(0), source_of(0)).ok());
  ASSERT_TRUE(store.load_certificate(run_.id, 0).ok());
  EXPECT_FALSE(store.load_certificate(run_.id, 0)->has_value());
  Node node = begun_node(0);
  node.state = NodeState::duplicate;
  ASSERT_TRUE(store.finish_node(run_.id, node, nullptr).ok());
  EXPECT_FALSE(store.load_certificate(run_.id, 0)->has_value());
}

TEST_F(CertificatesTest, AreReplacedWhenANodeIsJudgedAgain) {
  Store store = open();
  ASSERT_TRUE(store.create_run(run_).ok());
  keep(store, 0, certificate_of(0));
  keep(store, 1, certificate_of(1));
  Certificate second = certificate_of(0);
  second.date = "2025-01-01T00:00:00Z";
  ASSERT_TRUE(store.finish_node(run_.id, judged_node(0), &second).ok());
  expect_kept(store, 0, second);
  expect_kept(store, 1, certificate_of(1));
}

TEST_F(CertificatesTest, SayWhichNodeIsDamagedAndWhatIsMissing) {
  Store store = open();
  ASSERT_TRUE(store.create_run(run_).ok());
  keep(store, 0, certificate_of(0));
  keep(store, 1, certificate_of(1));
  sql("UPDATE certificates SET packed = substr(packed, 1, length(packed) - 9) WHERE node = 0");
  EXPECT_THAT(error_text(store.load_certificate(run_.id, 0)),
              AllOf(HasSubstr("the certificate of node 0 cannot be read"),
                    HasSubstr("put a copy of the store back")));
  expect_kept(store, 1, certificate_of(1));
  sql("DELETE FROM documents");
  EXPECT_THAT(error_text(store.load_certificate(run_.id, 1)),
              AllOf(HasSubstr("node 1"), HasSubstr("the document "), HasSubstr("is missing")));
  EXPECT_EQ(store.load_certificate(run_.id, 1).error().kind, ErrorKind::io);
}

TEST(CertificateParts, LeaveOutTaskCeilingsAndSources) {
  const Certificate certificate = certificate_of(1);
  const store::CertificateParts parts = store::take_apart(certificate);
  EXPECT_THAT(parts.rest, AllOf(Not(HasSubstr("reference.hpp")), Not(HasSubstr("machine key")),
                                Not(HasSubstr("kp_launch"))));
  EXPECT_THAT(parts.rest, HasSubstr(sha256(source_of(1))));
}

TEST(CertificateParts, RefuseATextThatHasNoHashes) {
  const auto nothing = [](const std::string&) { return Result<std::string>(std::string("{}")); };
  EXPECT_THAT(error_text(store::put_together("{}", nothing, nothing)),
              HasSubstr("no hash at /task"));
  EXPECT_THAT(error_text(store::put_together("not JSON", nothing, nothing)),
              HasSubstr("not valid JSON"));
}

TEST(Columns, TurnRecordsOfTheSameKeysAndBack) {
  const auto records = nlohmann::json::parse(
      R"([{"a": 1, "b": {"x": 1, "y": 2}}, {"a": null, "b": {"x": 3, "y": 4}}])");
  const auto columns =
      nlohmann::json::parse(R"({"[]": {"a": [1, null], "b": {"[]": {"x": [1, 3], "y": [2, 4]}}}})");
  EXPECT_EQ(store::to_columns(records), columns);
  EXPECT_EQ(store::from_columns(columns), records);
}

TEST(Columns, LeaveEverythingElseAsItIs) {
  for (const char* text : {"[]", "{}", "3", R"([{"a": 1}])", R"([{"a": 1}, {"b": 1}])",
                           R"([{"a": 1}, {"a": 1, "b": 2}])", R"([{}, {}])", R"([[1, 2], [3]])",
                           R"([{"a": 1}, 2])", R"({"a": [{"b": [{"c": 1}]}]})"}) {
    const auto value = nlohmann::json::parse(text);
    EXPECT_EQ(store::to_columns(value), value);
    EXPECT_EQ(store::from_columns(value), value);
  }
  const auto uneven = nlohmann::json::parse(R"({"[]": {"a": [1, 2], "b": [1]}})");
  EXPECT_EQ(store::from_columns(uneven), uneven);
}

TEST(PackText, GivesTheTextBackWithAndWithoutAModel) {
  std::string text;
  for (int i = 0; i < 9000; ++i) {
    text += std::to_string(i) + ",";
  }
  for (const std::string& model : {std::string(), std::string("0,1,2,3,4,5"), text}) {
    for (const store::Packing packing : {store::Packing::small, store::Packing::quick}) {
      const Result<std::string> packed = store::pack_text(text, model, packing);
      ASSERT_TRUE(packed.ok());
      EXPECT_LT(packed->size(), text.size() / 2);
      const Result<std::string> read = store::unpack_text(*packed, model);
      ASSERT_TRUE(read.ok()) << read.error().text();
      EXPECT_EQ(*read, text);
    }
  }
  EXPECT_EQ(*store::unpack_text(*store::pack_text("", ""), ""), "");
}

TEST(PackText, SaysWhenTheModelIsAnotherOrThePackedTextIsDamaged) {
  const std::string packed = *store::pack_text("some text", "a model of some text");
  EXPECT_THAT(error_text(store::unpack_text(packed, "another")),
              HasSubstr("packed with another model"));
  EXPECT_THAT(error_text(store::unpack_text(packed, "")), HasSubstr("packed with another model"));
  const std::string plain = *store::pack_text("some text", "");
  EXPECT_THAT(error_text(store::unpack_text(plain.substr(0, plain.size() - 2), "")),
              HasSubstr("ends too early"));
  EXPECT_THAT(error_text(store::unpack_text("nonsense", "")), HasSubstr("damaged"));
}

}  // namespace
}  // namespace kernelpro
