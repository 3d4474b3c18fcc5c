// What a page of HTML says: gateways send their errors so.
#pragma once

#include <string>

namespace kernelpro {

// Its title, or else its text, with line ends for tags. Empty where it has none, or is no HTML.
[[nodiscard]] std::string html_text(const std::string& page);

}  // namespace kernelpro
