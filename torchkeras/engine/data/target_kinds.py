"""What the targets of an output may be, as its loss and metrics want them."""

# What a target may be. "like": of the output's shape. "one-hot": the same, and class numbers are told apart from it.
# "classes": class numbers; "some classes": numbers beside them may stand for none. "free": any shape, of the output's
# type. "as given": of that type if it is no integer, and not a second axis is added to a first.
CLASSES, SOME_CLASSES, ONE_HOT, LIKE = "classes", "some classes", "one-hot", "like"
FREE, AS_GIVEN = "free", "as given"
