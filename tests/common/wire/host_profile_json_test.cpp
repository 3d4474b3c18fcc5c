#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/profile_json.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

Profile host_profile() {
  HostLoop loop;
  loop.begin = 0x1183;
  loop.end = 0x118e;
  loop.share = 0.5;
  loop.place = {"app.cpp", 7};
  loop.scalar = 2;
  loop.element_bits = 32;
  loop.reduction = true;
  loop.calls = {"expf@plt"};
  loop.chain_cycles = 4;
  loop.unit_cycles = 1;
  loop.divisions = 1;
  loop.loads = 2;
  loop.access_bytes = 64;
  loop.product_chain_cycles = 4;
  loop.product_unit_cycles = 0.5;
  loop.turns = 1e6;
  loop.cycles = 4.5;
  loop.accesses = 1e6;
  loop.first_misses = 6e4;
  loop.last_misses = 3;
  loop.remarks = {"line 7: not vectorized"};
  Profile profile;
  profile.program = "app";
  profile.host.emplace();
  profile.host->processors = 2;
  profile.host->system_share = 0.25;
  profile.host->faults = 5000;
  profile.host->resident_bytes = 1e6;
  profile.host->threads = {{90, 1}, {80, 11}};
  profile.host->evidence = {"machine code"};
  profile.host->ended = "it was ended by signal 6";
  profile.kernels.emplace_back();
  profile.kernels.front().name = "sum";
  profile.kernels.front().loops = {loop};
  profile.kernels.front().figures["samples"] = {170, Origin::simulation};
  return profile;
}

TEST(HostProfileJson, SurvivesARoundTripAndItsSchema) {
  const nlohmann::json written = to_json(host_profile());
  EXPECT_EQ(testing::SchemaFile("profile.json").complaints(written), "");
  const Result<Profile> read = profile_from_json(written);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), written);
  EXPECT_EQ(read->kernels.front().loops.front().cycles, 4.5);
  EXPECT_EQ(read->host->threads.at(1).waiting, 11);
}

}  // namespace
}  // namespace kernelpro
