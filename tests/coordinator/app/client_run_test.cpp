#include "coordinator/app/client_run.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

RunSettings begun_by_a_client() {
  RunSettings settings;
  settings.llm.emplace().llm = "client:mcp";
  return settings;
}

TEST(ClientRun, AnyClientMayWorkOnARunThatJudgesHereInTheSandbox) {
  EXPECT_TRUE(is_for_any_client(begun_by_a_client()));
}

TEST(ClientRun, ARunOfTheOperatorsIsNotForAnyClient) {
  RunSettings paid = begun_by_a_client();
  paid.llm->llm = "anthropic:some-model";
  EXPECT_FALSE(is_for_any_client(paid));

  RunSettings playbook = begun_by_a_client();
  playbook.llm.reset();
  EXPECT_FALSE(is_for_any_client(playbook));

  RunSettings unconfined = begun_by_a_client();
  unconfined.judging.sandbox = false;
  EXPECT_FALSE(is_for_any_client(unconfined));

  RunSettings elsewhere = begun_by_a_client();
  elsewhere.workers.places = {WorkerPlace()};
  elsewhere.workers.places.front().command = "ssh node kernelpro-worker";
  EXPECT_FALSE(is_for_any_client(elsewhere));

  RunSettings bundled = begun_by_a_client();
  bundled.workers.scheme = WorkerScheme::bundle;
  EXPECT_FALSE(is_for_any_client(bundled));
}

}  // namespace
}  // namespace kernelpro
