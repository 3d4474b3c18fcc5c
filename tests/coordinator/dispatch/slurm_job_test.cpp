#include "coordinator/dispatch/slurm_job.hpp"

#include <gmock/gmock.h>

#include "common/base/file.hpp"
#include "support/environment.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SlurmState, IsReadFromALineOfSqueue) {
  const SlurmState waits = parse_slurm_state("17|PENDING|Resources|NO|").value();
  EXPECT_TRUE(waits.is_waiting());
  EXPECT_EQ(waits.text(), "job 17: PENDING (Resources)");
  const SlurmState runs = parse_slurm_state("18|RUNNING|None|OK|n[1,2]").value();
  EXPECT_TRUE(runs.is_running());
  EXPECT_EQ(runs.sharing, "OK");
  EXPECT_EQ(runs.text(), "job 18 on n[1,2]: RUNNING");
}

TEST(SlurmState, OfAnotherFormIsNone) {
  for (const char* line : {"", "17", "|||", "||||", "17||||", "|RUNNING|||n1", "17|RUNNING|x"}) {
    EXPECT_FALSE(parse_slurm_state(line)) << line;
  }
}

// Programs of the cluster's names that are only there to be found.
class Prepared : public ::testing::Test {
 protected:
  Prepared() {
    for (const char* program : {"srun", "squeue", "scancel"}) {
      const fs::path path = folder_->path() / program;
      EXPECT_TRUE(write_file_unsynced(path, "#!/bin/sh\n").ok());
      fs::permissions(path, fs::perms::owner_all);
    }
  }
  [[nodiscard]] static std::vector<std::string> command(const std::string& places) {
    SlurmPlace place = parse_slurm_places(places).value().place;
    place.worker = place.worker.empty() ? "/w" : place.worker;
    return SlurmJob::prepare(place).value().command();
  }

  Result<ScratchDir> folder_ = ScratchDir::create("slurm-job-test");
  ScopedVariable path_{"PATH", folder_->path().string() + ":/usr/bin:/bin"};
};

TEST_F(Prepared, AsksForWhatWasAskedFor) {
  EXPECT_THAT(command("partition=p,account=a,qos=q,constraint=[x|y],time=1:00,worker=/there"),
              AllOf(Contains("--partition=p"), Contains("--account=a"), Contains("--qos=q"),
                    Contains("--constraint=[x|y]"), Contains("--time=1:00"),
                    Contains("--exclusive"), Contains("--mem=0"), Contains("/there")));
}

TEST_F(Prepared, HasItsNodeAloneUnlessItIsShared) {
  EXPECT_THAT(command("shared"), AllOf(Not(Contains("--exclusive")), Not(Contains("--mem=0"))));
  EXPECT_THAT(command("mem=4G"), AllOf(Contains("--mem=4G"), Not(Contains("--mem=0"))));
}

TEST_F(Prepared, IsNoPartOfAJobThatWeAreInOurselves) {
  EXPECT_THAT(command(""), Not(Contains("SLURM_JOB_ID")));
  const ScopedVariable job{"SLURM_JOB_ID", "4"};
  const ScopedVariable settings{"SLURM_CONF", "/conf"};
  EXPECT_THAT(command(""), AllOf(Contains("SLURM_JOB_ID"), Not(Contains("SLURM_CONF"))));
}

TEST_F(Prepared, NeedsTheProgramsOfTheCluster) {
  fs::remove(folder_->path() / "squeue");
  const ScopedVariable alone{"PATH", folder_->path().string()};
  const Result<SlurmJob> job = SlurmJob::prepare({});
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().kind, ErrorKind::environment);
  EXPECT_THAT(job.error().text(), HasSubstr("there is no squeue in PATH"));
}

}  // namespace
}  // namespace kernelpro
