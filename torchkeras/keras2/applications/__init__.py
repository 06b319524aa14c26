"""`keras.applications`: networks for images, by the package keras-applications, which Keras 2.2.4 used."""

from torchkeras.keras2.applications.densenet import DenseNet121, DenseNet169, DenseNet201
from torchkeras.keras2.applications.frozen import keras_modules_injection
from torchkeras.keras2.applications.inception_resnet_v2 import InceptionResNetV2
from torchkeras.keras2.applications.inception_v3 import InceptionV3
from torchkeras.keras2.applications.mobilenet import MobileNet
from torchkeras.keras2.applications.mobilenet_v2 import MobileNetV2
from torchkeras.keras2.applications.nasnet import NASNetLarge, NASNetMobile
from torchkeras.keras2.applications.resnet50 import ResNet50
from torchkeras.keras2.applications.vgg16 import VGG16
from torchkeras.keras2.applications.vgg19 import VGG19
from torchkeras.keras2.applications.xception import Xception

__all__ = [
    "VGG16",
    "VGG19",
    "DenseNet121",
    "DenseNet169",
    "DenseNet201",
    "InceptionResNetV2",
    "InceptionV3",
    "MobileNet",
    "MobileNetV2",
    "NASNetLarge",
    "NASNetMobile",
    "ResNet50",
    "Xception",
    "keras_modules_injection",
]
