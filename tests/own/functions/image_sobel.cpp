#include <cstdlib>

struct Image {
  const unsigned char* pixels;
  int width;
  int height;
};

// Gradient magnitude, |gx| + |gy|, rim left alone.
void sobel(const Image& in, unsigned char* out) {
  for (int y = 1; y + 1 < in.height; ++y) {
    for (int x = 1; x + 1 < in.width; ++x) {
      const unsigned char* p = in.pixels + y * in.width + x;
      const int w = in.width;
      const int gx = -p[-w - 1] + p[-w + 1] - 2 * p[-1] + 2 * p[1] - p[w - 1] + p[w + 1];
      const int gy = -p[-w - 1] - 2 * p[-w] - p[-w + 1] + p[w - 1] + 2 * p[w] + p[w + 1];
      const int sum = std::abs(gx) + std::abs(gy);
      out[y * w + x] = static_cast<unsigned char>(sum > 255 ? 255 : sum);
    }
  }
}
