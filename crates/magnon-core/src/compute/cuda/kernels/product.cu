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
template <bool COMPLEX, int HIGH, int WIDE, int THREADS> struct Loader {
    typedef Number<COMPLEX> Z;
    enum { EACH = HIGH * WIDE / THREADS };
    const float *at;
    i64 step;
    int row, col, row_step, col_step;
    __device__ Loader(const Operand &from, const float *numbers, i64 first_row, i64 first_col) {
        bool by_rows = from.row >= from.col;
        int t = threadIdx.x;
        row = by_rows ? t / WIDE : t % HIGH;
        col = by_rows ? t % WIDE : t / HIGH;
        row_step = by_rows ? THREADS / WIDE : 0;
        col_step = by_rows ? 0 : THREADS / HIGH;
        step = row_step * from.row + col_step * from.col;
        at = numbers + (first_row + row) * from.row + (first_col + col) * from.col;
    }
    // The numbers of the tile that are inside of so many rows and columns from its corner.
    __device__ void load(const Operand &from, int rows, int cols, Z *to) const {
#pragma unroll
        for (int each = 0; each < EACH; each++) {
            bool inside = row + each * row_step < rows && col + each * col_step < cols;
            to[each] = inside ? Z::load(at + each * step, from) : Z::zero();
        }
    }
};

// Rows and columns left, as far as a tile asks.
__device__ __forceinline__ int left_of(i64 all, i64 from) { return (int)min(all - from, (i64)1024); }

// A block of 128 threads makes M × N numbers of the result, each thread TM × TN of them, with K of the
// inner index at a time: while those are multiplied, the next are on their way. Two tiles take turns.
//
// Every number is a sum in the order of the inner index, over parts that are whole multiples of CUT: kernels
// with other tiles and the same CUT give the same bits.
template <bool COMPLEX, int M, int N, int K, int TM, int TN, int CUT>
__device__ __forceinline__ void dense_product(const Operand &a, const Operand &b, Matrix out, int out_complex, int add, i64 m, i64 n, i64 k, int splits) {
    enum { THREADS = 128, PAD = COMPLEX ? 2 : 4 };
    typedef Number<COMPLEX> Z;
    typedef Loader<COMPLEX, M, K, THREADS> A;
    typedef Loader<COMPLEX, K, N, THREADS> B;
    // Rows of whole groups of four floats, so that four numbers are read at once.
    __shared__ __align__(16) Z left[2][K][M + PAD];
    __shared__ __align__(16) Z right[2][K][N + PAD];
    i64 lane = blockIdx.z / splits, split = blockIdx.z % splits;
    i64 first_row = (i64)blockIdx.x * M, first_col = (i64)blockIdx.y * N;
    i64 tiles = (k + CUT - 1) / CUT;
    i64 begin = tiles * split / splits * CUT, end = min(tiles * (split + 1) / splits * CUT, k);
    int t = threadIdx.x;
    int row = t / (N / TN) * TM, col = t % (N / TN) * TN; // of the thread's own numbers
    A from_a(a, a.at + lane * a.lane, first_row, begin);
    B from_b(b, b.at + lane * b.lane, begin, first_col);
    int rows_left = left_of(m, first_row), cols_left = left_of(n, first_col);
    Z sums[TM][TN], next_a[A::EACH], next_b[B::EACH];
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) sums[i][j] = Z::zero();
    if (begin < end) {
        from_a.load(a, rows_left, left_of(end, begin), next_a);
        from_b.load(b, left_of(end, begin), cols_left, next_b);
    }
    int turn = 0;
    for (i64 base = begin; base < end; base += K, turn ^= 1) {
#pragma unroll
        for (int each = 0; each < A::EACH; each++)
            left[turn][from_a.col + each * from_a.col_step][from_a.row + each * from_a.row_step] = next_a[each];
#pragma unroll
        for (int each = 0; each < B::EACH; each++)
            right[turn][from_b.row + each * from_b.row_step][from_b.col + each * from_b.col_step] = next_b[each];
        // The tile before the last is not read any more: all have come this far since.
        __syncthreads();
        if (base + K < end) {
            from_a.at += K * a.col;
            from_b.at += K * b.row;
            from_a.load(a, rows_left, left_of(end, base + K), next_a);
            from_b.load(b, left_of(end, base + K), cols_left, next_b);
        }
#pragma unroll
        for (int c = 0; c < K; c++) {
            Z u[TM], v[TN];
#pragma unroll
            for (int part = 0; part < (int)sizeof(Z) * TM / 16; part++) ((float4 *)u)[part] = ((const float4 *)&left[turn][c][row])[part];
#pragma unroll
            for (int part = 0; part < (int)sizeof(Z) * TN / 16; part++) ((float4 *)v)[part] = ((const float4 *)&right[turn][c][col])[part];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) sums[i][j].add_product(u[i], v[j]);
        }
    }
    int parts = out_complex ? 2 : 1;
    float *to = out.at + lane * out.lane + split * m * n * parts;
    for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) {
            i64 r = first_row + row + i, c = first_col + col + j;
            if (r >= m || c >= n) continue;
            float *place = to + (r * n + c) * parts;
            const float *value = (const float *)&sums[i][j];
            for (int part = 0; part < parts; part++) place[part] = add ? place[part] + value[part] : value[part];
        }
}

#define PRODUCT(name, complex, m, n, k, tm, tn, cut, blocks)                                                                    \
    extern "C" __global__ void __launch_bounds__(128, blocks) product_##name(Operand a, Operand b, Matrix out, int out_complex, int add, i64 rows, i64 cols, i64 inner, int splits) { \
        dense_product<complex, m, n, k, tm, tn, cut>(a, b, out, out_complex, add, rows, cols, inner, splits);                     \
    }

PRODUCT(real, false, 64, 32, 16, 4, 4, 16, 4)
PRODUCT(real_many, false, 128, 32, 16, 8, 4, 16, 4)
PRODUCT(real_narrow, false, 128, 16, 8, 4, 4, 8, 4)
PRODUCT(complex, true, 64, 32, 16, 4, 4, 16, 3)
PRODUCT(complex_many, true, 64, 64, 8, 8, 4, 16, 3)
PRODUCT(complex_narrow, true, 128, 16, 8, 4, 4, 8, 3)
