#include "common/model/ceilings.hpp"

#include <gtest/gtest.h>

namespace kernelpro {
namespace {

Ceilings measured() {
  return {"some machine",
          {{"read", "GB/s", 1, 10, 9, 11},
           {"copy", "GB/s", 2, 20, 19, 21.5},
           {"fma_f32", "GFLOP/s", 1, 100, 90, 110},
           {"fma_f32", "GFLOP/s", 2, 200, 190, 205},
           {"fma_f64", "GFLOP/s", 2, 500, 500, 500}}};
}

TEST(CeilingsTest, FoundByNameAndThreads) {
  const Ceilings ceilings = measured();
  ASSERT_NE(find_ceiling(ceilings, "fma_f32", 2), nullptr);
  EXPECT_EQ(find_ceiling(ceilings, "fma_f32", 2)->median, 200);
  EXPECT_EQ(find_ceiling(ceilings, "fma_f32", 3), nullptr);
  EXPECT_EQ(find_ceiling(ceilings, "write", 1), nullptr);
}

TEST(CeilingsTest, BestIsTheHighestOfItsKindInPlainUnits) {
  EXPECT_EQ(best_bandwidth(measured()), 21.5e9);
  EXPECT_EQ(best_flops(measured(), "f32"), 205e9);
  EXPECT_EQ(best_flops(measured(), "f64"), 500e9);
}

TEST(CeilingsTest, OfAGpuAreFoundAtNoThreadsAndItsCachesAreNotItsMemory) {
  const Ceilings gpu{"some GPU",
                     {{"read", "GB/s", 0, 4300, 4290, 4310},
                      {"l2_read", "GB/s", 0, 7000, 6900, 7100},
                      {"shared_read", "GB/s", 0, 30000, 29000, 31000},
                      {"fma_f16", "GFLOP/s", 0, 120e3, 119e3, 121e3},
                      {"tensor_f16", "GFLOP/s", 0, 800e3, 790e3, 810e3},
                      {"tensor_i8", "GOP/s", 0, 1600e3, 1590e3, 1610e3},
                      {"launch", "us", 0, 2, 1.9, 9000}}};
  ASSERT_NE(find_ceiling(gpu, "launch", 0), nullptr);
  EXPECT_EQ(best_bandwidth(gpu), 4310e9);
  EXPECT_EQ(best_flops(gpu, "f16"), 121e12);
  EXPECT_EQ(best_tensor_flops(gpu, "f16"), 810e12);
  EXPECT_EQ(best_tensor_flops(gpu, "i8"), 1610e12);
}

TEST(CeilingsTest, BandwidthDependsOnHowMuchIsWritten) {
  const Ceilings ceilings{"some machine",
                          {{"read", "GB/s", 2, 70, 69, 72},
                           {"read", "GB/s", 1, 35, 34, 36},
                           {"copy", "GB/s", 2, 100, 99, 104},
                           {"write", "GB/s", 2, 110, 90, 130}}};
  EXPECT_DOUBLE_EQ(bandwidth_at(ceilings, 0), 72e9);
  EXPECT_DOUBLE_EQ(bandwidth_at(ceilings, 0.25), 88e9);
  EXPECT_DOUBLE_EQ(bandwidth_at(ceilings, 0.5), 104e9);
  EXPECT_DOUBLE_EQ(bandwidth_at(ceilings, 0.75), 117e9);
  EXPECT_DOUBLE_EQ(bandwidth_at(ceilings, 1), 130e9);
  EXPECT_DOUBLE_EQ(bandwidth_at(measured(), 0.9), 21.5e9) << "write was not measured";
}

TEST(CeilingsTest, NothingMeasuredIsZero) {
  EXPECT_EQ(bandwidth_at({}, 0.5), 0);
  EXPECT_EQ(best_bandwidth({}), 0);
  EXPECT_EQ(best_flops(measured(), "f16"), 0);
  EXPECT_EQ(best_tensor_flops(measured(), "f32"), 0);
}

}  // namespace
}  // namespace kernelpro
