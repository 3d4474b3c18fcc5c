#include "coordinator/task/rows_apart.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <random>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Optional;

// What a function with these sizes that reaches `extent` elements would be seen to reach.
std::vector<Reach> reaches_over(const std::vector<std::string>& names,
                                const std::function<std::int64_t(const Axes&)>& extent) {
  std::vector<Reach> out;
  std::mt19937 random(3);
  for (int i = 0; i < 24; ++i) {
    Axes axes;
    for (const std::string& name : names) {
      axes[name] = 5 + static_cast<std::int64_t>(random() % 11);
    }
    out.push_back({axes, extent(axes)});
  }
  return out;
}

TEST(RowsApart, AreTheLeadingDimensionsOfMatrices) {
  const auto seen = reaches_over({"k", "lda", "m"}, [](const Axes& at) {
    return (at.at("k") - 1) * at.at("lda") + at.at("m");
  });
  EXPECT_THAT(rows_apart(seen), Optional(Eq("(k - 1)*lda + m")));
  EXPECT_THAT(fit_shape(seen), Optional(ElementsAre("(k - 1)*lda + m")));
}

TEST(RowsApart, AreTheStridesOfImagesAndVolumes) {
  EXPECT_THAT(rows_apart(reaches_over({"h", "stride", "w"},
                                      [](const Axes& at) {
                                        return (at.at("h") - 1) * at.at("stride") + 3 * at.at("w");
                                      })),
              Optional(Eq("(h - 1)*stride + 3*w")));
  EXPECT_THAT(rows_apart(reaches_over({"d", "h", "pitch", "slice", "w"},
                                      [](const Axes& at) {
                                        return (at.at("d") - 1) * at.at("slice") +
                                               (at.at("h") - 1) * at.at("pitch") + at.at("w");
                                      })),
              Optional(Eq("(d - 1)*slice + (h - 1)*pitch + w")));
}

TEST(RowsApart, AreNothingElse) {
  EXPECT_EQ(rows_apart(reaches_over(
                {"m", "n"},
                [](const Axes& at) { return at.at("m") % 3 * 97 + at.at("n") % 4 * 31 + 1; })),
            std::nullopt);
  EXPECT_EQ(rows_apart({}), std::nullopt);
}

}  // namespace
}  // namespace kernelpro
