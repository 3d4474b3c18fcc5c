// 3 x 3 pooling with stride 2.
void max_pool(const float* in, float* out, int h, int w) {
  const int oh = (h - 3) / 2 + 1;
  const int ow = (w - 3) / 2 + 1;
  for (int y = 0; y < oh; ++y) {
    for (int x = 0; x < ow; ++x) {
      float best = in[2 * y * w + 2 * x];
      for (int dy = 0; dy < 3; ++dy) {
        for (int dx = 0; dx < 3; ++dx) {
          const float v = in[(2 * y + dy) * w + 2 * x + dx];
          best = v > best ? v : best;
        }
      }
      out[y * ow + x] = best;
    }
  }
}
