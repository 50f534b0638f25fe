package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (w *walk) chainValue(e *syntax.Expression) objects {
	all := w.value(e.Kids[0])
	switch e.Names[1] {
	case "or", "and":
		for _, kid := range e.Kids[1:] {
			all = all.with(w.value(kid))
		}
		return all
	case "in", "not in", "is", "<", ">", "==", ">=", "<=", "!=":
		for _, kid := range e.Kids[1:] {
			if vs := w.value(kid); !isEnviron(vs) && !isLoaded(vs) {
				w.escapeSome(vs)
			}
		}
		return hidden("value", value.Taint{})
	}
	for i, kid := range e.Kids[1:] {
		all = w.operate(e.Names[i+1], all, w.value(kid))
		if !w.copied(all) {
			break
		}
	}
	w.noteTexts(all)
	return all
}

// isLoaded says that values are sys.modules or the names of the program itself, which a comparison only looks at.
func isLoaded(vs objects) bool {
	return len(vs) == 1 && vs[0].shape == isSymbol && (vs[0].text == "sys.modules" || vs[0].text == "globals()" || vs[0].text == "locals()")
}

// operate is a op b.
func (w *walk) operate(op string, a, b objects) objects {
	if op == "|" && (isEnviron(a) || isEnviron(b)) {
		return symbolOf("os.environ")
	}
	w.escapeSome(a)
	w.escapeSome(b)
	return eachPair(a, b, func(a, b object) object { return operated(op, a, b) })
}

func operated(op string, a, b object) object {
	textual := a.shape == isString || b.shape == isString
	switch {
	case op == "+" && a.shape == isList && b.shape == isList:
		return object{shape: isList, items: append(a.items[:len(a.items):len(a.items)], b.items...), open: a.open || b.open}
	case op == "+" && a.shape == isList:
		return object{shape: isList, items: append(a.items[:len(a.items):len(a.items)], hidden("value", b.Taint))}
	case op == "+" && (textual || a.shape == isSymbol && b.shape == isUnknown):
		return glue(a, b)
	case op == "%" && a.shape == isString:
		return percent(a, b)
	case op == "/" && (a.shape == isPath || b.shape == isPath):
		return joinPath(a, b)
	case op == "*" && a.shape == isString && b.shape == isInt && b.number >= 0 && b.number*int64(len(a.text)) <= value.MaxValue &&
		b.number <= value.MaxValue:
		return object{shape: isString, text: strings.Repeat(a.text, int(b.number))}
	case a.shape == isInt && b.shape == isInt:
		return arithmetic(op, a.number, b.number)
	}
	return object{shape: isUnknown, text: "value"}
}

func arithmetic(op string, a, b int64) object {
	v := object{shape: isInt}
	const most = 1 << 31
	if a > most || b > most || a < -most || b < -most {
		return object{shape: isUnknown, text: "number"}
	}
	switch {
	case op == "+":
		v.number = a + b
	case op == "-":
		v.number = a - b
	case op == "*":
		v.number = a * b
	case op == "^":
		v.number = a ^ b
	case op == "&":
		v.number = a & b
	case op == "|":
		v.number = a | b
	case op == "//" && a >= 0 && b > 0:
		v.number = a / b
	case op == "%" && a >= 0 && b > 0:
		v.number = a % b
	default:
		return object{shape: isUnknown, text: "number"}
	}
	return v
}

func (w *walk) unaryValue(e *syntax.Expression) objects {
	vs := w.value(e.Kids[0])
	w.escapeSome(vs)
	if e.Text == "-" && len(vs) == 1 && vs[0].shape == isInt {
		return objects{{shape: isInt, number: -vs[0].number}}
	}
	return hidden("value", value.Taint{})
}
