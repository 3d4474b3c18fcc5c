// The space that the tunables of a source span.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/tunables.hpp"
#include "coordinator/tune/space.hpp"

namespace kernelpro {

// All combinations of their values; a present one joins the list where it is not in it.
[[nodiscard]] Result<TuneSpace> space_of(const std::vector<Tunable>& tunables);

// The present values. A bad_input error where they are not of that space.
[[nodiscard]] Result<Code> code_of(const TuneSpace& space, const std::vector<Tunable>& tunables);

// The source with the values of a code.
[[nodiscard]] Result<std::string> source_at(const std::string& source, const TuneSpace& space,
                                            Code code);

}  // namespace kernelpro
