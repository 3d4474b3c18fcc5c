// The rankings of runs whose objective is not time alone. For the files of this room only.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/objective.hpp"
#include "coordinator/store/database.hpp"

namespace kernelpro::store {

// Their table is made when it is first needed, so that stores from before it need no change.
[[nodiscard]] Status keep_ranking(Database& database, std::int64_t run,
                                  const std::vector<Finalist>& ranking);
// Empty where none was kept.
[[nodiscard]] Result<std::vector<Finalist>> find_ranking(Database& database, std::int64_t run);

}  // namespace kernelpro::store
