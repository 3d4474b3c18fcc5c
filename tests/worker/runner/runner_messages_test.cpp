#include "worker/runner/runner_messages.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kernelpro {
namespace {

// Its kernel tells the reader of that death first, and only then of what the dead had said.
TEST(RunnerMessages, WhoDiesWithARequestUnreadIsHeardOut) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  runner::Reply fault{};
  fault.kind = runner::ReplyKind::fault;
  ASSERT_EQ(write(theirs.get(), &fault, sizeof fault), static_cast<ssize_t>(sizeof fault));
  ASSERT_EQ(send_request(ours.get(), {}, {}), Sending::sent);
  theirs = UniqueFd();

  const Incoming last_words = receive_reply(ours.get());
  EXPECT_TRUE(last_words.whole);
  EXPECT_EQ(last_words.reply.kind, runner::ReplyKind::fault);
  EXPECT_FALSE(last_words.closed);
  EXPECT_TRUE(receive_reply(ours.get()).closed);
}

TEST(RunnerMessages, NothingWaitsInAnEmptySocket) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const Incoming nothing = receive_reply(ours.get());
  EXPECT_FALSE(nothing.waiting);
  EXPECT_FALSE(nothing.closed);
}

}  // namespace
}  // namespace kernelpro
