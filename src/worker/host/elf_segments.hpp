// Where the code of a module lies in its file, and at which addresses it was linked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

struct ElfSegments {
  struct Segment {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    std::int64_t address = 0;
  };
  std::vector<Segment> executable;
  bool arm = false;
  std::int64_t code_bytes = 0;  // of all of them

  // The linked address of a place in the file; -1: no code is there.
  [[nodiscard]] std::int64_t address_of(std::int64_t offset) const;
};

[[nodiscard]] Result<ElfSegments> read_elf_segments(const std::string& path);

}  // namespace kernelpro
