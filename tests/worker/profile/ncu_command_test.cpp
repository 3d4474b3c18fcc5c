// What ncu is told, word for word.
#include "worker/profile/ncu_command.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

namespace kernelpro {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

using Words = std::vector<std::string>;

// What stands behind each `option`.
Words values(const Words& command, const std::string& option) {
  Words out;
  for (std::size_t i = 0; i + 1 < command.size(); ++i) {
    if (command[i] == option) {
      out.push_back(command[i + 1]);
    }
  }
  return out;
}

std::string value(const Words& command, const std::string& option) {
  const Words all = values(command, option);
  EXPECT_EQ(all.size(), 1U) << option;
  return all.empty() ? "" : all.front();
}

NcuWish wish_for(const Words& kernels) {
  NcuWish wish;
  wish.window = {kernels, 5, 3};
  wish.metrics = {"gpu__time_duration.sum", "dram__bytes_read.sum"};
  wish.report = "/folder/ncu0";
  return wish;
}

// Whether ncu's filter by name lets a kernel through.
bool lets_through(const Words& kernels, const std::string& name) {
  std::string filter = value(ncu_profile_command("ncu", wish_for(kernels)), "--kernel-name");
  EXPECT_TRUE(filter.starts_with("regex:"));
  return std::regex_search(name, std::regex(filter.substr(6)));
}

TEST(NcuCommand, NamesTheWindowAndTheReport) {
  const Words command = ncu_profile_command("/opt/ncu", wish_for({"_Z1kPf"}));
  EXPECT_EQ(command.front(), "/opt/ncu");
  EXPECT_EQ(value(command, "--launch-skip-before-match"), "5");
  EXPECT_EQ(value(command, "--launch-count"), "3");
  EXPECT_EQ(value(command, "--export"), "/folder/ncu0");
  EXPECT_EQ(value(command, "--kernel-name-base"), "mangled");
  EXPECT_EQ(value(command, "--metrics"), "gpu__time_duration.sum,dram__bytes_read.sum");
}

TEST(NcuCommand, ProfilesAtTheClocksThatThereAre) {
  const Words command = ncu_profile_command("ncu", wish_for({"k"}));
  EXPECT_EQ(value(command, "--clock-control"), "none");
  // The program's own marks bound what is traced, not what ncu may see.
  EXPECT_THAT(command, Contains("--disable-profiler-start-stop"));
}

TEST(NcuCommand, LetsExactlyTheNamedKernelsThrough) {
  const Words kernels = {"_Z1aPf", "_Z2bbPf"};
  EXPECT_TRUE(lets_through(kernels, "_Z1aPf"));
  EXPECT_TRUE(lets_through(kernels, "_Z2bbPf"));
  EXPECT_FALSE(lets_through(kernels, "_Z1aPfi"));
  EXPECT_FALSE(lets_through(kernels, "x_Z1aPf"));
  EXPECT_FALSE(lets_through(kernels, "_Z2bbPf_"));
  EXPECT_FALSE(lets_through(kernels, "_Z1aPf|_Z2bbPf"));
}

// Compilers put these into names of clones and of functions of other languages.
TEST(NcuCommand, TakesLettersThatMeanMoreThanThemselves) {
  for (const char* name : {"_Z1kPf$local", "k.part.0", "_ZN1a1bE$c.d$e", "k[abc]", "k(int)", "a+b",
                           "k*", "k?", "k{2}", "^k", "a|b", "a\\b"}) {
    EXPECT_TRUE(lets_through({name}, name)) << name;
    EXPECT_TRUE(lets_through({"first", name, "last"}, name)) << name;
    EXPECT_FALSE(lets_through({name}, std::string(name) + "x")) << name;
  }
  EXPECT_FALSE(lets_through({"k.part"}, "kxpart"));
  EXPECT_FALSE(lets_through({"a|b"}, "a"));
}

TEST(NcuCommand, EmptiesCachesWhereThatIsAskedFor) {
  NcuWish wish = wish_for({"k"});
  EXPECT_EQ(value(ncu_profile_command("ncu", wish), "--cache-control"), "none");
  wish.cold = true;
  EXPECT_EQ(value(ncu_profile_command("ncu", wish), "--cache-control"), "all");
}

TEST(NcuCommand, AsksForInstructionsAndRulesOnlyWhereWanted) {
  NcuWish wish = wish_for({"k"});
  wish.source = false;
  Words command = ncu_profile_command("ncu", wish);
  EXPECT_THAT(values(command, "--section"), IsEmpty());
  EXPECT_EQ(value(command, "--apply-rules"), "no");
  wish.source = true;
  command = ncu_profile_command("ncu", wish);
  EXPECT_THAT(values(command, "--section"), ElementsAre("SourceCounters"));
  EXPECT_EQ(value(command, "--apply-rules"), "no");
  wish.rules = true;
  command = ncu_profile_command("ncu", wish);
  EXPECT_THAT(values(command, "--section"), Contains("SpeedOfLight"));
  EXPECT_THAT(values(command, "--section"), Contains("SourceCounters"));
  EXPECT_EQ(value(command, "--apply-rules"), "yes");
}

TEST(NcuCommand, NoMetricsIsNoOption) {
  NcuWish wish = wish_for({"k"});
  wish.metrics.clear();
  EXPECT_THAT(ncu_profile_command("ncu", wish), Not(Contains("--metrics")));
}

// What follows is the program: an option of ncu may not lack its value.
TEST(NcuCommand, EndsWithAWholeOption) {
  NcuWish wish = wish_for({"k"});
  for (const bool rules : {false, true}) {
    wish.rules = rules;
    const Words command = ncu_profile_command("ncu", wish);
    EXPECT_FALSE(command.back().starts_with("--")) << command.back();
    EXPECT_EQ(std::count(command.begin(), command.end(), ""), 0);
  }
}

TEST(NcuCommand, PrintsEachPageInBaseUnitsAndMangled) {
  for (const NcuPage page :
       {NcuPage::raw, NcuPage::source, NcuPage::source_without_lines, NcuPage::details}) {
    const Words command = ncu_page_command("/opt/ncu", "/folder/ncu0.ncu-rep", page);
    EXPECT_EQ(command.front(), "/opt/ncu");
    EXPECT_EQ(value(command, "--import"), "/folder/ncu0.ncu-rep");
    EXPECT_EQ(value(command, "--print-units"), "base");
    EXPECT_EQ(value(command, "--print-kernel-base"), "mangled");
    EXPECT_THAT(command, Contains("--csv"));
  }
}

TEST(NcuCommand, NamesThePage) {
  const auto page = [](NcuPage which) { return ncu_page_command("ncu", "r", which); };
  EXPECT_EQ(value(page(NcuPage::raw), "--page"), "raw");
  EXPECT_EQ(value(page(NcuPage::details), "--page"), "details");
  EXPECT_EQ(value(page(NcuPage::source), "--page"), "source");
  EXPECT_EQ(value(page(NcuPage::source), "--print-source"), "cuda,sass");
  EXPECT_EQ(value(page(NcuPage::source_without_lines), "--page"), "source");
  EXPECT_EQ(value(page(NcuPage::source_without_lines), "--print-source"), "sass");
  EXPECT_THAT(values(page(NcuPage::raw), "--print-source"), IsEmpty());
}

}  // namespace
}  // namespace kernelpro
