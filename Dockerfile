# docker build -t torchkeras . && docker run --rm torchkeras            (add --gpus all for a GPU)
#
# PyPI's Linux torch carries CUDA and runs on a CPU just as well. For an image a third of the size without CUDA,
# or for another CUDA version, name the index that pytorch.org's "Get started" page gives for it:
#   docker build --build-arg TORCH_INDEX=<index> -t torchkeras .
ARG BASE=python:3.12-slim
FROM ${BASE}
ARG TORCH_INDEX=

RUN useradd --create-home keras && install --directory --owner keras /home/keras/torchkeras
USER keras
WORKDIR /home/keras/torchkeras
COPY --chown=keras . .
RUN TORCHKERAS_PIP_ARGS="--no-cache-dir ${TORCH_INDEX:+--extra-index-url ${TORCH_INDEX}}" scripts/setup

CMD ["scripts/demo"]
