// Whole profiles, of programs that play a traced one, by an ncu that plays back what the real one
// printed on an H200.
#include "worker/profile/collect.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "common/base/file.hpp"
#include "common/model/figure_keys.hpp"
#include "worker/profile/data.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;

constexpr char mangled_tmpl[] = "_ZN12_GLOBAL__N_14tmplINS_3CfgILNS_4ModeE1ELi3EEEEEvPfPKfi";
constexpr char mangled_banks[] = "_Z5banksPfPKfi";
constexpr char mangled_atoms[] = "_Z5atomsPjPKfii";

// The launches of data/raw.csv. The first and the last have one name, in two modules.
constexpr char trace_text[] = R"(kernelpro-trace 1
V 130001
D 0 9 0 NVIDIA H200
N 1 aaaa _ZN12_GLOBAL__N_14tmplINS_3CfgILNS_4ModeE1ELi3EEEEEvPfPKfi
K 1 0 1 7 1 0 99104 131072 1 1 256 1 1 16 0 0 0
N 2 aaaa _Z5banksPfPKfi
K 2 0 1 7 2 100000 523008 2048 1 1 256 1 1 28 16896 0 0
N 3 aaaa _Z5atomsPjPKfii
K 3 0 1 7 3 600000 3056192 131072 1 1 256 1 1 16 0 0 0
N 4 bbbb _ZN12_GLOBAL__N_14tmplINS_3CfgILNS_4ModeE1ELi3EEEEEvPfPKfi
K 4 0 1 7 4 3100000 3199072 131072 1 1 256 1 1 16 0 0 0
E
)";

constexpr char denied_text[] =
    "==PROF== Connected to process 7 (p)\n"
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0.\n";

// Records how it was called. It prints the page that it is asked for from a file beside it; asked
// to profile, it runs "profiling.sh" where there is one and leaves a report otherwise.
constexpr char fake_ncu[] = R"(#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/commands"
for word in "$@"; do
  case "$before" in
    --page) page=$word ;;
    --print-source) page=source_$word ;;
    --export) report=$word ;;
    --metrics) metrics=$word ;;
  esac
  before=$word
done
if [ -n "$page" ]; then
  if [ -e "$here/$page.fails" ]; then cat "$here/$page.fails"; exit 1; fi
  cat "$here/$page"
  exit
fi
if [ -e "$here/profiling.sh" ]; then . "$here/profiling.sh"; fi
echo report > "$report.ncu-rep"
)";

// A page as ncu prints it with mangled names.
std::string mangled_data(const char* name) {
  std::string out = data(name);
  out = replaced(out, "void <unnamed>::tmpl<<unnamed>::Cfg<1, 3>>(float *, const float *, int)",
                 mangled_tmpl);
  out = replaced(out, "banks(float *, const float *, int)", mangled_banks);
  return replaced(out, "atoms(unsigned int *, const float *, int, int)", mangled_atoms);
}

class CollectTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_) << scratch_.error().text();
    fs::create_directory(folder() / "profile");
    put("trace.txt", trace_text);
    put("raw", mangled_data("raw.csv"));
    put("source_cuda,sass", mangled_data("source_lines.csv"));
    put("source_sass", mangled_data("source_sass.csv"));
    put("details", mangled_data("details.csv"));
    put("commands", "");
    settings_.profilers.ncu = script("ncu", fake_ncu);
    settings_.profilers.trace_library = "/lib/libtrace.so";
    settings_.folder = folder() / "profile";
    settings_.share = 1;
    settings_.limits = {{"multiprocessors", 132}, {"warps", 64},
                        {"blocks", 32},           {"registers", 65536},
                        {"shared_bytes", 233472}, {"reserved_shared_bytes", 1024}};
    program("cp \"" + file("trace.txt") + "\" \"$KERNELPRO_TRACE_FILE\"\n");
    for (const fs::path& open : {folder(), settings_.folder, folder() / "commands"}) {
      ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
    }
  }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }
  [[nodiscard]] std::string file(const char* name) const { return (folder() / name).string(); }

  void put(const char* name, const std::string& text) const {
    ASSERT_TRUE(write_file_unsynced(folder() / name, text));
    ASSERT_EQ(::chmod(file(name).c_str(), 0644), 0);
  }

  [[nodiscard]] std::string script(const char* name, const std::string& text) const {
    put(name, text);
    EXPECT_EQ(::chmod(file(name).c_str(), 0755), 0);
    return file(name);
  }

  // What the profiled program does.
  void program(const std::string& text) {
    program_.arguments = {script("program", "#!/bin/sh\n" + text), "an", "argument"};
    program_.timeout_ms = 60'000;
  }

  // As a candidate runs.
  void jail_program() {
    program_.jail_program = KERNELPRO_BIN_DIR "/kernelpro-jail";
    program_.jail.emplace();
    program_.jail->read = {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"};
    program_.jail->write = {folder().string()};
    program_.jail->file_bytes = 1 << 20;
  }

  // What ncu does when it is asked to profile, in the words of a shell.
  void profiling(const std::string& text) const { put("profiling.sh", text); }

  [[nodiscard]] Profile collect() {
    Result<Collected> collected = collect_profile(program_, settings_);
    EXPECT_TRUE(collected) << collected.error().text();
    return collected ? std::move(collected->profile) : Profile();
  }

  [[nodiscard]] std::string problem() {
    const Result<Collected> collected = collect_profile(program_, settings_);
    EXPECT_FALSE(collected);
    return collected ? "" : collected.error().text();
  }

  // The command lines that ncu was started with.
  [[nodiscard]] std::vector<std::string> commands() const {
    std::vector<std::string> lines;
    std::istringstream text(read_file(folder() / "commands").value());
    for (std::string line; std::getline(text, line);) {
      lines.push_back(line);
    }
    return lines;
  }

  [[nodiscard]] std::vector<std::string> commands_with(const std::string& words) const {
    std::vector<std::string> out;
    for (const std::string& line : commands()) {
      if (line.find(words) != std::string::npos) {
        out.push_back(line);
      }
    }
    return out;
  }

  void disassembler_prints(const std::string& text) {
    put("listing", text);
    settings_.profilers.disassembler =
        script("cuobjdump", "#!/bin/sh\ncat \"" + file("listing") + "\"\n");
    settings_.binary = file("program");
  }

  ProfiledProgram program_;
  CollectSettings settings_;

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("collect-test");
};

// The code of data/kernels.cuobjdump, as if it were that of `banks`.
std::string listing_with_banks() {
  return replaced(mangled_data("kernels.cuobjdump"), "_Z3fewPfPKfi", mangled_banks);
}

const KernelProfile& kernel(const Profile& profile, const std::string& mangled) {
  for (const KernelProfile& one : profile.kernels) {
    if (one.mangled == mangled) {
      return one;
    }
  }
  ADD_FAILURE() << "no kernel " << mangled;
  static const KernelProfile none;
  return none;
}

// Nothing of the counters: no figure but those of the trace and of arithmetic.
void expect_nothing_counted(const KernelProfile& one) {
  for (const auto& [key, figure] : one.figures) {
    EXPECT_TRUE(figure.origin == Origin::trace || figure.origin == Origin::arithmetic) << key;
  }
  EXPECT_THAT(one.stalls, IsEmpty());
  EXPECT_THAT(one.lines, IsEmpty());
  EXPECT_FALSE(one.figure(figure::dram_use));
}

void expect_no_figure_is_missing_too(const Profile& profile) {
  for (const KernelProfile& one : profile.kernels) {
    for (const auto& [key, figure] : one.figures) {
      EXPECT_FALSE(one.missing.contains(key)) << one.name << ": " << key;
    }
  }
}

TEST_F(CollectTest, PutsTraceCountersAndCodeTogether) {
  const Profile profile = collect();
  EXPECT_EQ(profile.counters, "");
  EXPECT_EQ(profile.architecture, "sm_90");
  EXPECT_THAT(profile.program, EndsWith("program an argument"));
  ASSERT_TRUE(profile.trace);
  EXPECT_THAT(profile.trace->launches, SizeIs(4));
  ASSERT_THAT(profile.kernels, SizeIs(4));
  EXPECT_EQ(profile.kernels[0].mangled, mangled_atoms);
  EXPECT_EQ(profile.kernels[0].launch, 2);
  EXPECT_NEAR(profile.kernels[0].share, 2456192.0 / 3077376, 1e-9);
  EXPECT_NEAR(*profile.kernels[0].figure(figure::atomic_use), 0.99929073, 1e-6);
  const KernelProfile& shared = kernel(profile, mangled_banks);
  EXPECT_EQ(shared.name, "banks(float*, float const*, int)");
  EXPECT_EQ(shared.duration_ns, 423008);
  EXPECT_NEAR(*shared.figure(figure::l1_use), 0.95316522, 1e-6);
  EXPECT_EQ(*shared.figure(figure::shared_wavefronts), 105157056);
  EXPECT_EQ(*shared.figure(figure::registers), 32);
  EXPECT_EQ(shared.figures.at(figure::registers).origin, Origin::counter);
  EXPECT_THAT(shared.stalls, Not(IsEmpty()));
  ASSERT_TRUE(shared.code);
  EXPECT_TRUE(shared.code->counted);
  EXPECT_TRUE(shared.code->has_lines);
  EXPECT_THAT(shared.lines, Not(IsEmpty()));
  expect_no_figure_is_missing_too(profile);
}

TEST_F(CollectTest, TellsTwoKernelsOfOneNameApartByTheirLaunches) {
  const Profile profile = collect();
  ASSERT_THAT(profile.kernels, SizeIs(4));
  const KernelProfile& longer = profile.kernels[2];
  const KernelProfile& shorter = profile.kernels[3];
  EXPECT_EQ(longer.module, "aaaa");
  EXPECT_EQ(shorter.module, "bbbb");
  EXPECT_NEAR(*longer.figure(figure::duration_ns), 99104, 1);
  EXPECT_NEAR(*shorter.figure(figure::duration_ns), 99072, 1);
}

TEST_F(CollectTest, ProfilesOnlyTheKernelsThatMakeUpTheTime) {
  settings_.share = 0.9;
  // ncu would have profiled the second and the third launch.
  std::istringstream rows(mangled_data("raw.csv"));
  std::string page;
  std::string line;
  for (int row = 0; std::getline(rows, line); ++row) {
    page += row == 2 || row == 5 ? "" : line + "\n";
  }
  put("raw", page);
  const Profile profile = collect();
  ASSERT_THAT(profile.kernels, SizeIs(2));
  const std::vector<std::string> runs = commands_with("--export");
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_THAT(runs[0], HasSubstr("--launch-skip-before-match 1 --launch-count 2"));
  EXPECT_THAT(runs[0], Not(HasSubstr("tmpl")));
  EXPECT_THAT(runs[0], EndsWith(file("program") + " an argument"));
  EXPECT_NEAR(*kernel(profile, mangled_banks).figure(figure::l1_use), 0.95316522, 1e-6);
  EXPECT_NEAR(*kernel(profile, mangled_atoms).figure(figure::atomic_use), 0.99929073, 1e-6);
}

TEST_F(CollectTest, MeasuresWhatIsAskedForOnceTheTraceIsKnown) {
  std::size_t traced_kernels = 0;
  const Result<Collected> collected =
      collect_profile(program_, settings_, [&](const Profile& traced, CollectSettings& wanted) {
        traced_kernels = traced.kernels.size();
        wanted.figures = {figure::dram_use};
      });
  ASSERT_TRUE(collected) << collected.error().text();
  EXPECT_EQ(traced_kernels, 4U);
  const std::vector<std::string> runs = commands_with("--export");
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_THAT(runs[0],
              HasSubstr("--metrics gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed "));
  EXPECT_FALSE(collected->profile.kernels[0].figure(figure::l1_use));
  EXPECT_TRUE(collected->profile.kernels[0].figure(figure::dram_use));
  EXPECT_THAT(collected->seconds, Contains(Key("trace")));
  EXPECT_THAT(collected->seconds, Contains(Key("ncu")));
}

TEST_F(CollectTest, ReadsNcusOwnRulesWhereTheyAreWanted) {
  EXPECT_THAT(collect().kernels[2].rules, IsEmpty());
  EXPECT_THAT(commands_with("--page details"), IsEmpty());
  settings_.rules = true;
  const Profile profile = collect();
  ASSERT_THAT(profile.kernels[2].rules, Not(IsEmpty()));
  EXPECT_EQ(profile.kernels[2].rules[0].rule, "SOLBottleneck");
}

TEST_F(CollectTest, AsksAgainWithoutAMetricThatNcuDoesNotHave) {
  profiling(
      "case \"$metrics\" in *dram__bytes_read.sum*)\n"
      "  echo '==ERROR== Failed to find metric dram__bytes_read.sum'\n"
      "  echo '==ERROR== The application returned an error code (9).'\n"
      "  exit 9\n"
      "esac\n");
  const Profile profile = collect();
  EXPECT_EQ(profile.counters, "");
  const std::vector<std::string> runs = commands_with("--export");
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_THAT(runs[0], HasSubstr("dram__bytes_read.sum"));
  EXPECT_THAT(runs[1], Not(HasSubstr("dram__bytes_read.sum")));
  EXPECT_THAT(runs[1], HasSubstr("dram__sectors_read.sum"));
  EXPECT_TRUE(profile.kernels[0].figure(figure::dram_read_bytes));
}

TEST_F(CollectTest, DoesNotAskForever) {
  profiling("echo '==ERROR== Failed to find metric no_such_metric.sum'\nexit 9\n");
  const Profile profile = collect();
  EXPECT_THAT(profile.counters, HasSubstr("no_such_metric.sum"));
  EXPECT_THAT(commands_with("--export"), SizeIs(testing::Le(6U)));
  expect_nothing_counted(profile.kernels[0]);
}

TEST_F(CollectTest, DeniedCountersLeaveTraceCodeAndArithmetic) {
  profiling("cat <<'END'\n" + std::string(denied_text) + "END\nexit 1\n");
  disassembler_prints(listing_with_banks());
  const Profile profile = collect();
  EXPECT_THAT(profile.counters, HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_THAT(profile.counters, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(commands_with("--export"), SizeIs(1));
  EXPECT_THAT(commands_with("--page"), IsEmpty());
  ASSERT_THAT(profile.kernels, SizeIs(4));
  for (const KernelProfile& one : profile.kernels) {
    expect_nothing_counted(one);
    EXPECT_EQ(one.missing.at(figure::dram_use), profile.counters);
  }
  const KernelProfile& shared = kernel(profile, mangled_banks);
  EXPECT_EQ(*shared.figure(figure::registers), 28);
  EXPECT_EQ(shared.figures.at(figure::registers).origin, Origin::trace);
  EXPECT_EQ(*shared.figure(figure::limit_warps), 8);
  EXPECT_EQ(*shared.figure(figure::theoretical_occupancy), 1);
  EXPECT_NEAR(*shared.figure(figure::waves), 2048.0 / (8 * 132), 1e-9);
  ASSERT_TRUE(shared.code);
  EXPECT_FALSE(shared.code->counted);
  EXPECT_GT(shared.code->instructions, 0);
  EXPECT_FALSE(kernel(profile, mangled_atoms).code);
  EXPECT_THAT(kernel(profile, mangled_atoms).missing.at("code"), HasSubstr("not in"));
  expect_no_figure_is_missing_too(profile);
}

// Some versions warn, and leave a report with nothing in it.
TEST_F(CollectTest, DeniedCountersAreSeenBesideAReport) {
  profiling("cat <<'END'\n" + replaced(denied_text, "==ERROR==", "==WARNING==") + "END\n");
  const Profile profile = collect();
  EXPECT_THAT(profile.counters, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  expect_nothing_counted(profile.kernels[0]);
}

TEST_F(CollectTest, WithoutNcuSaysHowToGetIt) {
  settings_.profilers.ncu = "";
  EXPECT_THAT(collect().counters, HasSubstr("KERNELPRO_NCU"));
  settings_.counters = false;
  EXPECT_THAT(collect().counters, HasSubstr("not asked for"));
  EXPECT_THAT(commands(), IsEmpty());
}

TEST_F(CollectTest, AnNcuThatCannotBeStartedIsAnError) {
  settings_.profilers.ncu = file("no_ncu");
  EXPECT_THAT(problem(), HasSubstr("no_ncu"));
}

TEST_F(CollectTest, NcuThatHangsIsEnded) {
  profiling("sleep 1000\n");
  program_.timeout_ms = 3000;
  const Profile profile = collect();
  EXPECT_THAT(profile.counters, HasSubstr("--timeout"));
  EXPECT_THAT(commands_with("--export"), SizeIs(1));
  expect_nothing_counted(profile.kernels[0]);
}

TEST_F(CollectTest, AReportOfAnEarlierRunIsNotRead) {
  put("profile/ncu0.ncu-rep", "old");
  profiling("echo '==ERROR== something odd'\nexit 1\n");
  const Profile profile = collect();
  EXPECT_THAT(profile.counters, HasSubstr("something odd"));
  expect_nothing_counted(profile.kernels[0]);
}

// Whatever differs, figures of another launch are not this one's.
TEST_F(CollectTest, AnotherLaunchThanTheTracedOneGivesNoFigures) {
  const std::string raw = mangled_data("raw.csv");
  const std::string shape = "\"(256, 1, 1)\",\"(2048, 1, 1)\"";
  const std::string name = std::string("\"") + mangled_banks + "\"";
  ASSERT_THAT(raw, HasSubstr(shape));
  for (const std::string& other : {replaced(raw, shape, "\"(256, 1, 1)\",\"(2049, 1, 1)\""),
                                   replaced(raw, shape, "\"(128, 1, 1)\",\"(2048, 1, 1)\""),
                                   replaced(raw, name, "\"_Z5otherPf\"")}) {
    put("raw", other);
    const Profile profile = collect();
    EXPECT_EQ(profile.counters, "");
    const KernelProfile& shared = kernel(profile, mangled_banks);
    expect_nothing_counted(shared);
    EXPECT_FALSE(shared.code);
    EXPECT_THAT(shared.missing.at(figure::l1_use), HasSubstr("another launch"));
    EXPECT_TRUE(kernel(profile, mangled_atoms).figure(figure::l1_use));
    expect_no_figure_is_missing_too(profile);
  }
}

TEST_F(CollectTest, ATruncatedPageGivesTheLaunchesThatAreWhole) {
  const std::string raw = mangled_data("raw.csv");
  const std::size_t third = raw.find(mangled_atoms);
  ASSERT_NE(third, std::string::npos);
  put("raw", raw.substr(0, third + 40));
  const Profile profile = collect();
  EXPECT_EQ(profile.counters, "");
  EXPECT_TRUE(kernel(profile, mangled_banks).figure(figure::l1_use));
  expect_nothing_counted(kernel(profile, mangled_atoms));
  EXPECT_THAT(kernel(profile, mangled_atoms).missing,
              Contains(Key(std::string(figure::atomic_use))));
}

TEST_F(CollectTest, APageCutInItsHeaderIsNoFigureAndAReason) {
  put("raw", mangled_data("raw.csv").substr(0, 200));
  const Profile profile = collect();
  EXPECT_NE(profile.counters, "");
  expect_nothing_counted(profile.kernels[0]);
}

TEST_F(CollectTest, AnEmptyPageIsNoFigureAndAReason) {
  put("raw", "");
  const Profile profile = collect();
  EXPECT_NE(profile.counters, "");
  expect_nothing_counted(profile.kernels[0]);
}

TEST_F(CollectTest, ABinaryWithoutLinesHasItsMachineCode) {
  for (const bool fails : {false, true}) {
    put("source_cuda,sass", "");
    if (fails) {
      put("source_cuda,sass.fails", "==ERROR== No source is available.\n");
    }
    const Profile profile = collect();
    const KernelProfile& shared = kernel(profile, mangled_banks);
    ASSERT_TRUE(shared.code) << fails;
    EXPECT_TRUE(shared.code->counted);
    EXPECT_FALSE(shared.code->has_lines);
    EXPECT_THAT(shared.code->memory, Not(IsEmpty()));
    EXPECT_TRUE(shared.figure(figure::l1_use));
  }
}

TEST_F(CollectTest, WithoutASourcePageTheFiguresStay) {
  put("source_cuda,sass", "");
  put("source_sass", "");
  const Profile profile = collect();
  const KernelProfile& shared = kernel(profile, mangled_banks);
  EXPECT_FALSE(shared.code);
  EXPECT_THAT(shared.missing, Contains(Key(std::string("code"))));
  EXPECT_TRUE(shared.figure(figure::l1_use));
}

// More launches lie between the kernels than one window holds.
TEST_F(CollectTest, FiguresThatWereReadStayWhenALaterRunFails) {
  std::string text(trace_text);
  std::string between;
  for (int i = 5; i < 40; ++i) {
    between += "K 3 0 1 7 " + std::to_string(i) + " 4000000 6456192 131072 1 1 256 1 1 16 0 0 0\n";
  }
  put("trace.txt", replaced(text, "E\n",
                            between + "N 5 aaaa _Z4lastv\nK 5 0 1 7 40 7000000 " +
                                "7900000 9 1 1 32 1 1 8 0 0 0\nE\n"));
  settings_.share = 0.999;
  // The main kernel's run leaves the third launch, all others fail.
  std::istringstream rows(mangled_data("raw.csv"));
  std::string page;
  std::string line;
  for (int row = 0; std::getline(rows, line); ++row) {
    page += row < 2 || row == 4 ? line + "\n" : "";
  }
  put("raw", page);
  profiling("case \"$*\" in *atoms*) ;; *) echo '==ERROR== something odd'; exit 1 ;; esac\n");
  const Profile profile = collect();
  EXPECT_THAT(commands_with("--export"), SizeIs(2));
  EXPECT_THAT(profile.counters, HasSubstr("something odd"));
  EXPECT_TRUE(kernel(profile, mangled_atoms).figure(figure::atomic_use));
  expect_nothing_counted(kernel(profile, "_Z4lastv"));
  expect_no_figure_is_missing_too(profile);
}

TEST_F(CollectTest, AProgramThatFailsSaysHow) {
  program("echo the last words >&2\nexit 3\n");
  EXPECT_THAT(problem(), HasSubstr("exit code 3: the last words"));
  program("kill -SEGV $$\n");
  EXPECT_THAT(problem(), HasSubstr("signal 11"));
  EXPECT_THAT(commands(), IsEmpty());
}

TEST_F(CollectTest, AProgramThatFailsAtLengthIsCutShort) {
  program("head -c 100000 /dev/zero | tr '\\0' x\necho the end\nexit 1\n");
  const std::string text = problem();
  EXPECT_THAT(text, HasSubstr("the end"));
  EXPECT_LT(text.size(), 2000U);
}

TEST_F(CollectTest, AProgramThatHangsIsEnded) {
  program("sleep 1000\n");
  program_.timeout_ms = 1000;
  EXPECT_THAT(problem(), HasSubstr("did not end within 1 s"));
  EXPECT_THAT(commands(), IsEmpty());
}

TEST_F(CollectTest, AProgramWithoutCudaSaysSo) {
  program("true\n");
  EXPECT_THAT(problem(), HasSubstr("does not use CUDA"));
}

TEST_F(CollectTest, AProgramWithoutKernelsSaysSo) {
  put("trace.txt", "kernelpro-trace 1\nN 1 - cudaMalloc\nA 1 7 1 0 10\nE\n");
  EXPECT_THAT(problem(), HasSubstr("launched no kernel"));
}

TEST_F(CollectTest, ATraceThatCouldNotBeMadeSaysWhy) {
  put("trace.txt", "kernelpro-trace 1\nR libcupti.so.13 is not there\n");
  EXPECT_THAT(problem(), HasSubstr("libcupti.so.13 is not there"));
  put("trace.txt", "something else\n");
  EXPECT_NE(problem(), "");
}

TEST_F(CollectTest, ATraceThatWasCutIsUsedAsFarAsItGoes) {
  put("trace.txt", replaced(trace_text, "E\n", ""));
  const Profile profile = collect();
  EXPECT_FALSE(profile.trace->complete);
  EXPECT_THAT(profile.kernels, SizeIs(4));
}

TEST_F(CollectTest, WithoutATracerSaysSo) {
  settings_.profilers.trace_library = "";
  EXPECT_THAT(problem(), HasSubstr("libkernelpro_trace.so"));
}

TEST_F(CollectTest, TheProgramLearnsWhereToWriteAndWhatToLoad) {
  settings_.profilers.cupti = "/lib/libcupti.so";
  program("echo \"$CUDA_INJECTION64_PATH $KERNELPRO_CUPTI\" > \"" + file("seen") + "\"\ncp \"" +
          file("trace.txt") + "\" \"$KERNELPRO_TRACE_FILE\"\n");
  (void)collect();
  EXPECT_EQ(read_file(file("seen")).value(), "/lib/libtrace.so /lib/libcupti.so\n");
}

TEST_F(CollectTest, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  const Result<Collected> collected = collect_profile(program_, settings_, {}, stop.get_token());
  ASSERT_FALSE(collected);
  EXPECT_EQ(collected.error().kind, ErrorKind::interrupted);
}

// All of it once more in the jail, as a candidate runs.
TEST_F(CollectTest, AJailedProgramIsProfiledInItsJail) {
  jail_program();
  const Profile profile = collect();
  EXPECT_EQ(profile.counters, "");
  ASSERT_THAT(profile.kernels, SizeIs(4));
  EXPECT_NEAR(*kernel(profile, mangled_banks).figure(figure::l1_use), 0.95316522, 1e-6);
  EXPECT_TRUE(kernel(profile, mangled_banks).code);
}

TEST_F(CollectTest, AJailedProgramIsNotProfiledAsRoot) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can be root";
  }
  jail_program();
  program_.jail->drop_user = false;
  EXPECT_THAT(collect().counters, HasSubstr("no candidate is profiled as root"));
}

TEST_F(CollectTest, DeniedCountersOfAJailedProgramAreNoMatterOfOurUser) {
  jail_program();
  profiling("cat <<'END'\n" + std::string(denied_text) + "END\nexit 1\n");
  const std::string counters = collect().counters;
  EXPECT_THAT(counters, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(counters, Not(HasSubstr("Run as root")));
}

Trace part(std::int64_t end, int launches) {
  Trace trace;
  trace.end_ns = end;
  trace.launches.resize(static_cast<std::size_t>(launches));
  return trace;
}

TEST(TypicalPart, IsOfMedianSpanAmongThoseWithKernels) {
  EXPECT_EQ(typical_part({part(30, 1), part(10, 1), part(20, 1)}).end_ns, 20);
  EXPECT_EQ(typical_part({part(30, 1), part(1, 0), part(2, 0)}).end_ns, 30);
  EXPECT_EQ(typical_part({part(5, 0)}).end_ns, 5);
}

}  // namespace
}  // namespace kernelpro
