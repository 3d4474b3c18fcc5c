class Blender {
 public:
  void blend(const float* a, const float* b, float* out, int n, float t) const {
    for (int i = 0; i < n; ++i) out[i] = mix(a[i], b[i], t);
  }

 private:
  static float mix(float x, float y, float t) { return x + t * (y - x); }
};
