// Stores that cannot be used, or not quite: what the commands say, and that nothing is lost.
#include <unistd.h>

#include "cli/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* choose_another = "choose another folder with --store or KERNELPRO_STORE";

class StoreErrors : public Cli {
 protected:
  [[nodiscard]] fs::path store() const { return work() / ".kernelpro"; }

  [[nodiscard]] static Words optimizing() {
    Words words = {"optimize", data("wave"), "--timing", "0.02",    "-n",
                   "1",        "--tier",     "build",    "--quiet", "--accept-suspect"};
    const Words workers = recorded_workers();
    words.insert(words.end(), workers.begin(), workers.end());
    return words;
  }

  // Makes wave-1 with one judged candidate, faster or not.
  void make_run() const {
    const Finished made = kernelpro(optimizing());
    ASSERT_TRUE(made.exit_code == 0 || made.exit_code == 3) << made.errors;
  }

  // `script` in a shell whose mounts nobody else sees, with kernelpro as $0.
  [[nodiscard]] Finished with_mounts(const std::string& script) const {
    return run_to_end(
        command({"unshare", "-m", "/bin/sh", "-c", script, KERNELPRO_BIN_DIR "/kernelpro"}));
  }

  [[nodiscard]] bool can_mount() const {
    return ::geteuid() == 0 && with_mounts("mount -t tmpfs none " + work().string()).succeeded();
  }

  void expect_refused(const Words& arguments, int exit_code,
                      const ::testing::Matcher<const std::string&>& said) const {
    const Finished finished = kernelpro(arguments);
    expect_exit(finished, exit_code);
    EXPECT_THAT(finished.errors, said);
  }
};

TEST_F(StoreErrors, AReadOnlyFolderCanBeReadAndSaysWhyItCannotBeWrittenTo) {
  make_run();
  // Rights do not bind root: there the whole folder must be read-only.
  const bool root = ::geteuid() == 0;
  if (root && !can_mount()) {
    GTEST_SKIP() << "root needs a read-only mount, and mounting does not work here";
  }
  const std::string folder = store().string();
  const auto read_only = [&](const std::string& arguments) {
    const std::string call = "\"$0\" " + arguments;
    const std::string mounts =
        "mount --bind " + folder + " " + folder + " && mount -o remount,bind,ro " + folder;
    return root ? with_mounts(mounts + " && exec " + call)
                : run_to_end(command({"/bin/sh", "-c", call, KERNELPRO_BIN_DIR "/kernelpro"}));
  };
  if (!root) {
    fs::permissions(store(), fs::perms(0555));
    fs::permissions(store() / "store.sqlite", fs::perms(0444));
  }
  const Finished runs = read_only("runs");
  expect_exit(runs, 0);
  EXPECT_THAT(runs.output, HasSubstr("wave-1"));
  EXPECT_THAT(runs.errors, HasSubstr("the folder cannot be written to, so what others write "
                                     "meanwhile is not seen"));
  const std::string reason = root ? "Read-only file system" : "Permission denied";
  for (const std::string& arguments : {std::string("resume wave-1"), "optimize " + data("wave")}) {
    const Finished refused = read_only(arguments);
    expect_exit(refused, 5);
    EXPECT_THAT(refused.errors,
                AllOf(HasSubstr("store.sqlite: cannot be written to (" + reason + ")"),
                      HasSubstr(choose_another)));
  }
  fs::permissions(store(), fs::perms::owner_all);
}

TEST_F(StoreErrors, AStoreOfANewerVersionIsLeftAlone) {
  make_run();
  // The last byte of the version in the header of an SQLite file.
  constexpr std::size_t version = 63;
  std::string content = content_of(store() / "store.sqlite");
  ASSERT_EQ(content.at(version), '\1');
  content[version] = '\2';
  write(store() / "store.sqlite", content);
  for (const Words& arguments : {Words{"runs"}, Words{"resume", "wave-1"}, optimizing()}) {
    expect_refused(arguments, 5,
                   AllOf(HasSubstr("made by a newer kernelpro: it has version 2 of the store"),
                         HasSubstr("knows version 1"), HasSubstr("Use the newer kernelpro")));
  }
  EXPECT_EQ(content_of(store() / "store.sqlite"), content);
}

TEST_F(StoreErrors, AFullDiskSaysSoAndLosesNothing) {
  if (!can_mount()) {
    GTEST_SKIP() << "a small disk needs mounting, which does not work here (it needs root)";
  }
  fs::create_directories(store());
  std::string optimize;
  for (const std::string& word : optimizing()) {
    optimize += " " + word;
  }
  const Finished filled = with_mounts(
      "mount -t tmpfs -o size=1m none .kernelpro || exit 77\n"
      "\"$0\"" +
      optimize +
      " > first 2>&1\n"
      "dd if=/dev/zero of=.kernelpro/fill bs=1k 2> /dev/null\n"
      "\"$0\" resume wave-1 -n 3 --quiet > second\n"
      "code=$?\n"
      "rm .kernelpro/fill\n"
      "\"$0\" runs --json\n"
      "exit $code\n");
  expect_exit(filled, 5);
  EXPECT_THAT(filled.errors, AllOf(HasSubstr("the disk is full"), HasSubstr("free some space")));
  const Json runs = Json::parse(filled.output, nullptr, false);
  ASSERT_FALSE(runs.is_discarded()) << filled.output << content_of(work() / "first");
  ASSERT_THAT(runs["runs"], SizeIs(1));
  EXPECT_EQ(runs["runs"][0]["evaluations"], 1);
}

TEST_F(StoreErrors, ARunWhoseTaskChangedIsNotResumed) {
  copy_task("mine");
  Words words = optimizing();
  words[1] = "mine";
  (void)kernelpro(words);
  const fs::path source = work() / "tasks/mine/baseline.cpp";
  const std::string before = content_of(source);
  write(source, before + "// changed\n");
  expect_refused({"resume", "mine-1", "-n", "2"}, 2,
                 AllOf(HasSubstr("tasks/mine"), HasSubstr("has changed since run mine-1 began"),
                       HasSubstr("put it back, or start again with `kernelpro optimize")));
  write(source, "not C++ {");
  write(work() / "tasks/mine/task.toml", "name = 7\n");
  expect_refused({"resume", "mine-1", "-n", "2"}, 2, HasSubstr("task.toml"));
  EXPECT_EQ(json({"runs"}, "cli_runs.json", 0)["runs"][0]["evaluations"], 1);
  EXPECT_TRUE(json({"tools"}, "cli_tools.json", 0)["tools"].empty());  // nothing was profiled
}

TEST_F(StoreErrors, AnExportDoesNotTouchFilesThatAreThere) {
  make_run();
  write(work() / "home/kernel.cpp", "mine\n");
  expect_refused({"export", "wave-1", "0", "home"}, 2,
                 AllOf(HasSubstr("home: these files are there already: kernel.cpp; export to "
                                 "another folder"),
                       HasSubstr("overwrite")));
  EXPECT_EQ(content_of(work() / "home/kernel.cpp"), "mine\n");
  EXPECT_THAT(names_in(work() / "home"), SizeIs(1));
  write(work() / "file", "");
  expect_refused({"export", "wave-1", "0", "file"}, 5,
                 AnyOf(HasSubstr("Not a directory"), HasSubstr("File exists")));
}

TEST_F(StoreErrors, AMalformedMoveFileIsNamedWithItsLine) {
  const fs::path share = work() / "share";
  for (const char* folder : {"include", "ceilings", "knowledge"}) {
    fs::create_directories(share / folder);
    fs::copy(fs::path(KERNELPRO_SOURCE_DIR) / folder, share / folder, fs::copy_options::recursive);
  }
  set("KERNELPRO_SHARE", share.string());
  const fs::path move = share / "knowledge/moves/cpu/own.md";
  write(move, "---\nid: own\ntier: sometimes\n---\nTry it.\n");
  expect_refused(optimizing(), 2,
                 AllOf(HasSubstr("own.md:3: tier: "), HasSubstr("build, pragmas, nest")));
  write(move, "---\nid: own\ncolor red\n---\nTry it.\n");
  expect_refused(optimizing(), 2,
                 AllOf(HasSubstr("own.md:3: expected \"key: value\""), HasSubstr("color red")));
  write(move, "no fence\n");
  expect_refused(optimizing(), 2, HasSubstr("own.md:1: expected --- before the keys"));
}

}  // namespace
}  // namespace kernelpro
