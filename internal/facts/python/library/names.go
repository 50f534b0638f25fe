package library

import (
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

var Builtins = value.SetOf(
	"ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError BufferError " +
		"BytesWarning " +
		"ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError DeprecationWarning " +
		"EOFError Ellipsis " +
		"EncodingWarning EnvironmentError Exception ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError " +
		"FutureWarning GeneratorExit " +
		"IOError ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt " +
		"LookupError " +
		"MemoryError ModuleNotFoundError NameError None NotADirectoryError NotImplemented NotImplementedError OSError OverflowError " +
		"PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError RecursionError ReferenceError " +
		"ResourceWarning RuntimeError " +
		"RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True " +
		"TypeError " +
		"UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning " +
		"ValueError Warning " +
		"ZeroDivisionError " +
		"__annotations__ __build_class__ __builtins__ __class__ __debug__ __doc__ __import__ __loader__ __module__ __name__ " +
		"__package__ __qualname__ __spec__ " +
		"abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright credits " +
		"delattr dict dir " +
		"divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input int isinstance " +
		"issubclass iter len " +
		"license list locals map max memoryview min next object oct open ord pow print property quit range repr reversed round set " +
		"setattr slice sorted " +
		"staticmethod str sum super tuple type vars zip")

var PlainAttributes = value.SetOf("__name__ __qualname__ __module__ __doc__ __version__ __author__ __license__ __copyright__ " +
	"__email__ __all__ __file__ __path__ __package__ __annotations__ __class__ __dict__ __init__ __new__ __del__ __call__ " +
	"__init_subclass__ __class_getitem__ __post_init__ __set_name__ __str__ __repr__ __bytes__ __format__ __bool__ __hash__ " +
	"__len__ __iter__ __next__ __reversed__ __contains__ __getitem__ __setitem__ __delitem__ __missing__ __length_hint__ " +
	"__enter__ __exit__ __aenter__ __aexit__ __await__ __aiter__ __anext__ __get__ __set__ __delete__ __getattr__ " +
	"__setattr__ __delattr__ __copy__ __deepcopy__ __fspath__ __index__ __int__ __float__ __complex__ __sizeof__ __dir__ " +
	"__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __divmod__ __pow__ " +
	"__lshift__ __rshift__ __and__ __or__ __xor__ __radd__ __rsub__ __rmul__ __iadd__ __isub__ __imul__ __neg__ __pos__ " +
	"__abs__ __invert__ __round__ __matmul__ __members__ __slots__ __match_args__ __bound__ __value__ __default__ " +
	"__dataclass_fields__ __fields__ __tablename__ __stdin__ __stdout__ __stderr__ __import__ __builtins__")
