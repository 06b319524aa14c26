"""The kinds of targets that losses and metrics take."""

# "like": of the output's shape. "binary": the same, with values from 0 to 1. "one-hot": the same,
# and class numbers are refused. "classes": class numbers. "some classes": other numbers may stand for no class. "free":
# any shape, of the output's type. "as given": of that type unless it holds integers, and one axis stays one.
# "classes of torch": the same, and integers are class numbers, or -100 for none.
CLASSES, SOME_CLASSES, ONE_HOT, LIKE = "classes", "some classes", "one-hot", "like"
BINARY, FREE, AS_GIVEN, CLASSES_OF_TORCH = "binary", "free", "as given", "classes of torch"
IGNORED = -100  # the class number that torch's losses ignore by default
GIVEN = (AS_GIVEN, CLASSES_OF_TORCH)  # left as they are
