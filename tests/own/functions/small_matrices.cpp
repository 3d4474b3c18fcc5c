// Many 4 x 4 products.
void mul4(const float (*a)[16], const float (*b)[16], float (*c)[16], int count) {
  for (int m = 0; m < count; ++m)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        float s = 0;
        for (int k = 0; k < 4; ++k) s += a[m][i * 4 + k] * b[m][k * 4 + j];
        c[m][i * 4 + j] = s;
      }
}
