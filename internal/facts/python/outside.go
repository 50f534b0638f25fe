package python

import (
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// A name that nothing in a program binds and that Python does not know is no fault
// where programs run one after another in one interpreter: an earlier one has set
// it, to any value. So a program that uses one does not tell what it does. In an
// interpreter that has run nothing before such a name is an error.

// outside notes the use of a name that the program itself does not explain.
func (w *walk) outside(name string) {
	if !w.at.Fresh && w.lenient == 0 && !builtins[name] && len(w.stars) == 0 {
		w.hide()
	}
}

var builtins = value.SetOf(
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
