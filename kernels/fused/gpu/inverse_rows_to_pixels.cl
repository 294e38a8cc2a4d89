// Inverse rows to pixels: makes the pixels of the filtered image from spectra, in one launch whose groups all run at
// once. See inverse_rows.cl and to_pixels.cl.
//
// Launch   (groups of BATCH pairs of rows x images x GROUP) work-items, GROUP a work-group
// Reads    spectrum and image as inverse_rows.cl
// Writes   output; largest[FOUND image]; values, if not all groups run at once
//
// needs: fused/gpu/to_pixels.cl

kernel void gpu_inverse_rows_to_pixels(global const LOAD_PIXEL *image, global pixels_t *output,
                                       global const complex_t *spectrum, global real_t *values,
                                       global const complex_t *tables, global uint *largest,
                                       volatile global uint *progress, const uint pictures, const uint support,
                                       const uint one_scale, const real_t dc, global const ramp_t *ramps,
                                       const real_t range)
{
    local exchanged_t x[LOCAL_SIZE];
    local uint found;
    const uint task = get_group_id(0), tasks = ROW_GROUPS * pictures;
    const size_t picture = task / ROW_GROUPS, own = one_scale ? 0 : picture;
    if (get_local_id(0) == 0)
        atomic_inc(progress + TAKEN);
    const uint left = values_or_pixels(output + picture * SIZE, values + picture * SIZE,
        spectrum + picture * (2 * (size_t)PLANE), tables, largest + FOUND * own, progress, support, dc, ramps + own, range,
        image + picture * SIZE, task % ROW_GROUPS, task, tasks, tasks, x, &found);
    if (left == AS_VALUES) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            say_done(progress, INVERSE_STEP);
    }
    pixels_from_memory(output, values, image, largest, progress, pictures, one_scale, ramps, range,
                       left == AS_DOUBTFUL_VALUES ? task : NONE, left != AS_VALUES, &found);
    leave(progress);
}
