"""What scripts take from `keras.backend.theano_backend` beside `keras.backend`: that Theano itself is not here."""

th_sparse_module = None
