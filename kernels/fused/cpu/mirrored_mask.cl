// Mirrored mask: applies the transfer function to an infinitely mirrored picture (edges.cl). It filters each
// frequency of a row together with the opposite one: V[ky][kx] with V[ky][width - kx].
//
// Only filters that need two inverses have an O (edges.cl).
//
// needs: edges.cl fused/cpu/mask.cl

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

// Pairs of positions whose gains are in the cache at once
#define PAIRS_AT_ONCE 32

// Some pairs of a group, from pair `first` on. `gains` are those of its own frequencies, pair i at 2 i for kx and at
// 2 i + 1 for width - kx, then those of the opposite ones; behind them, if there is an O, its gains likewise.
INLINE void masked_pairs(const bool needs_two_inverses, global vector_t *x, global vector_t *x_other,
                         global const twins_t *pairs, const turn_t turn, global const vector_t *gains, const uint count)
{
    global const vector_t *near = gains, *far = near + 2 * PAIRS_AT_ONCE;
    global const vector_t *near_odd = far + 2 * PAIRS_AT_ONCE, *far_odd = near_odd + 2 * PAIRS_AT_ONCE;
    for (uint i = 0; i < count; ++i) {
        const twins_t twins = pairs[i];
        const vector_t cc = turn.c * twins.c, ss = turn.s * twins.s, cs = turn.c * twins.s, sc = turn.s * twins.c;
        const number_t uv = {cc - ss, cs + sc}, conj_u_v = {cc + ss, cs - sc};
        const number_t a = product(uv, load(x + 2 * (size_t)twins.position));
        const number_t b = product_of_conjugate(load(x + 2 * (size_t)twins.opposite), conj_u_v);

        const vector_t sum_re = b.re + a.re, rest_re = b.re - a.re, sum_im = b.im + a.im, rest_im = b.im - a.im;
        const vector_t both = near[2 * i] * sum_re, none = far[2 * i + 1] * rest_re;
        const vector_t of_row = near[2 * i + 1] * sum_im, of_column = far[2 * i] * rest_im;
        if (!needs_two_inverses) {
            store_twins(x, twins, uv, conj_u_v, both, none, of_row, of_column);
            continue;
        }
        const vector_t to_both = far_odd[2 * i + 1] * rest_re, to_none = near_odd[2 * i] * sum_re;
        const vector_t to_row = far_odd[2 * i] * rest_im, to_column = near_odd[2 * i + 1] * sum_im;
        store_twins(x, twins, uv, conj_u_v, both - to_both, none - to_none, of_row + to_row, of_column + to_column);
        store_twins(x_other, twins, uv, conj_u_v, both + to_both, none + to_none, of_row - to_row,
                    of_column - to_column);
    }
}

// One group of rows. What the other pixels come of goes to x_other.
NOINLINE void mirrored_mask(global const params_t *params, global vector_t *x, global vector_t *x_other,
                            const mask_tables_t tables, const uint group)
{
    global vector_t *gains = place_of_gains(params, x), *odd = gains + 4 * PAIRS_AT_ONCE;
    const turn_t turn = tables.turns[group];
    const uint pairs = params->rows.points / 2 + 1, near = 2 * group, far = near + 1;
    for (uint first = 0; first < pairs; first += PAIRS_AT_ONCE) {
        const uint count = min(pairs - first, (uint)PAIRS_AT_ONCE);
        gains_of_rows(gains, params, tables, near, 2 * first, 2 * count);
        gains_of_rows(gains + 2 * PAIRS_AT_ONCE, params, tables, far, 2 * first, 2 * count);
        if (params->needs_two_inverses) {
            gains_of_table(odd, params, tables.odd_gains, near, 2 * first, 2 * count);
            gains_of_table(odd + 2 * PAIRS_AT_ONCE, params, tables.odd_gains, far, 2 * first, 2 * count);
            masked_pairs(true, x, x_other, tables.twins + first, turn, gains, count);
        } else
            masked_pairs(false, x, x_other, tables.twins + first, turn, gains, count);
    }
}

#endif
