#include "common/model/workers.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;

WorkerPlace by(const std::string& command) {
  return {.command = command, .device = {}};
}

WorkerPlace on(int device) {
  return {.command = {}, .device = device};
}

TEST(Workers, AreOneHereIfNothingIsSaid) {
  EXPECT_THAT(Workers().places, ElementsAre(WorkerPlace()));
  EXPECT_EQ(parse_workers("local"), Workers());
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
       {"local", "local:3", "cmd:a b,local:1,cmd:c,d", "bundle:/x", "replay:y"}) {
    EXPECT_EQ(text_of(parse_workers(text).value()), text);
  }
}

TEST(Workers, OfAnotherFormAreNotUnderstood) {
  for (const char* text : {"", "moon", "bundle", "bundle:", "cmd:", "local:", "local:-1", "local:x",
                           "local:1x", "local:99999999999", "local,", "local,moon", "locally"}) {
    EXPECT_FALSE(parse_workers(text)) << text;
  }
}

}  // namespace
}  // namespace kernelpro
