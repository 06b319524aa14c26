import numpy as np

from tests.keras3.cases.inputs import DOUBLE, F3, HALF, I8, I64, ROW, U8, B, F, G, I, case

_draw = np.random.default_rng(12)
WAVES = _draw.uniform(-1.0, 1.0, (2, 3, 40)).astype("float32")
WAVE = WAVES[0, 0]
SPECTRA = tuple(_draw.uniform(-1.0, 1.0, (2, 2, 7, 5)).astype("float32"))
WINDOW = np.array([0.5, 1.0, 1.5, 1.0, 0.5, 0.25], "float32")
IDS = np.array([0, 2, 0], "int32")
SOME_OUT = np.array([1, -1, 5], "int64")
SEGMENTS = ("segment_max", "segment_min", "segment_prod", "segment_sum")

CASES = [
    *(case("extract_sequences", x, 3, 2) for x in (WAVE, WAVES, WAVE.astype("float16"), np.arange(9))),
    case("extract_sequences", WAVES, sequence_length=40, sequence_stride=7),
    case("extract_sequences", [1, 2, 3, 4, 5, 6], 3, 2),
    *(case(name, (F, G)) for name in ("fft", "fft2", "ifft2", "irfft")),
    *(case(name, [F3, F3 + 1]) for name in ("fft", "fft2", "ifft2", "irfft")),
    *(case(name, (DOUBLE, DOUBLE)) for name in ("fft", "fft2", "ifft2", "irfft")),
    *(case(name, (F, ROW)) for name in ("fft", "fft2", "ifft2", "irfft")),
    *(case(name, (I, I)) for name in ("fft", "fft2", "ifft2", "irfft")),
    *(case(name, F) for name in ("fft", "fft2", "ifft2", "irfft")),
    case("fft", (ROW, ROW)),
    case("fft2", (ROW, ROW)),
    *(case("rfft", x) for x in (F, ROW, F3, DOUBLE, I, I64, B, [0.0, 1.0, 2.0, 3.0, 4.0])),
    *(case("rfft", F, length) for length in (3, 4, 7)),
    *(case("irfft", (F, G), length) for length in (3, 5, 6, 9)),
    case("irfft", (ROW, ROW), fft_length=7),
    *(case("stft", x, 6, 3, 8) for x in (WAVE, WAVES[0], WAVES, WAVE.astype("float64"))),
    *(case("stft", WAVES, 6, 2, 6, window=window) for window in ("hann", "hamming", WINDOW, None)),
    *(case("stft", WAVES[0], 6, 3, 8, window=window, center=False) for window in ("hamming", WINDOW, None)),
    case("stft", WAVE, 5, 4, 9),
    case("stft", WAVE.astype("float16"), 6, 3, 8),
    case("stft", np.arange(20), 6, 3, 8),
    case("stft", WAVE, 6, 3, 4),
    case("stft", WAVE, 6, 0, 8),
    case("stft", WAVE, 6, 3, 8, window="kaiser"),
    case("stft", WAVE, 6, 3, 8, window=WINDOW[:4]),
    *(case("istft", SPECTRA, 8, 3, 8, window=window) for window in ("hann", "hamming", None)),
    *(case("istft", SPECTRA, 6, 3, 8, window=window) for window in ("hann", "hamming", WINDOW, None)),
    *(case("istft", SPECTRA, 6, 3, 8, window=window, center=False) for window in ("hamming", WINDOW, None)),
    *(case("istft", tuple(each[0] for each in SPECTRA), 6, 2, 8, length=length) for length in (5, 15)),
    case("istft", tuple(each[0] for each in SPECTRA), 8, 4, 8, length=17),
    case("istft", tuple(each.astype("float64") for each in SPECTRA), 6, 2, 9),
    case("istft", SPECTRA, 6, 3, 8, window=WINDOW[:4]),
    case("istft", SPECTRA, 6, -3, 8),
    *(case(name, x, IDS, 4) for name in SEGMENTS for x in (F, F3[0, :, 0], HALF)),
    *(case(name, x, IDS, num_segments=3) for name in ("segment_prod", "segment_sum") for x in (I, I64, I8, U8, DOUBLE)),
    *(case(name, x, IDS - IDS // 2, num_segments=2) for name in SEGMENTS for x in (I, I64, I8, U8, DOUBLE)),
    *(case(name, F, SOME_OUT, 2) for name in SEGMENTS),
    *(case(name, F, SOME_OUT[[0, 0, 0]], sorted=True, symbolic=False) for name in SEGMENTS),
    *(case(name, F, IDS, symbolic=False) for name in SEGMENTS),
    *(case(name, F, IDS[:2]) for name in SEGMENTS),
    *(case(name, F, F.astype("int32")) for name in SEGMENTS),
    case("segment_sum", B, IDS, 3),
]
