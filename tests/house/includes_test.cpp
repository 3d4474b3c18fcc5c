// docs/architecture.md and the sources agree on who includes whom.
#include <gmock/gmock.h>

#include "house/include_table.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::filesystem::path architecture_page = source_tree / "docs" / "architecture.md";

Result<IncludeTable> written_table() {
  const Result<std::string> text = read_file(architecture_page);
  if (!text) {
    return text.error();
  }
  return parse_include_table(*text);
}

// "room -> target" for every edge of `table` that `other` lacks.
std::vector<std::string> edges_beyond(const IncludeTable& table, const IncludeTable& other) {
  std::vector<std::string> beyond;
  for (const auto& [room, edges] : table) {
    const auto found = other.find(room);
    const RoomEdges known = found == other.end() ? RoomEdges{} : found->second;
    for (const std::string& target : edges.rooms) {
      if (!known.rooms.contains(target)) {
        beyond.push_back(room + " -> " + target);
      }
    }
    for (const std::string& library : edges.third_party) {
      if (!known.third_party.contains(library)) {
        beyond.push_back(room + " -> <" + library + ">");
      }
    }
  }
  return beyond;
}

std::vector<std::string> rooms_beyond(const IncludeTable& table, const IncludeTable& other) {
  std::vector<std::string> beyond;
  for (const auto& [room, edges] : table) {
    if (!other.contains(room)) {
      beyond.push_back(room);
    }
  }
  return beyond;
}

class IncludesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<IncludeTable> table = written_table();
    ASSERT_TRUE(table.ok()) << architecture_page << ": " << table.error().text();
    written_ = *table;
    actual_ = read_includes(source_tree / "src");
    ASSERT_FALSE(actual_.empty());
  }

  IncludeTable written_;
  IncludeTable actual_;
};

TEST_F(IncludesTest, EveryIncludeIsInTheTable) {
  EXPECT_THAT(edges_beyond(actual_, written_), IsEmpty())
      << "do without these includes, or allow them in " << architecture_page;
}

TEST_F(IncludesTest, EveryEntryOfTheTableIsUsed) {
  EXPECT_THAT(edges_beyond(written_, actual_), IsEmpty())
      << "take these out of " << architecture_page;
}

TEST_F(IncludesTest, RoomsAndRowsAreTheSame) {
  EXPECT_THAT(rooms_beyond(written_, actual_), IsEmpty())
      << "rows without a room in " << architecture_page;
  EXPECT_THAT(rooms_beyond(actual_, written_), IsEmpty())
      << "rooms without a row in " << architecture_page;
}

TEST_F(IncludesTest, CommonKnowsNobodyAndTheTwoSidesOnlyCommon) {
  const auto starts_with_any = [](const std::string& text, const std::vector<std::string>& starts) {
    return std::any_of(starts.begin(), starts.end(),
                       [&text](const std::string& start) { return text.starts_with(start); });
  };
  for (const auto& [room, edges] : written_) {
    std::vector<std::string> allowed = {"common/", "kernelpro"};
    for (const std::string side : {"worker", "coordinator"}) {
      if (room.starts_with(side)) {
        allowed.push_back(side + "/");
      }
    }
    if (room == "runner") {
      allowed.emplace_back("sample");
    }
    if (room == "oracle") {
      allowed.emplace_back("runner");
    }
    for (const std::string& target : edges.rooms) {
      EXPECT_TRUE(starts_with_any(target, allowed)) << room << " -> " << target;
    }
  }
}

TEST_F(IncludesTest, ThirdPartyStaysWhereThePageSays) {
  for (const std::string room : {"common/base", "common/model", "jail", "runner", "oracle"}) {
    EXPECT_THAT(written_[room].third_party, IsEmpty()) << room;
  }
  for (const auto& [room, edges] : written_) {
    EXPECT_TRUE(!edges.third_party.contains("CLI") || room == "coordinator/options") << room;
    EXPECT_TRUE(!edges.third_party.contains("toml++") || room == "coordinator/task") << room;
  }
}

// Takes away the rooms that include none of those left, until nothing changes.
TEST_F(IncludesTest, NoRoomsIncludeEachOtherAroundACorner) {
  IncludeTable left = written_;
  bool changed = true;
  while (changed) {
    changed =
        std::erase_if(left, [&left](const auto& row) {
          return std::none_of(row.second.rooms.begin(), row.second.rooms.end(),
                              [&left](const std::string& target) { return left.contains(target); });
        }) > 0;
  }
  EXPECT_THAT(rooms_beyond(left, {}), IsEmpty()) << "these lie on a circle or above one";
}

TEST(IncludeTableTest, ReadsRoomsAndLibraries) {
  const Result<IncludeTable> table = parse_include_table(
      "text\n| room | may include | third party |\n|---|---|---|\n"
      "| `a/b` | `c` `d/e` | `fmt` |\n| `c` | | |\n\n| `x` | `y` | |\n");
  ASSERT_TRUE(table.ok()) << table.error().text();
  ASSERT_EQ(table->size(), 2U);
  EXPECT_THAT(table->at("a/b").rooms, ElementsAre("c", "d/e"));
  EXPECT_THAT(table->at("a/b").third_party, ElementsAre("fmt"));
  EXPECT_THAT(table->at("c").rooms, IsEmpty());
}

TEST(IncludeTableTest, RefusesAPageWithoutTheTableAndRowsOfAnotherForm) {
  EXPECT_THAT(parse_include_table("nothing here\n").error().text(), HasSubstr("no table with"));
  const std::string title = "| room | may include | third party |\n|---|---|---|\n";
  EXPECT_THAT(parse_include_table(title + "| a | `b` | |\n").error().text(),
              HasSubstr("expected | `room`"));
  EXPECT_THAT(parse_include_table(title + "| `a` | | |\n| `a` | | |\n").error().text(),
              HasSubstr("a second row of the same room"));
}

TEST(IncludeTableTest, SeesIncludesButNotThoseInsideRawStrings) {
  const std::vector<Include> found = includes_of(
      "#include <vector>\n#include \"a/b.hpp\"\nauto x = R\"cpp(\n#include <omp.h>\n)cpp\";\n"
      "#include <fmt/format.h>\n// #include <no>\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].path, "a/b.hpp");
  EXPECT_TRUE(found[1].quoted);
  EXPECT_EQ(third_party_of(found[0].path), "");
  EXPECT_EQ(third_party_of(found[2].path), "fmt");
  EXPECT_EQ(third_party_of("sys/stat.h"), "");
  EXPECT_EQ(third_party_of("sqlite3.h"), "sqlite3.h");
}

}  // namespace
}  // namespace kernelpro
