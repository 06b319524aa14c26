"""The classes of Keras 3.15's operations, by the functions of `keras.ops` that make them.

A file of Keras 3 has an operation with its module, its class and the options that its constructor takes. All other
arguments of the function are arguments of its call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class OperationClass(NamedTuple):
    """A class of operations: its module in `keras.src.ops`, and which arguments of the function are its options."""

    module: str
    name: str
    options: tuple[str, ...]


# By module: `function:option,option`. The class is the name of the function in camel case, or what stands before "=".
_TABLE = {
    "numpy": """
    abs absolute add all:axis,keepdims AllClose=allclose:rtol,atol,equal_nan amax:axis,keepdims amin:axis,keepdims
    angle any:axis,keepdims append:axis arange:dtype arccos arccosh arcsin arcsinh arctan arctan2 arctanh
    argmax:axis,keepdims argmin:axis,keepdims argpartition:kth,axis argsort:axis array:dtype
    array_split:indices_or_sections,axis average:axis bincount:weights,minlength,sparse bitwise_and bitwise_invert
    bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor broadcast_to:shape cbrt ceil
    clip:x_min,x_max concatenate:axis conj conjugate copy corrcoef correlate:mode cos cosh count_nonzero:axis
    cross:axisa,axisb,axisc,axis cumprod:axis,dtype cumsum:axis,dtype deg2rad diag:k diagflat:k
    diagonal:offset,axis1,axis2 diff:n,axis digitize divide divide_no_nan dot dsplit:indices_or_sections dstack
    einsum:subscripts empty_like:dtype equal exp exp2 expand_dims:axis expm1 fabs flip:axis fliplr flipud floor
    floor_divide fmax fmin fmod full:shape,dtype full_like:dtype gcd geomspace:num,endpoint,dtype,axis get_item
    greater greater_equal heaviside histogram:bins,range hsplit:indices_or_sections hstack hypot i0 imag inner
    isclose:equal_nan isfinite IsIn=isin:assume_unique,invert isinf isnan isneginf isposinf isreal kron lcm ldexp
    left_shift less less_equal linspace:num,endpoint,retstep,dtype,axis log log10 log1p log2 logaddexp logaddexp2
    logical_and logical_not logical_or logical_xor logspace:num,endpoint,base,dtype,axis matmul
    max:axis,keepdims,initial maximum mean:axis,keepdims median:axis,keepdims meshgrid:indexing
    min:axis,keepdims,initial minimum mod moveaxis:source,destination multiply nan_to_num:nan,posinf,neginf
    nanargmax:axis,keepdims nanargmin:axis,keepdims nancumprod:axis,dtype nancumsum:axis,dtype nanmax:axis,keepdims
    nanmean:axis,keepdims nanmedian:axis,keepdims nanmin:axis,keepdims nanpercentile:axis,method,keepdims
    nanprod:axis,keepdims nanquantile:axis,method,keepdims nanstd:axis,keepdims nansum:axis,keepdims
    nanvar:axis,keepdims ndim negative nextafter nonzero not_equal ones_like:dtype outer pad:pad_width,mode
    percentile:axis,method,keepdims power prod:axis,keepdims,dtype ptp:axis,keepdims quantile:axis,method,keepdims
    rad2deg ravel real reciprocal repeat:repeats,axis reshape:newshape right_shift roll:shift,axis rot90:k,axes
    round:decimals SearchSorted=searchsorted:side select sign signbit sin sinc sinh size slogdet sort:axis
    split:indices_or_sections,axis sqrt square squeeze:axis stack:axis std:axis,keepdims subtract sum:axis,keepdims
    swapaxes:axis1,axis2 take:axis take_along_axis:axis tan tanh tensordot:axes tile:repeats trace:offset,axis1,axis2
    transpose:axes trapezoid:x,dx,axis tril:k triu:k true_divide trunc
    unique:sorted,return_index,return_inverse,return_counts,axis,size,fill_value unravel_index:shape
    vander:N,increasing var:axis,keepdims vdot view:dtype vsplit:indices_or_sections vstack where zeros_like:dtype
    """,
    "nn": """
    adaptive_average_pool:output_size,data_format adaptive_max_pool:output_size,data_format
    average_pool:pool_size,strides,padding,data_format BatchNorm=batch_normalization:axis,epsilon
    binary_crossentropy:from_logits categorical_crossentropy:from_logits,axis celu:alpha
    conv:strides,padding,data_format,dilation_rate
    conv_transpose:strides,padding,output_padding,data_format,dilation_rate
    CTCDecode=ctc_decode:strategy,beam_width,top_paths,merge_repeated,mask_index CTCLoss=ctc_loss:mask_index
    depth_to_space:block_size,data_format depthwise_conv:strides,padding,data_format,dilation_rate
    dot_product_attention:is_causal,flash_attention,attn_logits_soft_cap elu:alpha
    fold:output_size,kernel_size,dilation,padding,stride gelu:approximate glu:axis hard_shrink:threshold hard_sigmoid
    hard_silu hard_tanh LayerNorm=layer_normalization:axis,epsilon leaky_relu:negative_slope log_sigmoid
    log_softmax:axis max_pool:pool_size,strides,padding,data_format moments:axes,keepdims,synchronized
    multi_hot:num_classes,axis,dtype,sparse normalize:axis,order,epsilon one_hot:num_classes,axis,dtype,sparse polar
    PSNR=psnr:max_val relu relu6 RMSNorm=rms_normalization:axis,epsilon selu
    separable_conv:strides,padding,data_format,dilation_rate sigmoid silu soft_shrink:threshold softmax:axis softplus
    softsign space_to_depth:block_size,data_format sparse_categorical_crossentropy:from_logits,axis sparse_plus
    sparse_sigmoid sparsemax:axis squareplus:b tanh_shrink threshold:threshold,default_value
    unfold:kernel_size,dilation,padding,stride
    """,
    "core": """
    cast:dtype convert_to_tensor:dtype,sparse,ragged saturate_cast:dtype scatter:shape scatter_update:reduction
    slice:shape slice_update stop_gradient unstack:num,axis
    """,
    "linalg": """
    cholesky:upper cholesky_inverse:upper det eig eigh inv lstsq:rcond lu_factor matrix_rank:tol
    norm:ord,axis,keepdims pinv:rcond qr:mode solve solve_triangular:lower SVD=svd:full_matrices,compute_uv
    """,
    "math": """
    CDist=cdist erf erfc erfinv extract_sequences:sequence_length,sequence_stride FFT=fft FFT2=fft2 IFFT2=ifft2
    in_top_k:k IRFFT=irfft:fft_length ISTFT=istft:sequence_length,sequence_stride,fft_length,length,window,center
    logdet logsumexp:axis,keepdims RFFT=rfft:fft_length rsqrt segment_max:num_segments,sorted
    segment_min:num_segments,sorted segment_prod:num_segments,sorted segment_sum:num_segments,sorted
    STFT=stft:sequence_length,sequence_stride,fft_length,window,center top_k:k,sorted view_as_complex view_as_real
    """,
    "image": """
    affine_transform:interpolation,fill_mode,fill_value,data_format
    crop_images:top_cropping,left_cropping,bottom_cropping,right_cropping,target_height,target_width,data_format
    elastic_transform:alpha,sigma,interpolation,fill_mode,fill_value,seed,data_format
    extract_patches:size,strides,dilation_rate,padding,data_format gaussian_blur:kernel_size,sigma,data_format
    HSVToRGB=hsv_to_rgb:data_format map_coordinates:order,fill_mode,fill_value
    pad_images:top_padding,left_padding,bottom_padding,right_padding,target_height,target_width,data_format
    perspective_transform:interpolation,fill_value,data_format
    resize:size,interpolation,antialias,crop_to_aspect_ratio,pad_to_aspect_ratio,fill_mode,fill_value,data_format
    RGBToGrayscale=rgb_to_grayscale:data_format RGBToHSV=rgb_to_hsv:data_format
    scale_and_translate:spatial_dims,method,antialias sobel_edges:data_format
    SSIM=ssim:max_val,filter_size,filter_sigma,k1,k2,data_format
    """,
    "einops": """
    rearrange
    """,
}
# Functions that make the operation of another one.
_SAME = {
    "abs": "absolute",
    "conj": "conjugate",
    "hard_swish": "hard_silu",
    "image.extract_patches_3d": "image.extract_patches",
    "swish": "silu",
}


def _rows() -> Iterator[tuple[str, OperationClass]]:
    for module, text in _TABLE.items():
        for row in text.split():
            called, _, options = row.partition(":")
            name, _, function = called.rpartition("=")
            name = name or "".join(part.capitalize() for part in function.split("_"))
            prefix = "image." if module == "image" else ""
            yield prefix + function, OperationClass(module, name, tuple(options.split(",")) if options else ())


_MADE = dict(_rows())
BY_FUNCTION: Mapping[str, OperationClass] = {**_MADE, **{name: _MADE[other] for name, other in _SAME.items()}}
# By class: the function, the module.
FUNCTIONS: Mapping[str, str] = {found.name: function for function, found in _MADE.items()}
MODULES: Mapping[str, str] = {found.name: found.module for found in _MADE.values()}
