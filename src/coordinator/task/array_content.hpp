// What the arrays of a call hold, as a task says that its inputs are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/random.hpp"
#include "common/model/task.hpp"

namespace kernelpro {

// The content of one call: the same for the same seed and order of draws.
class ArrayContent {
 public:
  explicit ArrayContent(std::uint64_t seed) : random_(seed) {}

  // Each tensor once; later draws repeat it. Row offsets must be drawn before the columns that they
  // count. Nothing where no such content exists: an index into nothing.
  [[nodiscard]] std::optional<std::string> draw(const TensorSpec& spec, std::int64_t count,
                                                const Axes& axes);

  // What nobody may depend on.
  [[nodiscard]] std::string rubbish(std::int64_t bytes);

 private:
  using Numbers = std::vector<double>;

  double normal();
  std::int64_t below(std::int64_t bound);
  std::optional<Numbers> numbers_of(const TensorSpec& spec, std::int64_t count, const Axes& axes);
  std::optional<Numbers> offsets(Numbers out, std::int64_t total);
  std::optional<Numbers> columns(Numbers out, const std::string& rows_of, std::int64_t bound);
  void fill_row(Numbers& out, std::size_t first, std::size_t last, std::int64_t bound);

  Random random_;
  std::map<std::string, std::string> drawn_;
  std::map<std::string, Numbers> numbers_;
};

}  // namespace kernelpro
