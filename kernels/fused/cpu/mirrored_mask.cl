// Mirrored mask: the transfer function where the picture is mirrored without end, as edges.cl has it. A frequency of a
// row is filtered together with the opposite one: V[ky][kx] with V[ky][width - kx].
//
// A transfer function H that is not even along each axis is the sum of one that is, E, and of one that is odd along
// both, O. O makes sines of cosines, and sin(pi k (2j + 1) / 2n) = (-1)^j cos(pi (n - k) (2j + 1) / 2n): so it moves O C
// to the opposite frequencies, and changes the sign of every second pixel. Of pixels whose row + column is even the
// transform is E[ky][kx] C[ky][kx] - O[h-ky][w-kx] C[h-ky][w-kx], of the others it is the sum. Both are transformed back,
// and each pixel is taken from its own.
//
// -D TWOFOLD=0 | 1    1: the transfer function is not even along each axis

#ifndef TWOFOLD
#error "fused/cpu/mirrored_mask.cl: -D TWOFOLD=0 or 1 is missing"
#endif

#if IS_MIRRORED

// a * b and conj(a) * b
INLINE number_t product(const number_t a, const number_t b)
{
    return (number_t){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

INLINE number_t product_of_conjugate(const number_t a, const number_t b)
{
    return (number_t){a.re * b.re + a.im * b.im, a.re * b.im - a.im * b.re};
}

// What a pair of frequencies becomes; the four are the two of each part of a and b (edges.cl).
INLINE void store_twins(global vector_t *x, const twins_t twins, const number_t uv, const number_t conj_u_v,
                        const vector_t both, const vector_t none, const vector_t of_row, const vector_t of_column)
{
    const number_t a = {both - none, of_row - of_column}, b = {both + none, of_row + of_column};
    store(x + 2 * (size_t)twins.position, product_of_conjugate(uv, a));
    store(x + 2 * (size_t)twins.opposite, product_of_conjugate(b, conj_u_v));
}

// One group of rows. The mask of its frequencies and that of the opposite ones know the gains of pair i at 2 i, for kx,
// and at 2 i + 1, for width - kx. What the other pixels come of goes to x_other.
NOINLINE void mirrored_mask(global const job_t *job, global vector_t *x, global vector_t *x_other,
                            const mask_tables_t tables, const uint group)
{
    const mask_t near = mask_of(job, tables, 2 * group), far = mask_of(job, tables, 2 * group + 1);
#if TWOFOLD
    mask_t near_odd = near, far_odd = far;
    near_odd.gains = tables.odd_gains + (near.gains - tables.gains);
    far_odd.gains = tables.odd_gains + (far.gains - tables.gains);
#endif
    const turn_t turn = tables.turns[group];
    for (uint i = 0; i <= job->rows.points / 2; ++i) {
        const twins_t twins = tables.twins[i];
        const vector_t cc = turn.c * twins.c, ss = turn.s * twins.s, cs = turn.c * twins.s, sc = turn.s * twins.c;
        const number_t uv = {cc - ss, cs + sc}, conj_u_v = {cc + ss, cs - sc};
        const number_t a = product(uv, load(x + 2 * (size_t)twins.position));
        const number_t b = product_of_conjugate(load(x + 2 * (size_t)twins.opposite), conj_u_v);

        const vector_t sum_re = b.re + a.re, rest_re = b.re - a.re, sum_im = b.im + a.im, rest_im = b.im - a.im;
        const vector_t both = gain(near, 2 * i) * sum_re, none = gain(far, 2 * i + 1) * rest_re;
        const vector_t of_row = gain(near, 2 * i + 1) * sum_im, of_column = gain(far, 2 * i) * rest_im;
#if TWOFOLD
        const vector_t to_both = gain(far_odd, 2 * i + 1) * rest_re, to_none = gain(near_odd, 2 * i) * sum_re;
        const vector_t to_row = gain(far_odd, 2 * i) * rest_im, to_column = gain(near_odd, 2 * i + 1) * sum_im;
        store_twins(x, twins, uv, conj_u_v, both - to_both, none - to_none, of_row + to_row, of_column + to_column);
        store_twins(x_other, twins, uv, conj_u_v, both + to_both, none + to_none, of_row - to_row,
                    of_column - to_column);
#else
        store_twins(x, twins, uv, conj_u_v, both, none, of_row, of_column);
#endif
    }
}

#endif
