import numpy as np

from tests.keras3.cases.inputs import case

_draw = np.random.default_rng(23)
LOGITS = _draw.normal(0.0, 2.0, (3, 6, 4)).astype("float32")
TARGET = np.array([[1, 2, 3], [2, 2, 0], [3, 0, 0]], "int32")
COUNTS, TIMES = np.array([3, 2, 1], "int32"), np.array([6, 5, 3], "int32")
REPEATED = np.repeat(LOGITS, 2, 1)
FEW = LOGITS[:, :4, :3]
BEAM = {"strategy": "beam_search"}

CASES = [
    case("ctc_loss", TARGET, LOGITS, COUNTS, TIMES),
    case("ctc_loss", *(x.astype("int64") if x is not LOGITS else x for x in (TARGET, LOGITS, COUNTS, TIMES))),
    *(case("ctc_loss", TARGET, LOGITS.astype(t), COUNTS, TIMES) for t in ("float16", "float64")),
    case("ctc_loss", TARGET % 3, LOGITS, COUNTS, TIMES, mask_index=3),
    case("ctc_loss", TARGET, LOGITS, COUNTS, [2, 5, 3]),  # too short for the first
    case("ctc_loss", TARGET[:1], LOGITS[:1], [3], [6], 0),
    case("ctc_loss", TARGET, REPEATED, [0, 2, 1], [12, 9, 10]),
    *(case("ctc_decode", x, TIMES) for x in (LOGITS, LOGITS.astype("float16"), LOGITS.astype("float64"))),
    *(case("ctc_decode", REPEATED, [12, 9, 10], merge_repeated=merge) for merge in (True, False)),
    *(case("ctc_decode", REPEATED, TIMES, "greedy", 100, 1, True, index) for index in (0, 1, 3)),
    case("ctc_decode", LOGITS, TIMES.astype("int64"), strategy="greedy", merge_repeated=False, mask_index=2),
    *(case("ctc_decode", x, TIMES, **BEAM) for x in (LOGITS, LOGITS.astype("float16"), LOGITS.astype("float64"))),
    *(case("ctc_decode", LOGITS, TIMES, **BEAM, beam_width=width, top_paths=2) for width in (2, 3, 4, 10)),
    *(case("ctc_decode", REPEATED, [12, 9, 10], **BEAM, top_paths=3, mask_index=index) for index in (0, 1, 3)),
    *(case("ctc_decode", REPEATED, [12, 9, 10], **BEAM, merge_repeated=merge) for merge in (True, False)),
    case("ctc_decode", FEW, [4, 3, 1], **BEAM, top_paths=2, beam_width=50),
    *(case("ctc_decode", LOGITS, TIMES, strategy, mask_index=None) for strategy in ("greedy", "beam_search")),
    case("ctc_decode", LOGITS, TIMES, "best"),
]
