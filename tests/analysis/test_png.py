# SPDX-License-Identifier: BSD-3-Clause
"""PNG files are read back by others as they were written."""

import io

import numpy as np
from PIL import Image

from analysis.figures import png


def test_others_read_it() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (7, 5, 3), np.uint8)
    written = png.of(pixels, 150)
    with Image.open(io.BytesIO(written)) as image:
        image.verify()
    with Image.open(io.BytesIO(written)) as image:
        assert (np.asarray(image) == pixels).all() and image.mode == "RGB"
        assert np.allclose(image.info["dpi"], 150, atol=0.1)
