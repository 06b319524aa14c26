"""`import torchkeras.as_keras`, as the first line of a script: from there on `import keras` means this package."""

from torchkeras.keras2 import alias

alias.install()
