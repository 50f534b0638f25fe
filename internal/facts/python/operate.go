package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (w *pyWalk) chainValue(e *pyExpr) pyValues {
	all := w.value(e.kids[0])
	switch e.names[1] {
	case "or", "and":
		for _, kid := range e.kids[1:] {
			all = all.with(w.value(kid))
		}
		return all
	case "in", "not in", "is", "<", ">", "==", ">=", "<=", "!=":
		for _, kid := range e.kids[1:] {
			if vs := w.value(kid); !isEnviron(vs) {
				w.escapeSome(vs)
			}
		}
		return pyHidden("value", value.Taint{})
	}
	for i, kid := range e.kids[1:] {
		all = w.operate(e.names[i+1], all, w.value(kid))
	}
	w.noteTexts(all)
	return all
}

// operate is a op b.
func (w *pyWalk) operate(op string, a, b pyValues) pyValues {
	if op == "|" && (isEnviron(a) || isEnviron(b)) {
		return pySymbols("os.environ")
	}
	w.escapeSome(a)
	w.escapeSome(b)
	return pyEach(a, b, func(a, b pyValue) pyValue { return operated(op, a, b) })
}

func operated(op string, a, b pyValue) pyValue {
	textual := a.shape == pyString || b.shape == pyString
	switch {
	case op == "+" && a.shape == pyList && b.shape == pyList:
		return pyValue{shape: pyList, items: append(a.items[:len(a.items):len(a.items)], b.items...), open: a.open || b.open}
	case op == "+" && a.shape == pyList:
		return pyValue{shape: pyList, items: append(a.items[:len(a.items):len(a.items)], pyHidden("value", b.Taint))}
	case op == "+" && (textual || a.shape == pySymbol && b.shape == pyUnknown):
		return glue(a, b)
	case op == "%" && a.shape == pyString:
		return percent(a, b)
	case op == "/" && (a.shape == pyPath || b.shape == pyPath):
		return joinPath(a, b)
	case op == "*" && a.shape == pyString && b.shape == pyInt && b.number >= 0 && b.number*int64(len(a.text)) <= value.MaxValue && b.number <= value.MaxValue:
		return pyValue{shape: pyString, text: strings.Repeat(a.text, int(b.number))}
	case a.shape == pyInt && b.shape == pyInt:
		return arithmetic(op, a.number, b.number)
	}
	return pyValue{shape: pyUnknown, text: "value"}
}

func arithmetic(op string, a, b int64) pyValue {
	v := pyValue{shape: pyInt}
	const most = 1 << 31
	if a > most || b > most || a < -most || b < -most {
		return pyValue{shape: pyUnknown, text: "number"}
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
		return pyValue{shape: pyUnknown, text: "number"}
	}
	return v
}

func (w *pyWalk) unaryValue(e *pyExpr) pyValues {
	vs := w.value(e.kids[0])
	w.escapeSome(vs)
	if e.text == "-" && len(vs) == 1 && vs[0].shape == pyInt {
		return pyValues{{shape: pyInt, number: -vs[0].number}}
	}
	return pyHidden("value", value.Taint{})
}
