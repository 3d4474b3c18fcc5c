#include "common/model/workers.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

WorkerPlace by(const std::string& command) {
  return {.command = command, .device = {}};
}

WorkerPlace on(int device) {
  return {.command = {}, .device = device};
}

TEST(Workers, AreOneHereIfNothingIsSaid) {
  EXPECT_THAT(Workers().places, ElementsAre(WorkerPlace()));
  EXPECT_EQ(parse_workers("local").value(), Workers());
}

TEST(Workers, AreAList) {
  EXPECT_THAT(parse_workers("local:0,local:1").value().places, ElementsAre(on(0), on(1)));
  EXPECT_THAT(parse_workers("local,cmd:ssh -p 22 host kernelpro-worker").value().places,
              ElementsAre(WorkerPlace(), by("ssh -p 22 host kernelpro-worker")));
}

TEST(Workers, HaveCommandsWithCommasAndColons) {
  EXPECT_THAT(parse_workers("cmd:run --on a,b:c,cmd:other,local").value().places,
              ElementsAre(by("run --on a,b:c"), by("other"), WorkerPlace()));
}

TEST(Workers, WorkByFiles) {
  const Workers bundle = parse_workers("bundle:a,local").value();
  EXPECT_EQ(bundle.scheme, WorkerScheme::bundle);
  EXPECT_EQ(bundle.file, "a,local");
  EXPECT_EQ(parse_workers("replay:x").value().scheme, WorkerScheme::replay);
}

TEST(Workers, AreReadAsTheyAreWritten) {
  for (const char* text :
       {"local", "local:3", "cmd:a b,local:1,cmd:c,d", "bundle:/x", "replay:y",
        "slurm:", "slurm:account=a,partition=p,worker=/w,wait=60,idle=5,shared,count=3",
        "slurm:partition=a,count=2,slurm:partition=b,cmd:c,local"}) {
    EXPECT_EQ(text_of(parse_workers(text).value()), text);
  }
}

TEST(Workers, OfAnotherFormAreNotUnderstood) {
  for (const char* text : {"", "moon", "bundle", "bundle:", "cmd:", "local:", "local:-1", "local:x",
                           "local:1x", "local:99999999999", "local,", "local,moon", "locally"}) {
    const Result<Workers> parsed = parse_workers(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.error().text(), HasSubstr("expected \"local\", \"local:DEVICE\""));
  }
}

TEST(Workers, OfAClusterAreAsManyAsAreCounted) {
  const std::vector<WorkerPlace> places =
      parse_workers("local,slurm:partition=gpu,nodelist=n1,n2,time=1:00:00,count=2,slurm:shared")
          .value()
          .places;
  ASSERT_THAT(places, SizeIs(4));
  EXPECT_TRUE(places[0].here());
  EXPECT_FALSE(places[1].here());
  EXPECT_THAT(
      places[1].slurm->options,
      ElementsAre(Pair("nodelist", "n1,n2"), Pair("partition", "gpu"), Pair("time", "1:00:00")));
  EXPECT_EQ(places[1], places[2]);
  EXPECT_FALSE(places[2].slurm->shared);
  EXPECT_TRUE(places[3].slurm->shared);
}

TEST(Workers, OfAClusterMayWaitAndIdle) {
  const SlurmPlace place = *parse_workers("slurm:wait=2h,idle=0").value().places[0].slurm;
  EXPECT_EQ(place.wait_seconds, 7200);
  EXPECT_EQ(place.idle_seconds, 0);
}

TEST(Workers, OfAClusterThatAskForSomethingElseAreRefusedWithTheReason) {
  const auto reason = [](const std::string& text) {
    const Result<Workers> parsed = parse_workers("slurm:" + text);
    return parsed ? "" : parsed.error().text();
  };
  EXPECT_THAT(reason("moon=1"), AllOf(HasSubstr("no \"moon\""), HasSubstr("partition, account")));
  EXPECT_THAT(reason("partition=a,partition=b"), HasSubstr("partition is given twice"));
  EXPECT_THAT(reason("partition="), HasSubstr("partition needs a value"));
  EXPECT_THAT(reason("qos=a\nb"), HasSubstr("qos needs a value"));
  EXPECT_THAT(reason("shared=no"), HasSubstr("shared has no value"));
  for (const char* count : {"0", "-1", "1001", "x", "1x", "99999999999"}) {
    EXPECT_THAT(reason(std::string("count=") + count), HasSubstr("count is a number from 1 to"));
  }
  for (const char* time : {"x", "-1", "31d"}) {
    EXPECT_THAT(reason(std::string("idle=") + time), HasSubstr("idle is a time of at most 30d"));
  }
}

}  // namespace
}  // namespace kernelpro
