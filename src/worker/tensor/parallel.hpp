// Splits bulk memory work over the cores while no candidate runs.
#pragma once

#include <cstddef>
#include <functional>

namespace kernelpro {

// Of bulk work: as many as are worth a thread.
inline constexpr std::size_t elements_a_part = 1 << 16;

// Calls work(begin, end) on disjoint parts of [0, count), on up to as many threads as there are
// cores; parts have at least `grain` elements. Returns when all are done.
// Within a part it calls work(0, count) at once.
void parallel_parts(std::size_t count, std::size_t grain,
                    const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace kernelpro
