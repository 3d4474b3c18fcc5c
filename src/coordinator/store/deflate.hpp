// Small texts that resemble each other, compressed with zlib. For rooms that keep something,
// and their tests.
#pragma once

#include <string>

#include "common/base/result.hpp"

namespace kernelpro::store {

// What counts where a text is packed: its size on the disk, or those who wait for it.
enum class Packing { small, quick };

// `model` is a text of the same kind, whose phrases need not be said again (zlib's dictionary, so
// only its last 32 kB count); empty: none. The same is needed to unpack.
[[nodiscard]] Result<std::string> pack_text(const std::string& text, const std::string& model,
                                            Packing packing = Packing::small);
[[nodiscard]] Result<std::string> unpack_text(const std::string& packed, const std::string& model);

}  // namespace kernelpro::store
