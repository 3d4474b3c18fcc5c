// The JSON of measured energy. For the files of this room only.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/model/energy.hpp"
#include "common/wire/reader.hpp"

namespace kernelpro::wire {

[[nodiscard]] nlohmann::json write_energy(const Energy& energy);
[[nodiscard]] Energy read_energy(const Place& place);

}  // namespace kernelpro::wire
