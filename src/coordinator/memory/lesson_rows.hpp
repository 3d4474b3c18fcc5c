// Rows of a memory's tables. For the files of this room only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/lesson.hpp"
#include "coordinator/store/database.hpp"

namespace kernelpro::memory {

// Of the lessons of a situation.
inline constexpr const char* recalled_columns =
    "SELECT id, code, bottleneck, finding, move, site, tried, failed, mean, spread, useful, "
    "causes, "
    "confirmed, contradicted, last_run FROM lessons WHERE situation = ?1 ORDER BY id";

struct RecalledRow {
  Recalled lesson;  // its weight is 1
  double confirmed = 0;
  double contradicted = 0;
  std::int64_t last_run = 0;
};

// A row that no kernelpro wrote is an error: the file was changed by something else.
[[nodiscard]] Result<RecalledRow> read_recalled(const store::Rows& row);

[[nodiscard]] std::string causes_text(const Tally& tally);

[[nodiscard]] inline store::Blob blob_of(const std::vector<float>& values) {
  return {{reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}};
}
// NaN where the bytes do not suffice.
[[nodiscard]] std::vector<float> floats_of(std::string_view bytes, std::size_t count);

}  // namespace kernelpro::memory
