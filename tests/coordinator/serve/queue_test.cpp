#include "coordinator/serve/queue.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "common/base/file.hpp"

namespace kernelpro::serve {
namespace {

using ::testing::HasSubstr;

NewWork work(const std::string& name, const std::string& group = "axpy cpu timed") {
  return {"evaluate", "{\"name\":\"" + name + "\"}", group, "content of " + name};
}

class QueueTest : public ::testing::Test {
 protected:
  void SetUp() override { begin(); }
  // As after the end of the process that had it.
  void begin(QueueLimits limits = {}) {
    queue_.reset();
    Result<std::unique_ptr<Queue>> opened = Queue::open(folder_->path(), limits);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    queue_ = std::move(*opened);
  }
  Accepted accept(const std::vector<NewWork>& works, const std::string& key = "",
                  const std::string& client = "ann", const std::string& body = "b") {
    const Result<Accepted> accepted = queue_->accept(client, works, key, body);
    EXPECT_TRUE(accepted.ok()) << accepted.error().text();
    return *accepted;
  }
  std::optional<Work> take(const std::string& group = "") {
    const auto taken = queue_->take(group);
    EXPECT_TRUE(taken.ok()) << taken.error().text();
    return *taken;
  }
  Standing look(const std::string& id) {
    const auto standing = queue_->look(id);
    EXPECT_TRUE(standing.ok() && standing->has_value());
    return **standing;
  }

  Result<ScratchDir> folder_ = ScratchDir::create("queue");
  std::unique_ptr<Queue> queue_;
};

TEST_F(QueueTest, WorkIsTakenInItsOrderAndThatOfAnOpenTaskFirst) {
  (void)accept({work("a", "one"), work("b", "two"), work("c", "one")});
  EXPECT_THAT(take()->what.request, HasSubstr("\"a\""));
  EXPECT_THAT(take("one")->what.request, HasSubstr("\"c\""));
  EXPECT_THAT(take("one")->what.request, HasSubstr("\"b\""));
  EXPECT_FALSE(take());
}

TEST_F(QueueTest, OneResultIsKeptAndTheFirstStays) {
  const std::string id = accept({work("a")}).ids.front();
  EXPECT_EQ(look(id).state, WorkState::queued);
  (void)take();
  EXPECT_EQ(look(id).state, WorkState::judging);
  EXPECT_TRUE(*queue_->finish(id, {"{\"first\":1}", "{\"certificate\":1}", "m"}));
  EXPECT_FALSE(*queue_->finish(id, {"{\"second\":1}", "", "m"}));
  EXPECT_EQ(look(id).result, "{\"first\":1}");
  EXPECT_EQ(**queue_->certificate(id), "{\"certificate\":1}");
  EXPECT_EQ(queue_->open_count(), 0);
}

TEST_F(QueueTest, AfterAKillOnlyWhatWasUnderWayIsBegunAgainAndNotForEver) {
  const Accepted accepted = accept({work("a"), work("b"), work("c")});
  (void)take();
  EXPECT_TRUE(*queue_->finish(accepted.ids[0], {"{}", "", ""}));
  for (int attempt = 1; attempt <= most_attempts; ++attempt) {
    const std::optional<Work> again = take();
    EXPECT_EQ(again->id, accepted.ids[1]);
    EXPECT_EQ(again->attempts, attempt);
    begin();
  }
  EXPECT_EQ(look(accepted.ids[0]).state, WorkState::done);
  EXPECT_EQ(*queue_->begun_too_often(), std::vector{accepted.ids[1]});
  EXPECT_EQ(look(accepted.ids[2]).attempts, 0);
  EXPECT_EQ(queue_->open_count(), 2);
}

TEST_F(QueueTest, WhatIsGivenBackWasNotBegun) {
  const std::string id = accept({work("a")}).ids.front();
  (void)take();
  ASSERT_TRUE(queue_->give_back(id).ok());
  EXPECT_EQ(look(id).attempts, 0);
  EXPECT_TRUE(take());
}

TEST_F(QueueTest, TheSameKeyIsTheSameWorkForOneClientAlone) {
  const Accepted first = accept({work("a")}, "key");
  EXPECT_EQ(accept({work("a")}, "key").how, Accepted::How::repeated);
  EXPECT_EQ(accept({work("a")}, "key").ids, first.ids);
  EXPECT_EQ(accept({work("b")}, "key", "ann", "another").how, Accepted::How::other_body);
  EXPECT_EQ(accept({work("a")}, "key", "bob").how, Accepted::How::accepted);
  begin();
  EXPECT_EQ(accept({work("a")}, "key").ids, first.ids);
}

TEST_F(QueueTest, WhatWaitsIsBounded) {
  begin({.all = 3, .of_client = 2});
  EXPECT_EQ(accept({work("a"), work("b"), work("c")}).how, Accepted::How::client_full);
  EXPECT_EQ(accept({work("a"), work("b")}).how, Accepted::How::accepted);
  EXPECT_EQ(accept({work("c")}).how, Accepted::How::client_full);
  EXPECT_EQ(accept({work("c"), work("d")}, "", "bob").how, Accepted::How::full);
  const std::optional<Work> first = take();
  EXPECT_TRUE(*queue_->finish(first->id, {"{}", "", ""}));
  EXPECT_EQ(accept({work("c"), work("d")}, "", "bob").how, Accepted::How::accepted);
}

TEST_F(QueueTest, TheOldestResultsGoAndOpenWorkStays) {
  begin({.all = 2, .of_client = 2, .kept = 2});
  const std::string open = accept({work("open")}).ids.front();
  std::vector<std::string> ids;
  for (const std::string name : {"a", "b", "c"}) {
    ids.push_back(accept({work(name)}, "key of " + name).ids.front());
    ASSERT_TRUE(queue_->finish(ids.back(), {"{}", "", "machine"}).ok());
  }
  EXPECT_FALSE(queue_->look(ids[0])->has_value());
  EXPECT_EQ(look(ids[1]).state, WorkState::done);
  EXPECT_EQ(look(ids[2]).state, WorkState::done);
  EXPECT_EQ(look(open).state, WorkState::queued);
  EXPECT_EQ(accept({work("c")}, "key of c").how, Accepted::How::repeated);
  EXPECT_EQ(accept({work("a")}, "key of a").how, Accepted::How::accepted);
}

TEST_F(QueueTest, AnEqualOneIsFoundOnItsMachineAlone) {
  const std::string id = accept({work("a")}).ids.front();
  EXPECT_FALSE(*queue_->find_equal("content of a", "m"));
  (void)take();
  EXPECT_TRUE(*queue_->finish(id, {"{}", "", "m"}));
  EXPECT_EQ(**queue_->find_equal("content of a", "m"), id);
  EXPECT_FALSE(*queue_->find_equal("content of a", "other"));
  EXPECT_FALSE(*queue_->find_equal("content of b", "m"));
}

TEST_F(QueueTest, TwoServicesDoNotShareAStore) {
  const auto second = Queue::open(folder_->path(), {});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().text(), HasSubstr("another `kernelpro serve` works with this store"));
}

TEST_F(QueueTest, ManyThreadsTakeEachWorkOnce) {
  constexpr int each = 50;
  std::vector<NewWork> works(each, work("a"));
  (void)accept(works);
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (const std::optional<Work> one = take()) {
        done += *queue_->finish(one->id, {"{}", "", ""}) ? 1 : 0;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(done, each);
  EXPECT_EQ(*queue_->done_count(), each);
}

}  // namespace
}  // namespace kernelpro::serve
