"""Mistakes that editors show: each line that ends in `# wrong` is reported, and no other."""

from torchkeras import Input, Model, Sequential
from torchkeras.callbacks import EarlyStopping, ModelCheckpoint
from torchkeras.layers import LSTM, Concatenate, Conv1D, Conv2D, Dense, Dropout, Embedding, Flatten, MaxPooling2D
from torchkeras.losses import BinaryCrossentropy, Huber
from torchkeras.metrics import AUC, TopKCategoricalAccuracy
from torchkeras.optimizers import SGD, Adam

x = Input((28,))
image = Input((28, 28, 1))
model = Model(x, Dense(1)(x))

Dense(16, activatoin="relu")  # wrong
Dense("16")  # wrong
Dense(16, "relu", use_bias="no")  # wrong
LSTM()  # wrong
Dropout("half")  # wrong
Conv2D(32)  # wrong
Conv2D(32, 3, padding="smae")  # wrong
Conv2D(32, (3, 3, 3))  # wrong
Conv2D(32, 3, data_format="channel_first")  # wrong
Conv1D(32, kernel_size="3")  # wrong
MaxPooling2D(pool_sizes=2)  # wrong
Embedding(1000)  # wrong
Dense(16, names="head")  # wrong
Flatten(input_shape=28)  # wrong
Concatenate()(x)  # wrong
Dense(1)([x, x])  # wrong
Input(28)  # wrong
Model(x)  # wrong
Sequential(layer=[Dense(1)])  # wrong
model.compile(optimiser="adam")  # wrong
model.fit(x, epoch=3)  # wrong
model.evaluate(x, bathc_size=3)  # wrong
EarlyStopping(patience="3")  # wrong
ModelCheckpoint()  # wrong
Adam(lr="fast")  # wrong
Adam(0.1, learning_rates=0.1)  # wrong
SGD(0.1, 0.9, momentums=0.9)  # wrong
Huber(dleta=2.0)  # wrong
BinaryCrossentropy(from_logits="yes")  # wrong
BinaryCrossentropy(reduction="summ")  # wrong
TopKCategoricalAccuracy(k="5")  # wrong
AUC(curves="ROC")  # wrong
