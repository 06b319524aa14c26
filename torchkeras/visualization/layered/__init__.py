"""Where the boxes of a layered drawing lie, and which way its lines go: numbers alone, nothing of models."""
