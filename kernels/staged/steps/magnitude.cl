// Magnitude: |x| of every complex number, the book's amplitude, after the filtered offset, dc = H(0) times the offset,
// is added again.
//
// Launch   (width, height, images) work-items
// Reads    x[i]                    -> coalesced
// Writes   y[i], a real number     -> coalesced; no hypot: pixels are far from where squares overflow

kernel void magnitude(global real_t *y, global const complex_t *x, global const real_t *offset, const real_t dc,
                      const uint width)
{
    const uint column = get_global_id(0);
    const size_t which = get_global_id(2), row = which * get_global_size(1) + get_global_id(1);
    if (column >= width)
        return;

    const size_t i = row * width + column;
    const complex_t value = x[i] + (complex_t)(dc * offset[which], 0);
    y[i] = sqrt(dot(value, value));
}
