// Magnitude: |x| of every complex number, the book's amplitude.
//
// Launch   (width, rows) work-items
// Reads    x[i]                    -> coalesced
// Writes   y[i], a real number     -> coalesced; no hypot: pixels are far from where squares overflow

kernel void magnitude(global real_t *y, global const complex_t *x, const uint width)
{
    const uint column = get_global_id(0);
    const size_t row = get_global_id(1);
    if (column >= width)
        return;

    const size_t i = row * width + column;
    y[i] = sqrt(dot(x[i], x[i]));
}
