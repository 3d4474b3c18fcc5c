// What the command line does on a machine that lacks something.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <sstream>

#include "cli/running.hpp"
#include "common/base/machine_lock.hpp"
#include "common/base/set_variable.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Makes landlock look as on a kernel without it, for this thread and what it starts.
bool hide_landlock() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

// Root can, but not in a chroot, whose root folder is no mount that could be made private.
bool may_mount() {
  std::ifstream mounts("/proc/self/mountinfo");
  bool root_is_mount = false;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string id;
    std::string parent;
    std::string device;
    std::string root;
    std::string place;
    fields >> id >> parent >> device >> root >> place;
    root_is_mount = root_is_mount || place == "/";
  }
  return geteuid() == 0 && root_is_mount;
}

// Gives this thread mounts of its own, which go with it and its children.
bool take_own_mounts() {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

class Machine : public Cli {
 protected:
  // Runs `work` in a thread that may be changed for good.
  static void apart(const std::function<void()>& work) { std::thread(work).join(); }

  [[nodiscard]] Finished judge(const Words& more = {}) const {
    Words arguments = {"evaluate", data("wave"), data("fast.cpp"), "--no-timing"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return kernelpro(arguments);
  }

  // A file system of `bytes` bytes at ./small, in mounts of this thread's own.
  [[nodiscard]] bool mount_small(const char* bytes) const {
    fs::create_directories(small());
    return take_own_mounts() &&
           mount("none", small().c_str(), "tmpfs", 0, (std::string("size=") + bytes).c_str()) == 0;
  }
  [[nodiscard]] fs::path small() const { return work() / "small"; }
};

TEST_F(Machine, DoctorSaysWhatIsThere) {
  const Finished text = kernelpro({"doctor"});
  expect_exit(text, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("kernelpro " KERNELPRO_VERSION " on "),
                                 HasSubstr("landlock ABI "), HasSubstr("target: "),
                                 HasSubstr("noise floor "), HasSubstr("ready to judge\n")));
  const Json description = json({"doctor"}, "cli_doctor.json", 0);
  EXPECT_FALSE(description["compilers"].empty());
  EXPECT_GT(description["noise_floor"], 0.0);
}

TEST_F(Machine, CeilingsAreShownAndFollowTheirSchema) {
  EXPECT_FALSE(json({"ceilings"}, "ceilings.json", 0)["list"].empty());
  const Finished text = kernelpro({"ceilings"});
  expect_exit(text, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("ceiling"), HasSubstr("copy"), HasSubstr("GB/s")));
}

TEST_F(Machine, WithoutLandlockNothingIsJudgedUnlessTheUserGivesUpTheSandbox) {
  apart([this] {
    ASSERT_TRUE(hide_landlock());
    const Finished refused = judge();
    expect_exit(refused, 5);
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("landlock ABI 2 or later is missing (found 0)"),
                                      HasSubstr("--sandbox none")));
    const Finished doctor = kernelpro({"doctor"});
    expect_exit(doctor, 5);
    EXPECT_THAT(doctor.output, AllOf(HasSubstr("missing: landlock ABI 2"), HasSubstr("Linux 6.1"),
                                     HasSubstr("not ready to judge")));
    const Json description = json({"doctor"}, "cli_doctor.json", 5);
    EXPECT_TRUE(description["noise_floor"].is_null());
    EXPECT_EQ(description["problems"][0]["fatal"], true);
    const Finished open = judge({"--sandbox", "none"});
    expect_exit(open, 0);
    EXPECT_THAT(open.output, HasSubstr("passed (unverified)"));
  });
}

TEST_F(Machine, WithoutAnyCompilerDoctorSaysHowToGetOne) {
  if (!may_mount()) {
    GTEST_SKIP() << "only root outside of a chroot can hide the compilers";
  }
  apart([this] {
    ASSERT_TRUE(take_own_mounts());
    for (const auto& entry : fs::directory_iterator("/usr/bin")) {
      const std::string name = entry.path().filename().string();
      if (name.find("g++") != std::string::npos || name.find("clang++") != std::string::npos) {
        ASSERT_EQ(mount("/dev/null", entry.path().c_str(), nullptr, MS_BIND, nullptr), 0) << name;
      }
    }
    set("KERNELPRO_CACHE", (work() / "cache").string());
    const Finished doctor = kernelpro({"doctor"});
    expect_exit(doctor, 5);
    EXPECT_THAT(doctor.output, AllOf(HasSubstr("missing: "), HasSubstr("compiler"),
                                     HasSubstr("apt-get install g++")));
    const Finished refused = judge();
    expect_exit(refused, 5);
    EXPECT_THAT(refused.errors, HasSubstr("compiler"));
  });
}

TEST_F(Machine, AMissingWorkerIsNamedWithAdvice) {
  const fs::path alone = work() / "kernelpro";
  fs::copy(KERNELPRO_BIN_DIR "/kernelpro", alone);
  const Finished finished = run_to_end(command({alone.string(), "doctor"}));
  expect_exit(finished, 5);
  EXPECT_THAT(finished.errors,
              AllOf(HasSubstr("kernelpro-worker is not beside this one"), HasSubstr("install")));
}

TEST_F(Machine, ACacheThatCannotBeWrittenIsNamed) {
  write(work() / "file", "not a folder");
  set("KERNELPRO_CACHE", (work() / "file/cache").string());
  const Finished finished = judge();
  expect_exit(finished, 5);
  EXPECT_THAT(finished.errors, AllOf(HasSubstr("Not a directory"), HasSubstr("file/cache")));
}

TEST_F(Machine, AFullDiskUnderTheCacheIsSaid) {
  if (!may_mount()) {
    GTEST_SKIP() << "only root outside of a chroot can mount a small file system";
  }
  apart([this] {
    ASSERT_TRUE(mount_small("8k")) << std::strerror(errno);
    set("KERNELPRO_CACHE", (small() / "cache").string());
    const Finished finished = judge();
    expect_exit(finished, 5);
    EXPECT_THAT(finished.errors, HasSubstr("the disk is full"));
  });
}

TEST_F(Machine, AFullDiskUnderTheCertificatesLosesNoVerdict) {
  if (!may_mount()) {
    GTEST_SKIP() << "only root outside of a chroot can mount a small file system";
  }
  apart([this] {
    ASSERT_TRUE(mount_small("4k")) << std::strerror(errno);
    const Finished finished = judge({"--json", "--certificates", small().string()});
    const Json result = checked_json(finished, "cli_evaluate.json", 5);
    EXPECT_EQ(result["evaluations"].size(), 1U);
    EXPECT_EQ(result["error"]["kind"], "io");
    EXPECT_THAT(finished.errors,
                AllOf(HasSubstr("wave-fast.certificate.json"), HasSubstr("the disk is full")));
    EXPECT_THAT(names_in(small()), IsEmpty());
  });
}

TEST_F(Machine, ALockInUseIsWaitedForAndThenItsHolderIsNamed) {
  const std::string folder = (work() / "locks").string();
  fs::create_directories(folder);
  const SetVariable ours("KERNELPRO_LOCK_DIR", folder);
  set("KERNELPRO_LOCK_DIR", folder);
  set("KERNELPRO_LOCK_TIMEOUT_MS", "300");
  std::optional<Result<MachineLock>> held = MachineLock::acquire("cpu", LockMode::timing, 1000);
  ASSERT_TRUE(held->ok()) << held->error().text();
  const Finished refused = judge();
  expect_exit(refused, 5);
  EXPECT_THAT(refused.errors,
              AllOf(HasSubstr("the CPU is being timed by process " + std::to_string(getpid())),
                    HasSubstr("test_cli"), HasSubstr("waited 300 ms")));
  // Whoever waits goes on as soon as the lock is free.
  set("KERNELPRO_LOCK_TIMEOUT_MS", "60000");
  Running waiting(
      command(with_program({"evaluate", data("wave"), data("fast.cpp"), "--no-timing"})), work());
  EXPECT_TRUE(becomes_true([] { return !own_processes().empty(); }));
  held.reset();
  EXPECT_EQ(waiting.end(), 0) << waiting.errors();
}

TEST_F(Machine, TheLockFileOfADeadProcessIsNoObstacle) {
  const fs::path folder = work() / "locks";
  set("KERNELPRO_LOCK_DIR", folder.string());
  set("KERNELPRO_LOCK_TIMEOUT_MS", "1");
  write(folder / "kernelpro-cpu.lock", "4194305 timing kernelpro-worker\n");
  expect_exit(judge(), 0);
}

TEST_F(Machine, AnOrdinaryUserCanJudgeToo) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "this whole run is an ordinary user's";
  }
  const Words as_nobody = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  Words reading = as_nobody;
  reading.insert(reading.end(), {"test", "-x", KERNELPRO_BIN_DIR "/kernelpro"});
  if (run_to_end(command(reading)).exit_code != 0) {
    GTEST_SKIP() << "an ordinary user cannot read " KERNELPRO_BIN_DIR;
  }
  const fs::path cache = temporary() / "cache";
  expect_exit(kernelpro({"ceilings"}), 0);
  fs::copy(KERNELPRO_BUILD_DIR "/test-cache", cache, fs::copy_options::recursive);
  expect_exit(run_to_end(command({"chown", "-R", "65534:65534", temporary().string()})), 0);
  set("KERNELPRO_CACHE", cache.string());
  Words judging = as_nobody;
  const Words program = with_program(
      {"evaluate", data("wave"), data("fast.cpp"), "--no-timing", "--certificates", "c"});
  judging.insert(judging.end(), program.begin(), program.end());
  expect_exit(run_to_end(command(judging)), 0);
  const Json certificate = Json::parse(content_of(work() / "c/wave-fast.certificate.json"));
  EXPECT_EQ(certificate["sandbox"], "landlock");
  EXPECT_EQ(certificate["verdict"]["outcome"], "passed");
  EXPECT_EQ(certificate["verdict"]["verified"], true);
}

}  // namespace
}  // namespace kernelpro
