// Mirrored mask: the transfer function where the picture is mirrored without end, as edges.cl has it. A frequency of a
// row is filtered together with the opposite one: V[ky][kx] with V[ky][width - kx].

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

// One group of rows. The mask of its frequencies and that of the opposite ones know the gains of pair i at 2 i, for kx,
// and at 2 i + 1, for width - kx.
NOINLINE void mirrored_mask(global const job_t *job, global vector_t *x, const mask_tables_t tables, const uint group)
{
    const mask_t near = mask_of(job, tables, 2 * group), far = mask_of(job, tables, 2 * group + 1);
    const turn_t turn = tables.turns[group];
    for (uint i = 0; i <= job->rows.points / 2; ++i) {
        const twins_t twins = tables.twins[i];
        global vector_t *at = x + 2 * (size_t)twins.position, *opposite = x + 2 * (size_t)twins.opposite;
        const vector_t cc = turn.c * twins.c, ss = turn.s * twins.s, cs = turn.c * twins.s, sc = turn.s * twins.c;
        const number_t uv = {cc - ss, cs + sc}, conj_u_v = {cc + ss, cs - sc};

        const number_t a = product(uv, load(at)), b = product_of_conjugate(load(opposite), conj_u_v);
        const vector_t both = gain(near, 2 * i) * (b.re + a.re), none = gain(far, 2 * i + 1) * (b.re - a.re);
        const vector_t of_row = gain(near, 2 * i + 1) * (b.im + a.im), of_column = gain(far, 2 * i) * (b.im - a.im);
        const number_t to_a = {both - none, of_row - of_column}, to_b = {both + none, of_row + of_column};
        store(at, product_of_conjugate(uv, to_a));
        store(opposite, product_of_conjugate(to_b, conj_u_v));
    }
}

#endif
