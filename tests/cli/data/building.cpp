// Takes the compiler for ever.
#include "kernelpro/candidate.h"

template <int Depth, long Path>
struct Tree {
  static constexpr long value =
      Tree<Depth - 1, 2 * Path>::value + Tree<Depth - 1, 2 * Path + 1>::value;
};

template <long Path>
struct Tree<0, Path> {
  static constexpr long value = Path;
};

int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return Tree<40, 1>::value == 0 ? 1 : 0;
}
