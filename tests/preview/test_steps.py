"""Pictures of a pipeline's intermediate results."""

from __future__ import annotations

import numpy as np

from fftfilter.preview.panels import StepPictures, log_magnitude


def test_a_spectrum_is_shown_by_its_logarithm_with_dc_in_the_middle():
    spectrum = np.array([[9, 1j, 0], [-99, 0, 0]], complex)
    assert log_magnitude(spectrum).tolist() == [[0, 255, 0], [0, 127, 38]]
    assert log_magnitude(spectrum, 999).tolist() == [[0, 170, 0], [0, 85, 25]]
    assert log_magnitude(spectrum, unit=2).tolist() == log_magnitude(2 * spectrum).tolist()
    assert not log_magnitude(np.zeros((2, 3))).any()


def test_a_filtered_spectrum_has_the_scale_of_the_unfiltered_one_and_both_are_upright():
    pictures, planes = StepPictures(), np.zeros((1, 3, 4))
    planes[0, 1, 2] = 99  # column 1, row 2
    before = pictures.picture("spectrum", planes)
    assert before.shape == (1, 4, 3)
    assert np.argwhere(before[0]).tolist() == [[0, 2]]
    assert before.max() == 255
    assert pictures.picture("spectrum-masked", planes / 11).max() == 127


def test_other_results_are_shown_from_black_to_white():
    pictures = StepPictures()
    assert pictures.picture("filtered", np.array([[[-5, 0, 5 + 9j]]])).tolist() == [[[0, 127, 255]]]
    assert pictures.picture("filtered", np.array([[[5.0, 10]]])).tolist() == [[[127, 255]]]
    for name in ("image", "magnitude", "output"):
        assert pictures.picture(name, np.array([[[0, 3 + 4j, -10]]])).tolist() == [[[0, 127, 255]]]
    assert pictures.picture("rows", np.array([[[0, 9, -99]]])).tolist() == [[[0, 127, 255]]]
    assert not pictures.picture("image", np.zeros((1, 2, 2))).any()


def test_of_colors_all_three_are_shown_and_of_other_channels_the_first():
    shapes = [StepPictures().picture("image", np.ones((channels, 2, 5))).shape for channels in (1, 2, 3, 4)]
    assert shapes == [(1, 2, 5), (1, 2, 5), (3, 2, 5), (1, 2, 5)]
