// Five-point heat step on a plate; the rim is kept.
void heat_step(const double* t, double* next, int rows, int cols, double k) {
  for (int i = 1; i < rows - 1; ++i) {
    for (int j = 1; j < cols - 1; ++j) {
      const int c = i * cols + j;
      next[c] = t[c] + k * (t[c - 1] + t[c + 1] + t[c - cols] + t[c + cols] - 4.0 * t[c]);
    }
  }
}
