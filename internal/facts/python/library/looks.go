package library

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// KeepsNothing says that a call changes nothing that it is given, and hands none of it on.
func KeepsNothing(name string) bool {
	switch Behaviours()[name].Kind {
	case DoesNothing, DoesExecCode, DoesCompileCode, DoesHidesCode, DoesMakeList, DoesMakeDict, DoesMap, DoesReversed:
	default:
		return true
	}
	top, _, dotted := strings.Cut(name, ".")
	return onlyLook[name] || dotted && lookingModules[top]
}

// lookingModules are modules whose functions change nothing that they are given and keep none of it, onlyLook such functions.
var (
	lookingModules = value.SetOf("subprocess json yaml toml tomllib logging shlex re math cmath time datetime hashlib hmac base64 " +
		"binascii textwrap string pprint traceback platform getpass locale statistics pathlib glob fnmatch stat sys argparse " +
		"uuid secrets zlib requests httpx")
	onlyLook = value.SetOf("print len str repr bytes bytearray ascii format sum any all bool isinstance issubclass id hash callable " +
		"hasattr dir input int float complex range slice abs round pow divmod ord chr hex oct bin open exit quit " +
		"Exception ValueError RuntimeError TypeError KeyError OSError SystemExit AssertionError NotImplementedError")
	// Measures are functions whose result tells nothing of what is in a text.
	Measures = value.SetOf("len bool isinstance issubclass hasattr any all id hash callable type")
	// GivesItems are functions that change nothing, and give what is in a list.
	GivesItems = value.SetOf("list tuple set frozenset dict sorted reversed iter next enumerate zip map filter collections.deque " +
		"collections.Counter collections.OrderedDict collections.defaultdict copy.copy copy.deepcopy random.choice random.choices " +
		"random.sample concurrent.futures.as_completed")
	// LookingMethods are methods that change nothing that they are given and keep none of it, whatever has them.
	LookingMethods = value.SetOf("debug info warning warn error critical exception log write writelines print join format " +
		"encode decode startswith endswith index count find replace split post get patch delete request head options " +
		"execute executemany sendall parse_args parse_known_args assertEqual assertIn assertTrue assertListEqual " +
		"communicate isdisjoint issubset issuperset union intersection difference")
	// Lookers are the methods of lists, dictionaries and bytearrays that change nothing.
	Lookers = value.SetOf("copy index count get items keys values fromkeys decode hex find rfind startswith endswith split rsplit " +
		"splitlines strip lstrip rstrip upper lower title replace join partition rpartition translate expandtabs center ljust " +
		"rjust zfill isalnum isalpha isdigit isspace islower isupper maketrans removeprefix removesuffix __len__ __getitem__ " +
		"__contains__ __iter__ __next__ __eq__ __ne__ __repr__ __str__ __add__ __mul__ __bool__ __hash__ __class__ __doc__ __reversed__ " +
		"isdisjoint issubset issuperset union intersection difference symmetric_difference")
)
