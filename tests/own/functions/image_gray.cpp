#include <cstdint>

struct Pixel {
  uint8_t r, g, b;
};

void to_gray(const Pixel* in, uint8_t* out, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    out[i] = static_cast<uint8_t>((77 * in[i].r + 150 * in[i].g + 29 * in[i].b) >> 8);
  }
}
