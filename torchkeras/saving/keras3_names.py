"""The names of Keras 3.15's layers, losses, metrics and optimizers.

What this package has and Keras 3 does not has our own name in a `.keras` file; Keras 3 refuses it.
"""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LAYERS = _names(
    """
    Activation ActivityRegularization AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D
    AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D Add AdditiveAttention AlphaDropout Attention AugMix
    AutoContrast Average AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D
    BatchNormalization Bidirectional CategoryEncoding CenterCrop Concatenate
    ContrastLimitedAdaptiveHistogramEqualization Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose
    ConvLSTM1D ConvLSTM2D ConvLSTM3D Convolution1D Convolution1DTranspose Convolution2D Convolution2DTranspose
    Convolution3D Convolution3DTranspose Cropping1D Cropping2D Cropping3D CutMix Dense DepthwiseConv1D DepthwiseConv2D
    Discretization Dot Dropout ELU EinsumDense Embedding Equalization Flatten FlaxLayer GRU GRUCell GaussianDropout
    GaussianNoise GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D
    GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D
    GlobalMaxPooling3D GroupNormalization GroupQueryAttention HashedCrossing Hashing Identity InputLayer InputSpec
    IntegerLookup JaxLayer LSTM LSTMCell Lambda Layer LayerNormalization LeakyReLU Masking MaxNumBoundingBoxes
    MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D Maximum MelSpectrogram Minimum MixUp
    MultiHeadAttention Multiply Normalization PReLU Permute Pipeline RMSNormalization RNN RandAugment RandomBrightness
    RandomColorDegeneration RandomColorJitter RandomContrast RandomCrop RandomElasticTransform RandomErasing
    RandomFlip RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPerspective RandomPosterization
    RandomRotation RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom ReLU RepeatVector
    Rescaling Reshape Resizing ReversibleEmbedding STFTSpectrogram SeparableConv1D SeparableConv2D
    SeparableConvolution1D SeparableConvolution2D SimpleRNN SimpleRNNCell Softmax Solarization SpatialDropout1D
    SpatialDropout2D SpatialDropout3D SpectralNormalization StackedRNNCells StringLookup Subtract TFSMLayer
    TextVectorization TimeDistributed TorchModuleWrapper UnitNormalization UpSampling1D UpSampling2D UpSampling3D
    Wrapper ZeroPadding1D ZeroPadding2D ZeroPadding3D
    """
)
LOSSES = _names(
    """
    BCE BinaryCrossentropy BinaryFocalCrossentropy CTC CategoricalCrossentropy CategoricalFocalCrossentropy
    CategoricalGeneralizedCrossEntropy CategoricalHinge Circle CosineSimilarity Dice Hinge Huber KLDivergence LogCosh
    MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson
    SparseCategoricalCrossentropy SquaredHinge Tversky bce binary_crossentropy binary_focal_crossentropy
    categorical_crossentropy categorical_focal_crossentropy categorical_generalized_cross_entropy categorical_hinge
    circle cosine_similarity ctc dice hinge huber kl_divergence log_cosh mae mape mean_absolute_error
    mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error mse msle poisson
    rising_cosine_similarity sparse_categorical_crossentropy squared_hinge tversky
    """
)
OPTIMIZERS = _names(
    "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lamb Lion Muon Nadam RMSprop SGD ScheduleFreeAdamW"
)
METRICS = _names(
    """
    AUC Accuracy BCE BinaryAccuracy BinaryCrossentropy BinaryIoU CategoricalAccuracy CategoricalCrossentropy
    CategoricalHinge ConcordanceCorrelation CosineSimilarity F1Score FBetaScore FalseNegatives FalsePositives Hinge
    IoU KLDivergence LogCoshError Mean MeanAbsoluteError MeanAbsolutePercentageError MeanIoU MeanMetricWrapper
    MeanSquaredError MeanSquaredLogarithmicError OneHotIoU OneHotMeanIoU PearsonCorrelation Poisson Precision
    PrecisionAtRecall R2Score Recall RecallAtPrecision RootMeanSquaredError SensitivityAtSpecificity
    SparseCategoricalAccuracy SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity
    SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives auc bce binary_accuracy binary_crossentropy
    binary_focal_crossentropy binary_io_u categorical_accuracy categorical_crossentropy categorical_focal_crossentropy
    categorical_generalized_cross_entropy categorical_hinge circle concordance_correlation cosine_similarity ctc dice
    f1_score f_beta_score false_negatives false_positives hinge huber io_u kl_divergence log_cosh log_cosh_error mae
    mape mean_absolute_error mean_absolute_percentage_error mean_io_u mean_squared_error
    mean_squared_logarithmic_error mse msle one_hot_io_u one_hot_mean_io_u pearson_correlation poisson precision
    precision_at_recall r2_score recall recall_at_precision rising_cosine_similarity root_mean_squared_error
    sensitivity_at_specificity sparse_categorical_accuracy sparse_categorical_crossentropy
    sparse_top_k_categorical_accuracy specificity_at_sensitivity squared_hinge top_k_categorical_accuracy
    true_negatives true_positives tversky
    """
)
