package object

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// IsLoaded says that values are sys.modules or the names of the program itself, which a comparison only looks at.
func IsLoaded(vs Objects) bool {
	return len(vs) == 1 && vs[0].Shape == IsSymbol && (vs[0].Text == "sys.modules" || vs[0].Text == "globals()" || vs[0].Text == "locals()")
}

// Operated is the value of an operator between two values.
func Operated(op string, a, b Object) Object {
	textual := a.Shape == IsString || b.Shape == IsString
	switch {
	case op == "+" && a.Shape == IsList && b.Shape == IsList:
		return Object{Shape: IsList, Items: append(a.Items[:len(a.Items):len(a.Items)], b.Items...), Open: a.Open || b.Open}
	case op == "+" && a.Shape == IsList:
		return Object{Shape: IsList, Items: append(a.Items[:len(a.Items):len(a.Items)], Hidden("value", b.Taint))}
	case op == "+" && (textual || a.Shape == IsSymbol && b.Shape == IsUnknown):
		return Glue(a, b)
	case op == "%" && a.Shape == IsString:
		return percent(a, b)
	case op == "/" && (a.Shape == IsPath || b.Shape == IsPath):
		return JoinPath(a, b)
	case op == "*" && a.Shape == IsString && b.Shape == IsInt && b.Number >= 0 && b.Number*int64(len(a.Text)) <= value.MaxValue &&
		b.Number <= value.MaxValue:
		return Object{Shape: IsString, Text: strings.Repeat(a.Text, int(b.Number))}
	case a.Shape == IsInt && b.Shape == IsInt:
		return arithmetic(op, a.Number, b.Number)
	}
	return Object{Shape: IsUnknown, Text: "value"}
}

func arithmetic(op string, a, b int64) Object {
	v := Object{Shape: IsInt}
	const most = 1 << 31
	if a > most || b > most || a < -most || b < -most {
		return Object{Shape: IsUnknown, Text: "number"}
	}
	switch {
	case op == "+":
		v.Number = a + b
	case op == "-":
		v.Number = a - b
	case op == "*":
		v.Number = a * b
	case op == "^":
		v.Number = a ^ b
	case op == "&":
		v.Number = a & b
	case op == "|":
		v.Number = a | b
	case op == "//" && a >= 0 && b > 0:
		v.Number = a / b
	case op == "%" && a >= 0 && b > 0:
		v.Number = a % b
	default:
		return Object{Shape: IsUnknown, Text: "number"}
	}
	return v
}
