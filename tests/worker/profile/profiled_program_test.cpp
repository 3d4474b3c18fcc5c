// Programs started as for a profiler: free and in the real jail.
#include "worker/profile/profiled_program.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "common/base/file.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t long_ms = 60'000;

class ProfiledProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_) << scratch_.error().text();
    ASSERT_EQ(::chmod(folder().c_str(), 0777), 0);
  }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }

  // A script that anybody may read and start.
  [[nodiscard]] std::string script(const char* name, const std::string& text) const {
    const fs::path path = folder() / name;
    EXPECT_TRUE(write_file_unsynced(path, text));
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path.string();
  }

  [[nodiscard]] static ProfiledProgram free_program(const std::vector<std::string>& arguments) {
    ProfiledProgram program;
    program.arguments = arguments;
    program.timeout_ms = long_ms;
    return program;
  }

  [[nodiscard]] ProfiledProgram jailed_program(const std::vector<std::string>& arguments) const {
    ProfiledProgram program = free_program(arguments);
    program.jail_program = KERNELPRO_BIN_DIR "/kernelpro-jail";
    JailPolicy policy;
    policy.read = {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"};
    policy.write = {folder().string()};
    policy.file_bytes = 1 << 20;
    program.jail = policy;
    return program;
  }

  [[nodiscard]] static Finished run(const ProfiledProgram& program,
                                    const std::vector<std::string>& wrapper = {},
                                    const std::map<std::string, std::string>& environment = {}) {
    const Result<Finished> finished = run_profiled(program, wrapper, environment);
    EXPECT_TRUE(finished) << finished.error().text();
    return finished ? *finished : Finished();
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("profiled-program-test");
};

// Sets a variable of ours as long as it lives.
class OurVariable {
 public:
  OurVariable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  OurVariable(const OurVariable&) = delete;
  OurVariable& operator=(const OurVariable&) = delete;
  ~OurVariable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

constexpr char say_variables[] = "#!/bin/sh\necho \"[$OURS] [$ITS] [$ADDED]\"\n";

TEST_F(ProfiledProgramTest, AFreeProgramHasOurEnvironmentAndMore) {
  const OurVariable ours("OURS", "ours");
  ProfiledProgram program = free_program({script("say", say_variables)});
  program.environment = {{"ITS", "its"}, {"ADDED", "overwritten"}};
  EXPECT_EQ(run(program, {}, {{"ADDED", "added"}}).output, "[ours] [its] [added]\n");
}

TEST_F(ProfiledProgramTest, AJailedProgramHasItsOwnEnvironmentAlone) {
  const OurVariable ours("OURS", "ours");
  ProfiledProgram program = jailed_program({script("say", say_variables)});
  program.environment = {{"ITS", "its"}};
  const Finished finished = run(program, {}, {{"ADDED", "added"}});
  EXPECT_EQ(finished.output, "[] [its] [added]\n") << finished.errors;
}

TEST_F(ProfiledProgramTest, TheWrapperComesBeforeTheProgram) {
  const std::string wrapper =
      script("wrap", "#!/bin/sh\necho \"wrapped with $1\"\nshift\n\"$@\"\n");
  const std::string program = script("say", "#!/bin/sh\necho \"said $1 and $2\"\n");
  const std::vector<std::string> arguments = {program, "a b", "$c"};
  const std::string expected = "wrapped with --option\nsaid a b and $c\n";
  EXPECT_EQ(run(free_program(arguments), {wrapper, "--option"}).output, expected);
  const Finished jailed = run(jailed_program(arguments), {wrapper, "--option"});
  EXPECT_EQ(jailed.output, expected) << jailed.errors;
}

// The driver names its threads so. What root could change of the machine stays as it is.
TEST_F(ProfiledProgramTest, AWrappedProgramMayNameItsThreads) {
  const std::string wrapper = script("wrap", "#!/bin/sh\n\"$@\"\n");
  const std::string path =
      script("name",
             "#!/bin/sh\n"
             "if printf named > /proc/self/task/$$/comm; then cat /proc/$$/comm; fi\n"
             "ratio=/proc/sys/vm/overcommit_ratio\n"
             "if cat $ratio > $ratio; then echo changed the machine; fi\n");
  ProfiledProgram program = jailed_program({path});
  program.jail->read.emplace_back("/proc");
  const Finished finished = run(program, {wrapper});
  EXPECT_EQ(finished.output, "named\n") << finished.errors;
  if (geteuid() == 0) {
    program.jail->drop_user = false;
    const Finished root = run(program, {wrapper});
    EXPECT_EQ(root.output, "") << root.errors;
  }
}

// The jail starts what it is given by descriptor, which an interpreter cannot open by its name.
TEST_F(ProfiledProgramTest, AScriptRunsInTheJailByItsInterpreter) {
  for (const char* first : {"#!/bin/sh", "#! /bin/sh", "#!/usr/bin/env sh", "#!/bin/sh -e"}) {
    const std::string path =
        script("script", std::string(first) + "\necho \"$0 got $1\"\nfalse\ntrue\n");
    const Finished finished = run(jailed_program({path, "it"}));
    EXPECT_EQ(finished.output, path + " got it\n") << first << ": " << finished.errors;
    EXPECT_EQ(finished.exit_code, std::string(first).ends_with("-e") ? 1 : 0) << first;
  }
}

TEST_F(ProfiledProgramTest, AProgramRunsInTheJailAsItIs) {
  EXPECT_EQ(run(jailed_program({"/bin/echo", "hello"})).output, "hello\n");
}

TEST_F(ProfiledProgramTest, TheJailHolds) {
  const Result<ScratchDir> outside = ScratchDir::create("profiled-program-outside");
  ASSERT_TRUE(outside);
  ASSERT_EQ(::chmod(outside->path().c_str(), 0777), 0);
  const std::string inner = (folder() / "written").string();
  const std::string outer = (outside->path() / "written").string();
  const std::string path =
      script("write", "#!/bin/sh\necho inside > " + inner + "\necho outside > " + outer + "\n");
  EXPECT_FALSE(run(jailed_program({path})).succeeded());
  const Result<std::string> written = read_file(inner);
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_EQ(*written, "inside\n");
  EXPECT_FALSE(fs::exists(outer));
  EXPECT_TRUE(run(free_program({path})).succeeded());
  EXPECT_TRUE(fs::exists(outer));
}

TEST_F(ProfiledProgramTest, RunsInItsDirectory) {
  ProfiledProgram program = free_program({"/bin/pwd"});
  program.directory = folder().string();
  EXPECT_EQ(run(program).output, fs::canonical(folder()).string() + "\n");
}

TEST_F(ProfiledProgramTest, AFailingProgramIsAValue) {
  const Finished failed = run(free_program({script("fail", "#!/bin/sh\necho why >&2\nexit 3\n")}));
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_EQ(failed.errors, "why\n");
  const Finished killed = run(free_program({script("die", "#!/bin/sh\nkill -SEGV $$\n")}));
  EXPECT_EQ(killed.signal, SIGSEGV);
}

TEST_F(ProfiledProgramTest, AHangingProgramIsEnded) {
  const std::string path = script("hang", "#!/bin/sh\necho begun\nsleep 1000\necho ended\n");
  for (ProfiledProgram program : {free_program({path}), jailed_program({path})}) {
    program.timeout_ms = 1000;
    const Finished finished = run(program);
    EXPECT_TRUE(finished.timed_out);
    EXPECT_THAT(finished.output, Not(HasSubstr("ended")));
  }
}

TEST_F(ProfiledProgramTest, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  const Result<Finished> finished = run_profiled(
      free_program({script("hang", "#!/bin/sh\nsleep 1000\n")}), {}, {}, stop.get_token());
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, ErrorKind::interrupted);
}

TEST_F(ProfiledProgramTest, KeepsNoMoreOutputThanAllowed) {
  ProfiledProgram program =
      free_program({script("much", "#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' x\n")});
  program.output_limit = 1000;
  const Finished finished = run(program);
  EXPECT_TRUE(finished.succeeded());
  EXPECT_LE(finished.output.size(), 1000U);
}

TEST_F(ProfiledProgramTest, AProgramThatIsNotThereSaysSo) {
  const std::string nowhere = (folder() / "nothing").string();
  const Result<Finished> free = run_profiled(free_program({nowhere}), {}, {});
  ASSERT_FALSE(free);
  EXPECT_THAT(free.error().text(), HasSubstr(nowhere));
  const Finished jailed = run(jailed_program({nowhere}));
  EXPECT_EQ(jailed.exit_code, jail_failed_exit_code);
  EXPECT_THAT(jailed.errors, HasSubstr(nowhere));
}

TEST_F(ProfiledProgramTest, AScriptWithoutInterpreterSaysSo) {
  const std::string path = script("odd", "#!\necho hello\n");
  const Finished finished = run(jailed_program({path}));
  EXPECT_FALSE(finished.succeeded());
  EXPECT_THAT(finished.errors, Not(IsEmpty()));
}

}  // namespace
}  // namespace kernelpro
