// Pack: makes spectra of pairs of rows from filtered columns, if the columns' last step holds one row of a pair at a
// time.
//
// Launch   (PAIRS TILE, tiles of columns below the support, images) work-items
// Reads    strips[tile][p and p + PAIRS][column], see long/strips.cl     -> coalesced
// Writes   spectrum[plane][tile][p][column]                              -> coalesced
//
// needs: fused/gpu/long/strips.cl

kernel void gpu_long_pack(global complex_t *spectrum, global const complex_t *strips)
{
    const uint p = get_global_id(0) / TILE, kx = get_global_id(1) * TILE + get_global_id(0) % TILE;
    if (p >= PAIRS || kx >= COLUMNS)
        return;
    strips += get_global_id(2) * STRIPS_LENGTH;
    spectrum += get_global_id(2) * (2 * (size_t)PLANE);
    const complex_t upper = strips[strip_place(kx, p)];
    const complex_t lower = p + PAIRS < HEIGHT ? strips[strip_place(kx, p + PAIRS)] : (complex_t)(0);
    pack(spectrum + place(kx, p) + OWN_PLANE(kx), spectrum + place(kx, p) + MIRRORED_PLANE(kx), upper, lower);
}
