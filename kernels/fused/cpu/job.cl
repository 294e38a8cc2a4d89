// Job: what all steps of the filter need to know, as the host fills it in (fused/cpu/pipeline.py has the same fields).

// The transforms along one axis: images are `length` long, transforms have `points`, which is more where Bluestein's
// convolution does it; then chirp and filter are where its tables begin among the spin factors. `whole` stages are
// done before the transform is cut into parts that fit into the first cache.
typedef struct {
    uint length, points, stage_count, whole, chirp, filter;
    stage_t stages[24];
} axis_t;

// `pitch` pixels lie between rows, `strip_size` numbers between strips; the last strip begins at column `last`.
// `together` strips are read at once. A worker's room is `spare` numbers. `groups` of rows are transformed, `blocked`
// rows cleared; behind the places of the former lie the positions of the latter. `scale` undoes the rows' transforms and
// the doubling of tiles.cl, `unit` the columns'.
typedef struct {
    uint count, pitch, strips, last, strip_size, together, groups, blocked, bands, spare, one_scale;
    int order;
    float scale, unit, noise, levels, nudge, white;
    axis_t columns, rows;
} job_t;
