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

TEST(CeilingsTest, NothingMeasuredIsZero) {
  EXPECT_EQ(best_bandwidth({}), 0);
  EXPECT_EQ(best_flops(measured(), "f16"), 0);
}

}  // namespace
}  // namespace kernelpro
