// How pages look.
#pragma once

#include "coordinator/html/markup.hpp"

namespace kernelpro::html {

// Light and dark, on a phone and on paper. Colors are those of Okabe and Ito, which people who see
// few colors can tell apart, darker or lighter as the ground needs it; shapes and words say the
// same.
[[nodiscard]] Markup style_sheet();

}  // namespace kernelpro::html
