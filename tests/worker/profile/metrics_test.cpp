#include "worker/profile/metrics.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "common/base/file.hpp"
#include "common/model/figure_keys.hpp"
#include "worker/profile/data.hpp"

namespace kernelpro {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

NcuRawReport report_of(const std::string& output) {
  Result<NcuRawReport> report = read_ncu_raw(output);
  EXPECT_TRUE(report) << report.error().text();
  return report ? std::move(*report) : NcuRawReport{};
}

// The figure of `key` where ncu gave one metric only.
NcuFigures figures_of(const std::string& metric, const std::string& unit, const std::string& cell,
                      const char* key) {
  const NcuRawReport report =
      report_of("\"ID\",\"Process ID\",\"Kernel Name\",\"" + metric + "\"\n\"\",\"\",\"\",\"" +
                unit + "\"\n\"0\",\"1\",\"k\",\"" + cell + "\"\n");
  return report.launches.empty() ? NcuFigures{} : figures_from(report, report.launches[0], {key});
}

TEST(Metrics, EveryKeyHasNames) {
  const std::vector<std::string> keys = ncu_keys();
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
  std::set<std::string> all;
  for (const std::string& key : keys) {
    const std::vector<std::string> names = ncu_names_of(key);
    ASSERT_FALSE(names.empty()) << key;
    for (const std::string& name : names) {
      EXPECT_TRUE(all.insert(name).second) << name << " stands for two keys";
    }
  }
  EXPECT_TRUE(ncu_names_of("no_such_key").empty());
}

TEST(Metrics, EveryKeyOfTheModelHasAnEntry) {
  const std::string header =
      read_file(KERNELPRO_SOURCE_DIR "/src/common/model/figure_keys.hpp").value();
  const std::vector<std::string> keys = ncu_keys();
  std::size_t count = 0;
  for (std::size_t at = header.find("[] = \""); at != std::string::npos;
       at = header.find("[] = \"", at + 1)) {
    const std::size_t begin = at + 6;
    EXPECT_THAT(keys, Contains(header.substr(begin, header.find('"', begin) - begin)));
    ++count;
  }
  EXPECT_EQ(count, keys.size());
}

TEST(Metrics, TheBestNameIsAskedFor) {
  EXPECT_THAT(ncu_names({figure::duration_ns, figure::dram_use, "no_such_key"}, "sm_90", {}),
              ElementsAre("gpu__time_duration.sum",
                          "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"));
}

TEST(Metrics, ARefusedNameGivesWayToTheNext) {
  const std::string best = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
  const std::string next = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
  EXPECT_THAT(ncu_names({figure::dram_use}, "sm_90", {best}), ElementsAre(next));
  EXPECT_THAT(ncu_names({figure::dram_use}, "sm_90", {"gpu__dram_throughput"}), ElementsAre(next));
  EXPECT_THAT(ncu_names({figure::dram_use}, "sm_90", {best, next}), ElementsAre());
}

TEST(Metrics, AreNotAskedOfGpusThatLackThem) {
  const std::string name = "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed";
  EXPECT_THAT(ncu_names({figure::atomic_use}, "sm_75", {}), Not(Contains(name)));
  EXPECT_THAT(ncu_names({figure::atomic_use}, "sm_80", {}), Contains(name));
  EXPECT_THAT(ncu_names({figure::atomic_use}, "sm_90a", {}), Contains(name));
  EXPECT_THAT(ncu_names({figure::atomic_use}, "", {}), Contains(name));
}

TEST(Metrics, FiguresOfARealReport) {
  const NcuRawReport report = report_of(data("raw.csv"));
  ASSERT_EQ(report.launches.size(), 4U);
  const NcuFigures banks = figures_from(report, report.launches[1], ncu_keys());
  const auto value = [](const NcuFigures& from, const char* key) {
    const auto at = from.figures.find(key);
    return at == from.figures.end() ? -1 : at->second.value;
  };
  EXPECT_NEAR(value(banks, figure::duration_ns), 423008, 1e-3);
  EXPECT_NEAR(value(banks, figure::l1_use), 0.95316522, 1e-9);
  EXPECT_NEAR(value(banks, figure::occupancy), 0.79522192, 1e-9);
  EXPECT_EQ(value(banks, figure::theoretical_occupancy), 1);
  EXPECT_EQ(value(banks, figure::registers), 32);
  EXPECT_EQ(value(banks, figure::limit_shared), 9);
  EXPECT_EQ(value(banks, figure::waves), 1.94);
  EXPECT_EQ(value(banks, figure::shared_wavefronts), 105157056);
  EXPECT_EQ(value(banks, figure::shared_conflicts), 101591870);
  EXPECT_NEAR(value(banks, figure::dynamic_shared_bytes), 16896, 1e-6);
  EXPECT_NEAR(value(banks, figure::issue_use), 0.06843324, 1e-9);
  EXPECT_EQ(banks.figures.at(figure::l1_use).origin, Origin::counter);
  EXPECT_EQ(banks.figures.at(figure::limit_shared).origin, Origin::arithmetic);
  const NcuFigures atoms = figures_from(report, report.launches[2], ncu_keys());
  EXPECT_NEAR(value(atoms, figure::atomic_use), 0.99929073, 1e-9);
  EXPECT_EQ(value(atoms, figure::l2_hit_rate), 1);  // ncu gives 100.21 %
  // The set had sectors instead of bytes, and no sectors of atomics.
  EXPECT_EQ(value(atoms, figure::l2_bytes), 6284539.0 * 32);
  EXPECT_THAT(atoms.missing.at(figure::atomic_sectors),
              HasSubstr("lts__t_sectors_op_atom.sum: it is not in ncu's table"));
  for (const std::string& key : ncu_keys()) {
    EXPECT_NE(atoms.figures.contains(key), atoms.missing.contains(key)) << key;
  }
}

TEST(Metrics, APercentageBecomesAShare) {
  const NcuFigures out = figures_of("lts__t_sector_hit_rate.pct", "%", "37.5", figure::l2_hit_rate);
  EXPECT_EQ(out.figures.at(figure::l2_hit_rate).value, 0.375);
}

TEST(Metrics, WhatCannotBeTrueIsMissing) {
  for (const char* cell : {"130", "-5", "1e300"}) {
    const NcuFigures out = figures_of("lts__t_sector_hit_rate.pct", "%", cell, figure::l2_hit_rate);
    EXPECT_TRUE(out.figures.empty()) << cell;
    EXPECT_THAT(out.missing.at(figure::l2_hit_rate), HasSubstr("cannot be true")) << cell;
  }
  EXPECT_TRUE(figures_of("gpu__time_duration.sum", "ns", "0", figure::duration_ns).figures.empty());
  EXPECT_TRUE(
      figures_of("gpu__time_duration.sum", "ns", "-1", figure::duration_ns).figures.empty());
  EXPECT_TRUE(
      figures_of("smsp__inst_executed.sum", "inst", "-1", figure::instructions).figures.empty());
}

TEST(Metrics, NoiseAroundTheEndsOfAShareIsCutOff) {
  const auto share = [](const char* cell) {
    return figures_of("lts__t_sector_hit_rate.pct", "%", cell, figure::l2_hit_rate)
        .figures.at(figure::l2_hit_rate)
        .value;
  };
  EXPECT_EQ(share("100.21"), 1);
  EXPECT_EQ(share("-0.0005"), 0);
}

TEST(Metrics, AnUnexpectedUnitIsNotGuessedAt) {
  const auto why = [](const char* metric, const char* unit, const char* key) {
    const NcuFigures out = figures_of(metric, unit, "5", key);
    EXPECT_TRUE(out.figures.empty()) << metric;
    return out.missing.contains(key) ? out.missing.at(key) : "";
  };
  EXPECT_THAT(why("gpu__time_duration.sum", "", figure::duration_ns), HasSubstr("unit is \"\""));
  EXPECT_THAT(why("gpu__time_duration.sum", "cycle", figure::duration_ns), HasSubstr("cycle"));
  EXPECT_THAT(why("dram__bytes_read.sum", "KiB", figure::dram_read_bytes), HasSubstr("KiB"));
  EXPECT_THAT(why("lts__t_sector_hit_rate.pct", "", figure::l2_hit_rate), HasSubstr("unit"));
  EXPECT_THAT(why("smsp__inst_executed.sum", "%", figure::instructions), HasSubstr("%"));
}

TEST(Metrics, AnAbsentValueIsMissingWithNcusReason) {
  const NcuFigures out = figures_of("smsp__inst_executed.sum", "inst", "n/a", figure::instructions);
  EXPECT_TRUE(out.figures.empty());
  EXPECT_THAT(out.missing.at(figure::instructions),
              HasSubstr("smsp__inst_executed.sum: ncu says that it is not available; "
                        "sm__inst_executed.sum: it is not in ncu's table"));
  EXPECT_EQ(figures_of("x", "", "1", "no_such_key").missing.at("no_such_key"),
            "ncu has no metric for it");
}

TEST(Metrics, StallsAreTheRawPagesSums) {
  const NcuRawReport report = report_of(data("raw.csv"));
  ASSERT_EQ(report.launches.size(), 4U);
  const Stalls stalls = stalls_from(report, report.launches[0]);
  EXPECT_EQ(stalls.at("long_scoreboard"), 10312);
  EXPECT_EQ(stalls.at("no_instructions"), 58);
  EXPECT_FALSE(stalls.contains("barrier"));
  double sum = 0;
  for (const auto& [reason, samples] : stalls) {
    EXPECT_THAT(reason, Not(HasSubstr("not_issued")));
    sum += samples;
  }
  EXPECT_EQ(sum, report.value(report.launches[0], "smsp__pcsamp_sample_count").number);
}

}  // namespace
}  // namespace kernelpro
