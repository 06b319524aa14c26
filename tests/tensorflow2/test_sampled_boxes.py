"""`tf.image.sample_distorted_bounding_box`: the part of an image lies inside it and covers what is asked."""

import pytest
import torch

from torchkeras.tensorflow2.images import NAMES

sample = NAMES["sample_distorted_bounding_box"]


@pytest.mark.parametrize("seed", range(5))
def test_a_part_covers_a_share_of_the_box(seed):
    boxes = torch.tensor([[[0.25, 0.25, 0.75, 0.75]]])
    begin, size, box = sample((40, 60, 3), boxes, seed=seed, min_object_covered=0.5, area_range=(0.2, 0.8))
    (top, left, channel), (rows, columns, whole) = begin.tolist(), size.tolist()
    assert (channel, whole) == (0, -1)
    assert box.flatten().tolist() == pytest.approx([top / 40, left / 60, (top + rows) / 40, (left + columns) / 60])
    inside = (min(top + rows, 30) - max(top, 10)) * (min(left + columns, 45) - max(left, 15))
    assert inside / (20 * 30) >= 0.5
    assert 0.15 < rows * columns / (40 * 60) < 0.85


def test_the_image_stands_for_a_box_where_asked():
    with pytest.raises(ValueError, match=r"^sample_distorted_bounding_box: there are no boxes"):
        sample((40, 60, 3), torch.zeros(0, 0, 4))
    options = {"use_image_if_no_bounding_boxes": True, "min_object_covered": 1.0, "area_range": (1.0, 1.0)}
    begin, size, _ = sample((40, 60, 3), torch.zeros(0, 0, 4), aspect_ratio_range=(1.5, 1.5), **options)
    assert (begin.tolist(), size.tolist()) == ([0, 0, 0], [40, 60, -1])
