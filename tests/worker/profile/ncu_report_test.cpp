#include "worker/profile/ncu_report.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "worker/profile/data.hpp"
#include "worker/profile/mutate.hpp"

namespace kernelpro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

NcuRawReport raw_of(const std::string& output) {
  Result<NcuRawReport> report = read_ncu_raw(output);
  EXPECT_TRUE(report) << report.error().text();
  return report ? std::move(*report) : NcuRawReport{};
}

// A table of one launch with these columns, units and cells behind those about the launch.
std::string table(const std::string& columns, const std::string& units, const std::string& cells) {
  return "\"ID\",\"Process ID\",\"Kernel Name\"," + columns + "\n\"\",\"\",\"\"," + units +
         "\n\"0\",\"7\",\"k(int)\"," + cells + "\n";
}

std::optional<double> only_value(const std::string& output, std::string_view metric) {
  const NcuRawReport report = raw_of(output);
  EXPECT_EQ(report.launches.size(), 1U);
  return report.launches.empty() ? std::nullopt : report.value(report.launches[0], metric).number;
}

std::string why(const std::string& output, std::string_view metric) {
  const NcuRawReport report = raw_of(output);
  EXPECT_EQ(report.launches.size(), 1U);
  return report.launches.empty() ? "" : report.value(report.launches[0], metric).why;
}

TEST(NcuRaw, HasEachLaunchWithWhatItIs) {
  const NcuRawReport report = raw_of(data("raw.csv"));
  EXPECT_TRUE(report.complete) << report.problem;
  ASSERT_EQ(report.launches.size(), 4U);
  const NcuLaunch& first = report.launches[0];
  EXPECT_EQ(first.id, 0);
  EXPECT_EQ(first.process, 1104);
  EXPECT_EQ(first.process_name, "p");
  EXPECT_EQ(first.name, "void <unnamed>::tmpl<<unnamed>::Cfg<1, 3>>(float *, const float *, int)");
  EXPECT_EQ(first.context, 1U);
  EXPECT_EQ(first.stream, 7U);
  EXPECT_EQ(first.block, (Extent{256, 1, 1}));
  EXPECT_EQ(first.grid, (Extent{131072, 1, 1}));
  EXPECT_EQ(first.device, 0);
  EXPECT_EQ(first.capability, "9.0");
  EXPECT_EQ(report.launches[1].id, 2);
  EXPECT_EQ(report.launches[3].id, 9);
}

TEST(NcuRaw, ScaledUnitsBecomeBaseUnits) {
  const NcuRawReport report = raw_of(data("raw.csv"));
  ASSERT_EQ(report.launches.size(), 4U);
  const auto value = [&](const char* metric) { return report.value(report.launches[0], metric); };
  EXPECT_NEAR(value("gpu__time_duration.sum").number.value_or(0), 99104, 1e-6);
  EXPECT_EQ(value("gpu__time_duration.sum").unit, "ns");
  EXPECT_NEAR(value("dram__bytes_read.sum").number.value_or(0), 134233000, 1e-3);
  EXPECT_EQ(value("dram__bytes_read.sum").unit, "byte");
  EXPECT_EQ(value("dram__bytes.sum.per_second").unit, "byte/s");
  EXPECT_NEAR(value("dram__bytes.sum.per_second").number.value_or(0), 2.519512e12, 1e3);
  EXPECT_EQ(value("lts__t_sectors.sum.per_second").unit, "sector/s");
  EXPECT_NEAR(value("lts__t_sectors.sum.per_second").number.value_or(0), 128.419075e9, 1e3);
  EXPECT_EQ(value("sm__cycles_elapsed.avg.per_second").unit, "hz");
  EXPECT_EQ(value("sm__warps_active.avg.pct_of_peak_sustained_active").unit, "%");
  EXPECT_THAT(report.value(report.launches[1], "launch__shared_mem_per_block_dynamic").number,
              Optional(testing::DoubleNear(16896, 1e-6)));
  EXPECT_THAT(
      report.value(report.launches[1], "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum").number,
      Optional(101591870.0));
}

TEST(NcuRaw, WhatIsNoNumberSaysWhy) {
  const NcuRawReport report = raw_of(data("raw.csv"));
  ASSERT_FALSE(report.launches.empty());
  const auto value = [&](const char* metric) { return report.value(report.launches[0], metric); };
  EXPECT_EQ(value("device__attribute_display_name").text, "NVIDIA H200");
  EXPECT_EQ(value("device__attribute_display_name").number, std::nullopt);
  EXPECT_EQ(value("derived_tempMetric4").number, std::nullopt);
  EXPECT_THAT(value("derived_tempMetric4").why, HasSubstr("could not compute"));
  EXPECT_THAT(value("launch__kernel_name").why, HasSubstr("empty"));
  EXPECT_THAT(value("no__such_metric").why, HasSubstr("not in ncu's table"));
  EXPECT_THAT(value("launch__cluster_scheduling_policy").why, HasSubstr("PolicySpread"));
}

TEST(NcuRaw, MessagesAndTheProgramsOutputArePassedOver) {
  const NcuRawReport report = raw_of(data("raw_live.csv"));
  EXPECT_TRUE(report.complete) << report.problem;
  ASSERT_EQ(report.launches.size(), 3U);
  EXPECT_THAT(report.value(report.launches[0], "gpu__time_duration.sum").number, Optional(99168.0));
  EXPECT_THAT(report.complaints.warnings, ElementsAre(HasSubstr("unmodified GPU clocks")));
  EXPECT_THAT(report.complaints.errors, ElementsAre());
}

TEST(NcuRaw, MessagesMayStandAnywhere) {
  std::string output = "unfinished" + table("\"a\"", "\"\"", "\"1\"");
  output += "==ERROR== The application returned an error code (1).\r\n";
  output += "\"quoted\" words of a program\n\"more\"\n";
  output += "\"1\",\"7\",\"k(int)\",\"2\"\n==PROF== Disconnected\n==WARNING== late\n";
  const NcuRawReport report = raw_of(output);
  EXPECT_TRUE(report.complete) << report.problem;
  ASSERT_EQ(report.launches.size(), 2U);
  EXPECT_THAT(report.value(report.launches[1], "a").number, Optional(2.0));
  EXPECT_THAT(report.complaints.errors, ElementsAre("The application returned an error code (1)."));
  EXPECT_THAT(report.complaints.warnings, ElementsAre("late"));
}

TEST(NcuRaw, OneCellTellsTheNotationOfAll) {
  // "1,234" is 1234 as ncu writes it by default, and 1.234 where another cell shows a comma.
  EXPECT_THAT(only_value(table("\"a\",\"b\"", "\"\",\"\"", "\"1,234\",\"2,500.5\""), "a"),
              Optional(1234.0));
  EXPECT_THAT(only_value(table("\"a\",\"b\"", "\"\",\"\"", "\"1,234\",\"2.500,5\""), "a"),
              Optional(1.234));
  EXPECT_THAT(only_value(table("\"a\",\"b\"", "\"\",\"\"", "\"1.234\",\"2 500,5\""), "a"),
              Optional(1234.0));
}

TEST(NcuRaw, ACountTellsTheNotationOfAll) {
  const std::string columns = "\"a\",\"launch__thread_count\"";
  EXPECT_THAT(only_value(table(columns, "\"\",\"\"", "\"1.234\",\"33.554.432\""), "a"),
              Optional(1234.0));
  EXPECT_THAT(only_value(table(columns, "\"\",\"\"", "\"1.234\",\"5.120\""), "a"),
              Optional(1234.0));
  EXPECT_THAT(only_value(table(columns, "\"\",\"\"", "\"1.234\",\"5,120\""), "a"), Optional(1.234));
}

// The output as ncu would write it with a decimal comma.
std::string with_commas(const std::string& output) {
  std::string out;
  CsvReader reader(output);
  for (int row = 0; reader.next() == CsvRow::whole; ++row) {
    for (std::size_t i = 0; i < reader.fields().size(); ++i) {
      std::string cell(reader.fields()[i]);
      if (row > 1 && i > 10) {
        for (char& letter : cell) {
          letter = letter == '.' ? ',' : letter == ',' ? '.' : letter;
        }
      }
      out += (i == 0 ? "\"" : ",\"") + cell + "\"";
    }
    out += "\n";
  }
  return out;
}

TEST(NcuRaw, ALocaleChangesNoValue) {
  for (const char* name : {"raw.csv", "raw_live.csv"}) {
    std::string output = data(name);
    output = output.substr(output.find("\"ID\""));
    const NcuRawReport plain = raw_of(output);
    const NcuRawReport local = raw_of(with_commas(output));
    ASSERT_EQ(local.launches.size(), plain.launches.size());
    ASSERT_GT(plain.launches.size(), 2U);
    for (std::size_t i = 0; i < plain.launches.size(); ++i) {
      for (const NcuColumn& column : plain.columns) {
        EXPECT_EQ(local.value(local.launches[i], column.name).number,
                  plain.value(plain.launches[i], column.name).number)
            << column.name;
      }
    }
  }
}

TEST(NcuRaw, WithoutASignTheNotationIsNcusOwn) {
  EXPECT_THAT(only_value(table("\"a\"", "\"\"", "\"1,234\""), "a"), Optional(1234.0));
  EXPECT_THAT(only_value(table("\"a\"", "\"\"", "\"1.234\""), "a"), Optional(1.234));
}

TEST(NcuRaw, TheCapabilityAndNamesTellNoNotation) {
  const std::string output =
      "\"ID\",\"Kernel Name\",\"CC\",\"a\",\"b\"\n\"\",\"\",\"\",\"\",\"\"\n"
      "\"0\",\"1.5\",\"9.0\",\"1.234\",\"0,5\"\n";
  EXPECT_THAT(only_value(output, "a"), Optional(1234.0));
}

TEST(NcuRaw, ANumberThatContradictsTheNotationIsAbsent) {
  const std::string output = table("\"a\",\"b\"", "\"\",\"\"", "\"0.5\",\"1.234,56\"");
  EXPECT_EQ(only_value(output, "b"), std::nullopt);
  EXPECT_THAT(why(output, "b"), HasSubstr("cannot be read with certainty: \"1.234,56\""));
}

TEST(NcuRaw, ValuesThatNcuDoesNotVouchForAreAbsent) {
  for (const char* cell : {"n/a", "-nan", "inf", "", "(!) n/a", "(!) 5", "no data"}) {
    const std::string output = table("\"a\"", "\"byte\"", "\"" + std::string(cell) + "\"");
    EXPECT_EQ(only_value(output, "a"), std::nullopt) << cell;
    EXPECT_NE(why(output, "a"), "") << cell;
  }
}

TEST(NcuRaw, ACutTableGivesItsWholeRows) {
  const std::string whole = data("raw.csv");
  const std::size_t last = whole.rfind("\n\"9\",") + 1;
  for (const std::size_t size : {last + 1, last + 5, last + 100, whole.size() - 3}) {
    const NcuRawReport report = raw_of(whole.substr(0, size));
    EXPECT_EQ(report.launches.size(), 3U) << size;
    EXPECT_FALSE(report.complete) << size;
    EXPECT_THAT(report.problem, HasSubstr("cut off")) << size;
  }
}

TEST(NcuRaw, AGarbledRowIsLeftOutAndTold) {
  std::string output = data("raw.csv");
  const std::size_t row = output.find("\n\"2\",") + 1;
  output.insert(output.find(",\"(256", row), "==PROF== in between\n");
  const NcuRawReport report = raw_of(output);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.launches.size(), 3U);
}

TEST(NcuRaw, ATableAgainIsReadOn) {
  const NcuRawReport report =
      raw_of(table("\"a\"", "\"Kbyte\"", "\"1\"") + table("\"a\"", "\"Mbyte\"", "\"1\""));
  EXPECT_TRUE(report.complete);
  ASSERT_EQ(report.launches.size(), 2U);
  EXPECT_THAT(report.value(report.launches[0], "a").number, Optional(1e3));
  EXPECT_THAT(report.value(report.launches[1], "a").number, Optional(1e6));
}

TEST(NcuRaw, AnotherTableIsNotMixedIn) {
  for (const std::string& second :
       {table("\"b\"", "\"byte\"", "\"1\""), table("\"a\"", "\"ns\"", "\"1\"")}) {
    const NcuRawReport report = raw_of(table("\"a\"", "\"byte\"", "\"1\"") + second);
    EXPECT_FALSE(report.complete);
    EXPECT_THAT(report.problem, HasSubstr("second table"));
    EXPECT_EQ(report.launches.size(), 1U);
  }
}

TEST(NcuRaw, AnOutputWithoutATableIsAnError) {
  const Result<NcuRawReport> report = read_ncu_raw(data("unknown_metric.txt"));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().text(), HasSubstr("no_such_metric"));
  for (const char* output : {"", "hello\n", "\"ID\"\n", "\"ID\",\"Process"}) {
    EXPECT_FALSE(read_ncu_raw(output)) << output;
  }
}

TEST(NcuRaw, ATableWithoutLaunchesIsEmpty) {
  const std::string whole = data("raw.csv");
  const NcuRawReport report = raw_of(whole.substr(0, whole.find('\n') + 1));
  EXPECT_TRUE(report.launches.empty());
}

TEST(NcuRaw, ExtentsThatCannotBeReadAreZeros) {
  const std::string head = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"a\"\n";
  for (const char* extent :
       {"", "(256, 1)", "(256, 1, 1, 1)", "(a, b, c)", "(-1, 1, 1)", "(", ")", "(1,,1)", "256"}) {
    const NcuRawReport report =
        raw_of(head + "\"0\",\"k\",\"" + extent + "\",\"(3, 4, 5)\",\"\"\n");
    ASSERT_EQ(report.launches.size(), 1U) << extent;
    EXPECT_EQ(report.launches[0].block, Extent{}) << extent;
    EXPECT_EQ(report.launches[0].grid, (Extent{3, 4, 5})) << extent;
  }
}

TEST(NcuRaw, DamagedOutputNeverGivesWhatWasNotThere) {
  Random random(3);
  const std::string whole = data("raw.csv");
  const NcuRawReport clean = raw_of(whole);
  for (int i = 0; i < 400; ++i) {
    const Result<NcuRawReport> report = read_ncu_raw(mutate(whole, random));
    if (!report) {
      ASSERT_NE(report.error().message, "");
      continue;
    }
    for (const NcuLaunch& launch : report->launches) {
      ASSERT_EQ(launch.cells.size(), report->columns.size());
      for (const NcuCell& cell : launch.cells) {
        ASSERT_LT(cell.text, report->texts.size());
      }
      for (const NcuColumn& column : report->columns) {
        const NcuValue value = report->value(launch, column.name);
        ASSERT_NE(value.number.has_value(), !value.why.empty());
      }
    }
  }
}

TEST(NcuRules, AreNotesOfALaunch) {
  const Result<NcuRules> rules = read_ncu_rules(data("details.csv"));
  ASSERT_TRUE(rules) << rules.error().text();
  EXPECT_TRUE(rules->complete);
  ASSERT_EQ(rules->notes.size(), 2U);
  const std::vector<RuleNote>& notes = rules->notes.at(0);
  ASSERT_GT(notes.size(), 5U);
  EXPECT_EQ(notes[0].rule, "SOLBottleneck");
  EXPECT_EQ(notes[0].type, "OPT");
  EXPECT_EQ(notes[0].text, "Note 1 says \"look, here\" about SOLBottleneck.");
  EXPECT_EQ(notes[0].speedup_percent, std::nullopt);
  EXPECT_EQ(notes[1].type, "INF");
}

TEST(NcuRules, OnlyASpeedupOfTheKernelIsOne) {
  const Result<NcuRules> rules = read_ncu_rules(data("details.csv"));
  ASSERT_TRUE(rules) << rules.error().text();
  const auto note = [&](const char* rule) {
    const std::vector<RuleNote>& notes = rules->notes.at(0);
    const auto at = std::find_if(notes.begin(), notes.end(),
                                 [&](const RuleNote& one) { return one.rule == rule; });
    return at == notes.end() ? RuleNote{} : *at;
  };
  EXPECT_THAT(note("AchievedOccupancy").speedup_percent, Optional(29.03));
  EXPECT_EQ(note("HighPipeUtilization").rule, "HighPipeUtilization");
  EXPECT_EQ(note("HighPipeUtilization").speedup_percent, std::nullopt);  // "local"
}

TEST(NcuRules, ACutPageGivesItsWholeRows) {
  const std::string whole = data("details.csv");
  const Result<NcuRules> rules = read_ncu_rules(whole.substr(0, whole.size() - 40));
  ASSERT_TRUE(rules) << rules.error().text();
  EXPECT_FALSE(rules->complete);
  EXPECT_EQ(rules->notes.at(3).size() + 1, read_ncu_rules(whole)->notes.at(3).size());
  EXPECT_FALSE(read_ncu_rules("nothing\n"));
}

TEST(NcuRules, DamagedPagesAreReadWithoutHarm) {
  Random random(4);
  const std::string whole = data("details.csv");
  for (int i = 0; i < 400; ++i) {
    const Result<NcuRules> rules = read_ncu_rules(mutate(whole, random));
    if (rules) {
      for (const auto& [id, notes] : rules->notes) {
        ASSERT_GE(id, 0);
        ASSERT_FALSE(notes.empty());
      }
    }
  }
}

}  // namespace
}  // namespace kernelpro
