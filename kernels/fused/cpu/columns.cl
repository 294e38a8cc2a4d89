// Columns: the vertical transforms, each strip of 2 VECTOR columns by one work-item.
//
// The left VECTOR columns of a strip are taken as real parts, the right ones as imaginary parts: one complex
// transform does 2 VECTOR real ones, at any height. Taking the two apart needs the mirrored frequency and no
// multiplication, which the rows do when they read (rows.cl).
//
// A strip lies by itself, all its rows one after the other, so that it is its own work space and stays in the
// cache from the first stage to the last, and the rows find VECTOR rows of it in one piece.

// First stage: butterflies of pixels, so that the image is never stored as floats. Neighboring strips share
// lines of the cache in the image, so that they are read together: strip i of count begins `apart` pixels and
// `strip_size` numbers after the one before, the last one `to_last` pixels after the first.
ALWAYS brightest_t first_stage(const uint kind, const uint radix, global vector_t *z, global const PIXEL *image,
                               const uint pitch, const uint count, const uint to_last, const uint strip_size,
                               const uint span, global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span, rows = (size_t)span * pitch;
    global const float *v = (global const float *)w;
    brightest_t brightest = 0;
    for (global vector_t *at = z, *stop = z + step; at < stop; at += 2, v += 2 * (radix - 1), image += pitch) {
        for (uint i = 0; i < count; ++i) {
            global const PIXEL *row = image + (i * 2 * VECTOR < to_last ? i * 2 * VECTOR : to_last);
            global vector_t *to = at + 2 * (size_t)strip_size * i;
            number_t a[WIDEST];
            EACH(0, a[q] = pixels(row + q * rows); brightest = brighter(brightest, row + q * rows));
            butterfly(kind, a, radix, roots);
            set(to, a[0]);
            EACH(1, set(to + q * step, spun(a[q], v[2 * q - 2], v[2 * q - 1])));
        }
    }
    return brightest;
}

// Last stage: the result is real (left columns) and imaginary (right columns); what is kept is the magnitude.
ALWAYS vector_t magnitude_stage(const uint kind, const uint radix, global vector_t *z, const uint span,
                                global const float2 *w, global const float2 *roots)
{
    const size_t step = 2 * (size_t)span;
    global const float *v = (global const float *)w;
    vector_t largest = 0;
    for (global vector_t *at = z, *stop = z + step; at < stop; at += 2, v += 2 * (radix - 1)) {
        number_t a[WIDEST];
        a[0] = turned(got(at));
        EACH(1, a[q] = spun(turned(got(at + q * step)), v[2 * q - 2], v[2 * q - 1]));
        butterfly(kind, a, radix, roots);
        EACH(0, const number_t kept = magnitudes(a[q]); set(at + q * step, kept); largest = larger_part(largest, kept));
    }
    return largest;
}

// The stages behind the first one: whole stages until the parts fit into the first cache, then part after
// part all that is left.
ALWAYS void other_stages(global vector_t *z, global const axis_t *axis, global const float2 *spin)
{
    global const stage_t *stages = axis->stages;
    uint s;
    const uint height = axis->length, whole = axis->whole, part_length = stages[whole - 1].span;
    for (uint part = 0; part < height; part += part_length) {
        for (s = part == 0 ? 1 : whole; s < axis->stage_count - 1; ++s)
            BY_RADIX(forward_stage, z + 2 * part, s < whole ? height : part_length, stages[s].span,
                     spin + stages[s].spin, spin + stages[s].roots);
        BY_RADIX(last_forward_stage, z + 2 * part, part_length, spin + stages[s].roots);
    }
}

// Reads    the pixels of some strips that lie side by side, row after row
// Writes   their transforms, permuted, with 0 where nothing passes, and their brightest pixel
ONCE void columns_forward(global const job_t *job, global vector_t *z, global vector_t *x, global const PIXEL *image,
                          global float *brightest, global const float2 *spin, global const uint *places,
                          const size_t picture, const uint index)
{
    global const axis_t *axis = &job->columns;
    global const stage_t *stages = axis->stages;
    const uint strip = index * job->together, count = min(job->together, job->strips - strip);
    const uint left = min(strip * 2 * VECTOR, job->last);
    z += 2 * job->strip_size * (picture * job->strips + strip);
    image += picture * axis->length * job->pitch + left;

    brightest_t most = 0;
    const uint s = 0;
#define FIRST(...) most = first_stage(__VA_ARGS__)
    BY_RADIX(FIRST, z, image, job->pitch, count, job->last - left, job->strip_size, stages[s].span,
             spin + stages[s].spin, spin + stages[s].roots);
    const float found = largest_of(to_floats(most));
    for (uint i = 0; i < count; ++i) {
        if (axis->stage_count > 1)
            other_stages(z + 2 * (size_t)job->strip_size * i, axis, spin);
        clear_blocked(job, z + 2 * (size_t)job->strip_size * i, places);
        brightest[picture * job->strips + strip + i] = found;
    }
}

// Reads    a strip's transform, permuted
// Writes   its magnitudes in its place, 2 VECTOR a row in the order of the columns, and the largest of them
ONCE void columns_inverse(global const job_t *job, global vector_t *z, global vector_t *x, global float *largest,
                          global const float2 *spin, const size_t picture, const uint strip)
{
    global const axis_t *axis = &job->columns;
    global const stage_t *stages = axis->stages;
    const uint height = axis->length, whole = axis->whole;
    z += 2 * job->strip_size * (picture * job->strips + strip);

    uint s = 0;
    if (axis->stage_count > 1) {
        const uint part_length = stages[whole - 1].span;
        for (uint part = 0; part < height; part += part_length) {
            s = axis->stage_count - 1;
            BY_RADIX(first_inverse_stage, z + 2 * part, part_length, spin + stages[s].roots);
            const uint stop = part + part_length < height ? whole : 1;
            for (--s; s >= stop; --s) {
                const bool is_whole = s < whole;
                BY_RADIX(inverse_stage, z + (is_whole ? 0 : 2 * part), is_whole ? height : part_length,
                         stages[s].span, spin + stages[s].spin, spin + stages[s].roots);
            }
        }
    }
    s = 0;
    vector_t most = 0;
#define MAGNITUDE(...) most = magnitude_stage(__VA_ARGS__)
    BY_RADIX(MAGNITUDE, z, stages[s].span, spin + stages[s].spin, spin + stages[s].roots);
    largest[picture * job->strips + strip] = largest_of(most);
}
