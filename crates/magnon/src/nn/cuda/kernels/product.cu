// Dense products. The sum over the inner index is cut by the sizes of one lane alone, into `splits`
// parts that are added in order.

struct Operand {
    const float *at;
    i64 lane;
    i64 row, col; // numbers from one row, and from one column, to the next
    int complex, conjugate, unused, unused_too;
};

template <bool COMPLEX> struct Number;
template <> struct Number<false> {
    float re;
    __device__ static Number zero() { return {0.0f}; }
    __device__ static Number load(const float *x, const Operand &) { return {*x}; }
    __device__ void add_product(Number a, Number b) { re += a.re * b.re; }
};
template <> struct Number<true> {
    float re, im;
    __device__ static Number zero() { return {0.0f, 0.0f}; }
    __device__ static Number load(const float *x, const Operand &from) {
        if (!from.complex) return {*x, 0.0f};
        float2 z = *(const float2 *)x;
        return {z.x, from.conjugate ? -z.y : z.y};
    }
    __device__ void add_product(Number a, Number b) {
        re += a.re * b.re;
        re -= a.im * b.im;
        im += a.re * b.im;
        im += a.im * b.re;
    }
};

// One factor's part in a tile, as one thread loads it: some numbers a fixed step apart. Neighbouring
// threads read neighbouring numbers, whichever way the factor lies.
template <bool COMPLEX, int HIGH, int WIDE> struct Loader {
    typedef Number<COMPLEX> Z;
    enum { EACH = HIGH * WIDE / 128 };
    const float *at;
    i64 step, row_step, col_step;
    int row, col;
    __device__ Loader(const Operand &from, const float *numbers, i64 first_row, i64 first_col) {
        bool by_rows = from.row >= from.col;
        int t = threadIdx.x;
        row = by_rows ? t / WIDE : t % HIGH;
        col = by_rows ? t % WIDE : t / HIGH;
        row_step = by_rows ? 128 / WIDE : 0;
        col_step = by_rows ? 0 : 128 / HIGH;
        step = row_step * from.row + col_step * from.col;
        at = numbers + (first_row + row) * from.row + (first_col + col) * from.col;
    }
    // The numbers of the tile that are inside of so many rows and columns from its corner.
    __device__ void load(const Operand &from, i64 rows, i64 cols, Z *to) const {
#pragma unroll
        for (int each = 0; each < EACH; each++) {
            bool inside = row + each * (int)row_step < rows && col + each * (int)col_step < cols;
            to[each] = inside ? Z::load(at + each * step, from) : Z::zero();
        }
    }
};

// A block of 128 threads makes M × N numbers of the result, each thread 4 × 4 of them, with K of the
// inner index at a time: while those are multiplied, the next are on their way.
template <bool COMPLEX, int M, int N, int K>
__device__ void dense_product(const Operand &a, const Operand &b, Matrix out, int out_complex, int add, i64 m, i64 n, i64 k, int splits) {
    typedef Number<COMPLEX> Z;
    typedef Loader<COMPLEX, M, K> A;
    typedef Loader<COMPLEX, K, N> B;
    // Rows of whole groups of four floats, so that four numbers are read at once.
    __shared__ __align__(16) Z left[K][M + 4];
    __shared__ __align__(16) Z right[K][N + 4];
    i64 lane = blockIdx.z / splits, split = blockIdx.z % splits;
    i64 first_row = (i64)blockIdx.x * M, first_col = (i64)blockIdx.y * N;
    i64 tiles = (k + K - 1) / K;
    i64 begin = tiles * split / splits * K, end = min(tiles * (split + 1) / splits * K, k);
    int t = threadIdx.x;
    int row = t / (N / 4) * 4, col = t % (N / 4) * 4; // of the thread's own 4 × 4 numbers
    A from_a(a, a.at + lane * a.lane, first_row, begin);
    B from_b(b, b.at + lane * b.lane, begin, first_col);
    Z sums[4][4], next_a[A::EACH], next_b[B::EACH];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sums[i][j] = Z::zero();
    if (begin < end) {
        from_a.load(a, m - first_row, end - begin, next_a);
        from_b.load(b, end - begin, n - first_col, next_b);
    }
    for (i64 base = begin; base < end; base += K) {
        __syncthreads();
#pragma unroll
        for (int each = 0; each < A::EACH; each++)
            left[from_a.col + each * (int)from_a.col_step][from_a.row + each * (int)from_a.row_step] = next_a[each];
#pragma unroll
        for (int each = 0; each < B::EACH; each++)
            right[from_b.row + each * (int)from_b.row_step][from_b.col + each * (int)from_b.col_step] = next_b[each];
        __syncthreads();
        if (base + K < end) {
            from_a.at += K * a.col;
            from_b.at += K * b.row;
            from_a.load(a, m - first_row, end - base - K, next_a);
            from_b.load(b, end - base - K, n - first_col, next_b);
        }
#pragma unroll
        for (int c = 0; c < K; c++) {
            Z u[4], v[4];
#pragma unroll
            for (int part = 0; part < (int)sizeof(Z) / 4; part++) {
                ((float4 *)u)[part] = ((const float4 *)&left[c][row])[part];
                ((float4 *)v)[part] = ((const float4 *)&right[c][col])[part];
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sums[i][j].add_product(u[i], v[j]);
        }
    }
    int parts = out_complex ? 2 : 1;
    float *to = out.at + lane * out.lane + split * m * n * parts;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            i64 r = first_row + row + i, c = first_col + col + j;
            if (r >= m || c >= n) continue;
            float *place = to + (r * n + c) * parts;
            const float *value = (const float *)&sums[i][j];
            for (int part = 0; part < parts; part++) place[part] = add ? place[part] + value[part] : value[part];
        }
}

#define PRODUCT(name, complex, m, n, k, blocks)                                                                      \
    extern "C" __global__ void __launch_bounds__(128, blocks) product_##name(Operand a, Operand b, Matrix out, int out_complex, int add, i64 rows, i64 cols, i64 inner, int splits) { \
        dense_product<complex, m, n, k>(a, b, out, out_complex, add, rows, cols, inner, splits);                     \
    }

PRODUCT(real, false, 64, 32, 16, 4)
PRODUCT(real_narrow, false, 128, 16, 8, 4)
PRODUCT(complex, true, 64, 32, 16, 3)
PRODUCT(complex_narrow, true, 128, 16, 8, 3)
