// Step: does rows, columns or inverse rows of images of any size, as rows.cl, columns.cl and inverse_rows.cl do. One
// kernel does all three, as most of it is the transforms, which take long to compile.
//
// Launch   (work-groups x their work-items); each takes batch after batch of transforms until none is left
// Reads    rows and inverse rows: neighbors take neighboring numbers of a row    -> coalesced, in the spectrum TILE
//          columns: they take neighboring columns                                -> a batch side by side; it divides TILE
// Writes   the same way; `largest` as rows.cl and inverse_rows.cl
//
// needs: fused/gpu/generic/side.cl edges.cl fused/gpu/generic/mask.cl fused/gpu/cosines.cl offset.cl
// needs: fused/gpu/largest.cl
//
// -D LOAD_PIXEL=uchar | ushort | float    the type of the image's pixels

#ifndef LOAD_PIXEL
#error "fused/gpu/generic/step.cl: -D LOAD_PIXEL=uchar, ushort or float is missing"
#endif

// The steps, as launches.py numbers them
#define ROWS 0
#define COLUMNS 1
#define INVERSE_ROWS 2

// Pixels of a pair of rows; zeros behind them
INLINE void load_rows(ROOM complex_t *x, global const LOAD_PIXEL *image, const uint p, constant sizes_t *sizes)
{
    const uint height = sizes->height, width = sizes->width, pairs = PAIRS(sizes);
    const bool alone = p + pairs >= height;
    global const LOAD_PIXEL *upper = image + (size_t)pixel_at(p, height) * width;
    global const LOAD_PIXEL *lower = image + (size_t)pixel_at(alone ? p : p + pairs, height) * width;
    const real_t base = offset(image, height, width, width);
    FOR_OWN(&sizes->rows, t, sizes->rows.length) {
        complex_t both = 0;
        if (t < width) {
            const uint at = pixel_at(t, width);
            both.x = upper[at] - base;
            if (!alone)
                both.y = lower[at] - base;
        }
        x[PADDED(t)] = both;
    }
}

INLINE void store_spectrum(global complex_t *spectrum, ROOM const complex_t *x, const uint p, const uint support,
                           constant sizes_t *sizes)
{
    FOR_OWN(&sizes->rows, k, sizes->width)
        if (min(k, sizes->width - k) < support)
            spectrum[place_of(k, p, sizes)] = x[PADDED(k)];
}

// The rows' spectrum for the way back: real and imaginary parts change places, so the upper row is y and the lower x.
INLINE void load_spectrum(ROOM complex_t *x, global const complex_t *spectrum, const uint p, const uint support,
                          constant sizes_t *sizes)
{
    FOR_OWN(&sizes->rows, k, sizes->rows.length)
        x[PADDED(k)] = k < sizes->width && min(k, sizes->width - k) < support
            ? spectrum[place_of(k, p, sizes)].yx : (complex_t)(0);
}

// Returns the largest magnitude of the values; those of a complement are subtracted from the image (values.cl). Where
// it is transformed back twice, they are those whose row + column is even, or the `other` ones.
INLINE real_t store_values(global real_t *values, ROOM const complex_t *x, global const LOAD_PIXEL *image, const uint p,
                           const bool is_complement, const bool other, const real_t dc, constant sizes_t *sizes)
{
    const uint height = sizes->height, width = sizes->width, pairs = PAIRS(sizes);
    const bool alone = p + pairs >= height;
    const uint upper_row = pixel_at(p, height), lower_row = pixel_at(alone ? p : p + pairs, height);
    const size_t upper = (size_t)upper_row * width, lower = (size_t)lower_row * width;
    const real_t base = offset(image, height, width, width), back = dc * base;
    real_t most = 0;
    FOR_OWN(&sizes->rows, t, width) {
        const uint at = pixel_at(t, width);
        complex_t value = x[PADDED(t)];
        if (is_complement) {
            value.y = image[upper + at] - base - value.y;
            value.x = image[lower + at] - base - value.x;
        }
        value += back;
        if (!sizes->needs_two_inverses || (upper_row + at) % 2 == other) {
            values[upper + at] = value.y;
            most = fmax(most, fabs(value.y));
        }
        if (!alone && (!sizes->needs_two_inverses || (lower_row + at) % 2 == other)) {
            values[lower + at] = value.x;
            most = fmax(most, fabs(value.x));
        }
    }
    return most;
}

// Both rows of each pair come apart (packed.cl); zeros behind them.
INLINE void load_columns(ROOM complex_t *x, global const complex_t *own, global const complex_t *mirrored,
                         constant sizes_t *sizes)
{
    constant side_t *side = &sizes->columns;
    const uint pairs = PAIRS(sizes), height = sizes->height;
    FOR_ACROSS(side, p, pairs) {
        complex_t upper, lower;
        unpack(&upper, &lower, own[p * sizes->tile], mirrored[p * sizes->tile]);
        x[PADDED(p)] = upper;
        if (p + pairs < height)
            x[PADDED(p + pairs)] = lower;
    }
    FOR_ACROSS(side, i, side->length - height)
        x[PADDED(height + i)] = 0;
}

// With real and imaginary parts exchanged, as the way back left them
INLINE void store_columns(global complex_t *own, global complex_t *mirrored, ROOM const complex_t *x,
                          constant sizes_t *sizes)
{
    const uint pairs = PAIRS(sizes);
    FOR_ACROSS(&sizes->columns, p, pairs) {
        const complex_t lower = p + pairs < sizes->height ? x[PADDED(p + pairs)].yx : (complex_t)(0);
        pack(own + p * sizes->tile, mirrored + p * sizes->tile, x[PADDED(p)].yx, lower);
    }
}

// Gain of O, which lies behind the gains of E, for the pixels in question
INLINE real_t odd_gain(global const uint *data, const uint kx, const uint ky, const bool other, constant sizes_t *sizes)
{
    const size_t rows = sizes->height + 1, at = (sizes->width + 1) * rows + kx * rows + ky;
    return sizes->needs_two_inverses ? (other ? -1 : 1) * as_float(data[at]) : 0;
}

// Columns times the mask and the scale, from one room to the other, with real and imaginary parts exchanged for the way
// back; zeros behind them
INLINE void mask_columns(ROOM const complex_t *from, ROOM complex_t *to, const uint kx, global const uint *data,
                         const real_t scale, const cutoffs_t cutoffs, const bool other, constant sizes_t *sizes)
{
    const uint height = sizes->height;
    FOR_OWN(&sizes->columns, ky, sizes->columns.length) {
        complex_t masked = 0;
#if IS_MIRRORED
        const uint width = sizes->width;
        if (ky < height) {
            const gains_t even = {
                mask_gain(data, kx, ky, height, cutoffs),
                mask_gain(data, width - kx, height - ky, height, cutoffs),
                mask_gain(data, width - kx, ky, height, cutoffs),
                mask_gain(data, kx, height - ky, height, cutoffs),
            };
            const gains_t odd = {
                odd_gain(data, kx, ky, other, sizes),
                odd_gain(data, width - kx, height - ky, other, sizes),
                odd_gain(data, width - kx, ky, other, sizes),
                odd_gain(data, kx, height - ky, other, sizes),
            };
            const complex_t own = from[PADDED(ky)], opposite = from[PADDED(ky ? height - ky : 0)];
            const complex_t down = turn(ky, height), across = turn(kx, width);
            // Apart, so that each is rounded as in mirrored_mask.cl.
            masked = sizes->needs_two_inverses ? scale * masked_cosines(own, opposite, down, across, even, true, odd)
                                       : scale * masked_cosines(own, opposite, down, across, even, false, odd);
        }
#else
        if (ky < height)
            masked = from[PADDED(ky)] * (scale * mask_gain(data, kx, ky, height, cutoffs));
#endif
        to[PADDED(ky)] = masked.yx;
    }
}

kernel void gpu_generic_step(global real_t *values, global const LOAD_PIXEL *image, const uint step,
                              global complex_t *spectra, global const complex_t *tables, global uint *largest,
                              const uint one_scale, const uint support, const real_t dc, const uint subtracts,
                              const uint other, constant sizes_t *sizes, ROOM complex_t *room, const uint shape,
                              global const uint *mask_data, const real_t scale, const real_t scale_x2,
                              const real_t scale_y2, const real_t per_outer2, const real_t per_inner2,
                              const real_t outer_falloff, const real_t inner_falloff, const real_t at_dc,
                              const uint is_complement)
{
    local uint found;
    const cutoffs_t cutoffs = {shape, scale_x2, scale_y2, per_outer2, per_inner2, outer_falloff, inner_falloff, at_dc,
        is_complement};
    constant side_t *side = step == COLUMNS ? &sizes->columns : &sizes->rows;
    const uint batch = 1 << side->log2_batch, pairs = PAIRS(sizes), columns = sizes->width / 2 + 1;
    const uint transforms = step == COLUMNS ? min(support, columns) : pairs, groups = (transforms + batch - 1) / batch;
    const size_t size = (size_t)sizes->height * sizes->width;
    const uint along = own_transform(side), across = get_local_id(0) % batch;
    rooms_t rooms;
    take_rooms(&rooms, room, side);
    for (uint task = get_group_id(0); task < groups * sizes->pictures; task += get_num_groups(0)) {
        const uint group = task % groups, picture = task / groups;
        global complex_t *spectrum = spectra + picture * (2 * plane_of(sizes));
        // What the other pixels come of is behind the spectra of all pictures: left there, and found there.
        const size_t behind = other ? 2 * plane_of(sizes) * sizes->pictures : 0;
        // Rows and columns past the last are allocated but unused.
        const uint row = group * batch + along, p = min(row, pairs - 1), kx = min(row, columns - 1);
        const uint column = group * batch + across, start = along * side->stride, start_across = across * side->stride;
        global complex_t *in_plane = spectrum + place_in_plane(column, 0, sizes->tile, pairs);
        global complex_t *own = in_plane + (column < (sizes->width + 1) / 2 ? 0 : plane_of(sizes));
        global complex_t *mirrored = in_plane + (column ? plane_of(sizes) : 0);

        if (step == ROWS && group == 0 && get_local_id(0) == 0)
            vstore3((uint3)(0), picture, largest);
        if (step == ROWS)
            load_rows(rooms.from + start, image + picture * size, p, sizes);
        else if (step == COLUMNS)
            load_columns(rooms.from + start_across, own, mirrored, sizes);
        else
            load_spectrum(rooms.from + start, spectrum + behind, p, support, sizes);
        barrier(EVERYWHERE);

        for (uint back = 0; back < (step == COLUMNS ? 2 : 1); back++) {
            if (back) {
                mask_columns(rooms.from + start, rooms.to + start, kx, mask_data, scale, cutoffs, other, sizes);
                exchange(&rooms);
            }
            barrier(EVERYWHERE);
            transform(&rooms, side, tables, back);
        }

        real_t most = 0;
        if (step == COLUMNS) {
            if (column < columns)
                store_columns(own + behind, mirrored + behind, rooms.from + start_across, sizes);
        } else if (row < pairs) {
            if (step == ROWS)
                store_spectrum(spectrum, rooms.from + start, p, support, sizes);
            else
                most = store_values(values + picture * size, rooms.from + start, image + picture * size, p,
                                    subtracts, other, dc, sizes);
        }
        keep_largest(largest + (one_scale ? 0 : FOUND * picture), most, &found);
        barrier(EVERYWHERE);
    }
}
