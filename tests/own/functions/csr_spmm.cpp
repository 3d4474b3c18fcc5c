// C = A B with A sparse and B dense with `width` columns; the number of entries is in row_ptr.
void spmm(int rows, int width, const int* row_ptr, const int* col, const float* val,
          const float* b, float* c) {
  for (int r = 0; r < rows; ++r) {
    for (int j = 0; j < width; ++j) {
      c[r * width + j] = 0.0f;
    }
    for (int k = row_ptr[r]; k < row_ptr[r + 1]; ++k) {
      const float v = val[k];
      for (int j = 0; j < width; ++j) {
        c[r * width + j] += v * b[col[k] * width + j];
      }
    }
  }
}
