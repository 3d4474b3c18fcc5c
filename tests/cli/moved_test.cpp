// Results of a user's own function: taken home in every form, also after the project was moved.
#include "cli/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const scale_source =
    "#include \"shift.hpp\"\n\n// Doubles, and shifts.\n"
    "void scale(const float* x, float* out, int n) {\n"
    "  for (int i = 0; i < n; ++i) {\n    out[i] = x[i] + x[i] + shift(i);\n  }\n}\n";

class MovedProject : public Cli {
 protected:
  [[nodiscard]] Finished run_in(const fs::path& folder, const Words& words) const {
    Command call = command(words);
    call.directory = folder.string();
    return run_to_end(call);
  }
  [[nodiscard]] Finished in_project(const Words& arguments) const {
    return run_in(before(), with_program(arguments));
  }
  // From elsewhere: what the current folder is must not matter.
  [[nodiscard]] Finished moved(Words arguments) const {
    arguments.insert(arguments.end(), {"--store", (after() / ".kernelpro").string()});
    return kernelpro(arguments);
  }
  [[nodiscard]] fs::path before() const { return work() / "homestead"; }
  [[nodiscard]] fs::path after() const { return work() / "new" / "place"; }

  [[nodiscard]] static Words optimizing(const Words& more) {
    Words words = {"optimize", "src/scale.cpp:scale", "-I", "include", "--size", "n=4096"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // scale-1 with the node 1, whose source differs, and wave-1.
  void make_runs() const {
    write(before() / "src/scale.cpp", scale_source);
    write(before() / "include/shift.hpp",
          "#pragma once\ninline float shift(int i) { return i % 2 == 0 ? 1.0F : 2.0F; }\n");
    const Finished made = in_project(optimizing({"--dry-run", "--json"}));
    expect_exit(made, 0);
    const Json task = Json::parse(made.output, nullptr, false);
    ASSERT_TRUE(task.is_object()) << made.output;
    const fs::path baseline = before() / fs::path(task["task"].get<std::string>()) / "baseline.cpp";
    const std::string unrolled =
        replaced(content_of(baseline), "  for (", "#pragma GCC unroll 4\n  for (");
    write(before() / "mine.cpp", replaced(unrolled, "i % 2 == 0", "(i & 1) == 0"));
    const Words quickly = {"-n", "1", "--timing", "0.02", "--quiet", "--accept-suspect"};
    Words own = optimizing(quickly);
    own.insert(own.end(), {"--from", "mine.cpp"});
    Words wave = {"optimize", data("wave"), "--tier", "build"};
    wave.insert(wave.end(), quickly.begin(), quickly.end());
    for (const Words& words : {own, wave}) {
      ASSERT_THAT(in_project(words).exit_code, AnyOf(0, 3));  // faster or not
    }
  }

  void expect_without_its_name(const fs::path& folder) const {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) {
        EXPECT_THAT(content_of(entry.path()), Not(HasSubstr("homestead"))) << entry.path();
      }
    }
  }
};

TEST_F(MovedProject, GoesOnInItsNewPlaceAndGivesItsResultsBack) {
  make_runs();
  // Nothing names the folder, in certificates either, which are packed in the store.
  expect_without_its_name(before() / ".kernelpro");
  for (const char* run : {"scale-1", "wave-1"}) {
    for (const char* what : {"show", "report"}) {
      EXPECT_THAT(in_project({what, run, "--json"}).output, Not(HasSubstr("homestead")));
    }
  }
  fs::create_directories(after().parent_path());
  fs::rename(before(), after());
  for (const char* run : {"scale-1", "wave-1"}) {
    expect_exit(moved({"show", run, "1"}), 0);
    expect_exit(moved({"report", run}), 0);
    EXPECT_THAT(moved({"resume", run, "-n", "2", "--quiet"}).exit_code, AnyOf(0, 3));
    expect_exit(moved({"export", run, "1", std::string("home/") + run, "--accept-suspect"}), 0);
  }
  expect_without_its_name(work() / "home");
  const Json verified = Json::parse(
      kernelpro({"verify", "home/scale-1/certificate.json", "--timing", "0.02", "--json"}).output,
      nullptr, false);
  ASSERT_TRUE(verified.contains("evaluation")) << verified;
  EXPECT_EQ(verified["evaluation"]["certificate"]["verdict"]["outcome"], "passed") << verified;
  // The patch is for both of the user's files.
  const Json patched = Json::parse(
      moved({"export", "scale-1", "1", "patch", "--as", "patch", "--accept-suspect", "--json"})
          .output,
      nullptr, false);
  ASSERT_TRUE(patched.contains("files")) << patched;
  EXPECT_THAT(patched["files"], AllOf(Contains("scale.patch"), Contains("certificate.json")));
  EXPECT_EQ(content_of(work() / "patch/scale.patch"),
            content_of(work() / "home/scale-1/scale.patch"));
  expect_exit(run_in(after(), {"patch", "-p1", "-i", (work() / "patch/scale.patch").string()}), 0);
  EXPECT_THAT(content_of(after() / "src/scale.cpp"),
              AllOf(HasSubstr("// Doubles, and shifts."),
                    HasSubstr("#pragma GCC unroll 4\n  for (int i = 0;")));
  EXPECT_THAT(content_of(after() / "include/shift.hpp"), HasSubstr("(i & 1) == 0 ?"));

  // The file is another now: no patch for it, and nothing is written.
  const Finished changed =
      moved({"export", "scale-1", "1", "late", "--as", "patch", "--accept-suspect"});
  expect_exit(changed, 2);
  EXPECT_THAT(changed.errors, AllOf(HasSubstr("it has changed since the run began"),
                                    HasSubstr("--as can be source, header, cmake or library")));
  EXPECT_FALSE(fs::exists(work() / "late"));
  const Finished without = moved({"export", "scale-1", "1", "late", "--accept-suspect"});
  expect_exit(without, 0);
  EXPECT_THAT(without.errors, HasSubstr("without a patch: "));
  EXPECT_FALSE(fs::exists(work() / "late/scale.patch"));

  // As a library, whose own `scale` does not meet the program's.
  expect_exit(moved({"export", "scale-1", "1", "lib", "--as", "library", "--accept-suspect"}), 0);
  write(work() / "app.cpp",
        "#include \"lib/kernelpro_scale.h\"\nvoid scale(const float*, float*, int) {}\n"
        "alignas(64) float x[2] = {3, 4}, out[2];\nint main() {\n"
        "  return kernelpro_scale(2, x, out, 1) == 0 && out[0] == 7 && out[1] == 10 ? 0 : 1;\n}\n");
  expect_exit(run_in(work(), {"/bin/sh", "-ec",
                              "sh lib/build.sh\nc++ app.cpp -Llib -lkernelpro_scale "
                              "-Wl,-rpath,lib -o app\n./app"}),
              0);
  expect_exit(moved({"export", "scale-1", "1", "tree", "--as", "cmake", "--accept-suspect"}), 0);
  EXPECT_THAT(content_of(work() / "tree/CMakeLists.txt"),
              HasSubstr("add_library(kernelpro_scale SHARED kernelpro_scale.cpp)"));

  const Finished wave = moved({"export", "wave-1", "0", "late", "--as", "patch"});
  expect_exit(wave, 2);
  EXPECT_THAT(wave.errors, HasSubstr("its task was not made of a function of yours"));
  const Finished unknown = moved({"export", "scale-1", "99", "never"});
  expect_exit(unknown, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("99"));
  write(work() / "file", "");
  expect_exit(moved({"export", "scale-1", "0", "file/below"}), 5);
  EXPECT_FALSE(fs::exists(work() / "never"));
}

TEST_F(MovedProject, TheFormIsCheckedBeforeAnythingIsRead) {
  const Finished misspelled = kernelpro({"export", "nobody-1", "home", "--as", "libary"});
  expect_exit(misspelled, 1);
  EXPECT_THAT(misspelled.errors,
              HasSubstr("--as: there is no \"libary\"; did you mean \"library\"?"));
  EXPECT_FALSE(fs::exists(work() / ".kernelpro"));
}

}  // namespace
}  // namespace kernelpro
