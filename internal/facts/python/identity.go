package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// A list, a dictionary and a bytearray are things, which several names may reach. What changes one by a name is followed where
// that name alone reaches it. What changes it otherwise, or code that is not followed and was given it, leaves it unknown, by
// whatever name it is looked at and before the change too, since the order in which functions run is not followed.

// made is where a program makes such a thing.
type made struct {
	// holder is the first variable that holds it, shared says that it is reached by more than that.
	holder *variable
	shared bool
	// loose says that it was changed in a way that is not followed.
	loose bool
}

// changeable says that a value can be changed in its place.
func (v object) changeable() bool { return v.shape == isList || v.shape == isDict || v.buffer }

// identified marks the things that an expression makes.
func (w *walk) identified(e *syntax.Expression, vs objects) objects {
	for i, v := range vs {
		if !v.changeable() || v.made != nil {
			continue
		}
		m := w.made[e]
		if m == nil {
			m = &made{}
			w.made[e] = m
		}
		if w.loops == 0 { // a new one, which nothing reaches yet
			m.holder, m.shared = nil, false
		}
		vs[i].made = m
	}
	return vs
}

// held notes that a variable holds values.
func held(v *variable, vs objects) {
	for _, one := range vs {
		switch m := one.made; {
		case m == nil || m.holder == v:
		case m.holder == nil:
			m.holder = v
		default:
			m.shared = true
		}
	}
}

// share notes that values are reached by more than a variable.
func share(vs objects) {
	for _, v := range vs {
		if v.made != nil {
			v.made.shared = true
		}
	}
}

// showsIn says that a change of values, which an expression gave, shows in the variable that it names: that alone reaches them.
func (w *walk) showsIn(by *syntax.Expression, vs objects) bool {
	if by.Form != syntax.NameForm || w.scope.brief || w.scope.holds(by.Text) != w.scope {
		return false
	}
	own := w.scope.vars[by.Text]
	for _, v := range vs {
		if v.changeable() && (own == nil || v.made != nil && (v.made.shared || v.made.holder != own)) {
			return false
		}
	}
	return own != nil
}

// lose notes that values were changed in a way that is not followed, or may be.
func (w *walk) lose(vs objects) {
	for _, v := range vs {
		if m := v.made; m != nil && !m.loose && w.named {
			m.loose, w.grew, w.lost = true, true, true
		}
	}
}

// loseAll is lose for values and what is in them.
func (w *walk) loseAll(vs objects, depth int) {
	if depth > syntax.MaxDepth || !w.spend() {
		return
	}
	w.lose(vs)
	w.loseInside(vs, depth)
}

func (w *walk) loseInside(vs objects, depth int) {
	for _, v := range vs {
		for _, item := range v.items {
			w.loseAll(item, depth+1)
		}
	}
}

// known are values without what was lost of them and of what is in them. What was made just now is as it was made.
func (w *walk) known(vs objects, now *made, depth int) objects {
	if !w.lost || depth > syntax.MaxDepth || !w.spend() {
		return vs
	}
	for i, v := range vs {
		switch {
		case now != nil && v.made == now:
			continue
		case v.made == nil || !v.made.loose:
		case v.shape == isDict:
			vs[i].open = true
		default:
			vs[i] = object{shape: isUnknown, text: "value", Taint: v.allTaint(), made: v.made}
			continue
		}
		for j, item := range v.items {
			if j == 0 {
				vs[i].items = slices.Clone(v.items)
			}
			vs[i].items[j] = w.known(slices.Clone(item), now, depth+1)
		}
	}
	return vs
}

// handOn notes what code that is not followed may change of its arguments: what they hold, and the attributes of classes and of
// their instances.
func (w *walk) handOn(c *call) {
	if keepsNothing(c.name) || c.name == "type" && len(c.args) == 1 {
		return
	}
	few := givesItems[c.name] || strings.HasPrefix(c.name, "itertools.")
	for _, vs := range c.all() {
		if few {
			w.loseInside(vs, 0)
		} else {
			w.loseAll(vs, 0)
		}
		w.openAttributes(vs, c, 0)
	}
	if c.self && !few {
		w.attributesChange()
	}
}

// openAttributes notes that code which is not followed was given a class of the program, an instance of one, or the name of one.
func (w *walk) openAttributes(vs objects, c *call, depth int) {
	if depth > syntax.MaxDepth || !w.spend() {
		return
	}
	for _, v := range vs {
		switch {
		case v.shape == isCallable && v.function.class, v.shape == isInstance && strings.HasPrefix(v.text, "."):
			w.attributesChange()
		case v.shape == isString && strings.HasPrefix(v.text, "__main__."):
			w.hide()
		}
		for _, item := range v.items {
			w.openAttributes(item, c, depth+1)
		}
	}
}

// attributesChange notes that attributes may hold what nothing in the program assigns to them by their names.
func (w *walk) attributesChange() {
	if !w.attributesOpen && w.named {
		w.attributesOpen, w.grew = true, true
	}
}

// keepsNothing says that a call changes nothing that it is given, and hands none of it on.
func keepsNothing(name string) bool {
	switch behaviours()[name].kind {
	case doesNothing, doesExecCode, doesCompileCode, doesHidesCode, doesMakeList, doesMakeDict, doesMap, doesReversed:
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
	// givesItems are functions that change nothing, and give what is in a list.
	givesItems = value.SetOf("list tuple set frozenset dict sorted reversed iter next enumerate zip map filter collections.deque " +
		"collections.Counter collections.OrderedDict collections.defaultdict copy.copy copy.deepcopy random.choice random.choices " +
		"random.sample concurrent.futures.as_completed")
	// lookingMethods are methods that change nothing that they are given and keep none of it, whatever has them.
	lookingMethods = value.SetOf("debug info warning warn error critical exception log write writelines print join format " +
		"encode decode startswith endswith index count find replace split post get patch delete request head options " +
		"execute executemany sendall parse_args parse_known_args assertEqual assertIn assertTrue assertListEqual " +
		"communicate isdisjoint issubset issuperset union intersection difference")
	// lookers are the methods of lists, dictionaries and bytearrays that change nothing.
	lookers = value.SetOf("copy index count get items keys values fromkeys decode hex find rfind startswith endswith split rsplit " +
		"splitlines strip lstrip rstrip upper lower title replace join partition rpartition translate expandtabs center ljust " +
		"rjust zfill isalnum isalpha isdigit isspace islower isupper maketrans removeprefix removesuffix __len__ __getitem__ " +
		"__contains__ __iter__ __eq__ __ne__ __repr__ __str__ __add__ __mul__ __bool__ __hash__ __class__ __doc__ __reversed__ " +
		"isdisjoint issubset issuperset union intersection difference symmetric_difference")
)
