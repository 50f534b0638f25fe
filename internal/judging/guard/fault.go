package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// Fault is what is wrong with a condition. Line and Column count from 1.
type Fault struct {
	Line, Column int
	Message      string
}

// Error writes the column and the message.
func (f *Fault) Error() string { return fmt.Sprintf("column %d: %s", f.Column, f.Message) }

// faultOf makes a sentence of the first of CEL's errors.
func faultOf(env *cel.Env, text string, errs []*cel.Error) *Fault {
	first := slices.MinFunc(errs, func(a, b *cel.Error) int {
		return cmp.Or(a.Location.Line()-b.Location.Line(), a.Location.Column()-b.Location.Column())
	})
	f := &Fault{max(first.Location.Line(), 1), max(first.Location.Column()+1, 1), first.Message}
	if field, ok := between(first.Message, "undefined field '", "'"); ok {
		f.addUnknown(text, "field", field, siblings(env, text, field))
	} else if name, ok := between(first.Message, "undeclared reference to '", "'"); ok {
		f.addUnknown(text, "name", name, names(env))
	} else if called, ok := between(first.Message, "found no matching overload for '", "' applied to '"); ok {
		operands, _ := between(first.Message, "' applied to '", "'")
		f.Message = fmt.Sprintf("%s cannot be applied to %s", shown(called), operands)
	} else if fault, ok := strings.CutPrefix(first.Message, "Syntax error: "); ok {
		fault, _, _ = strings.Cut(fault, " expecting ")
		f.Message = "syntax error: " + strings.ReplaceAll(fault, "'<EOF>'", "the end")
	}
	return f
}

// addUnknown notes that a word is none of the valid ones. CEL's column is that of the
// dot before a field and of the parenthesis after a function.
func (f *Fault) addUnknown(text, kind, word string, valid []string) {
	f.Message = fmt.Sprintf("%q: %s", word, spelling.Unknown(kind, word, valid))
	line := []rune(strings.Split(text, "\n")[f.Line-1])
	start := min(max(f.Column-1-len([]rune(word)), 0), len(line))
	if before, _, found := strings.Cut(string(line[start:]), word); found {
		f.Column = start + len([]rune(before)) + 1
	}
}

// between is what stands between two parts of a text that begins with the first.
func between(text, before, after string) (string, bool) {
	_, rest, found := strings.Cut(text, before)
	inner, _, closed := strings.Cut(rest, after)
	return inner, found && closed
}

// shown is an operator or function as it is written.
func shown(function string) string {
	if symbol, ok := operators.FindReverse(function); ok && symbol != "" {
		return symbol
	}
	return function
}

// names are the variables, functions and macros that a condition may name.
func names(env *cel.Env) []string {
	var all []string
	for _, v := range env.Variables() {
		all = append(all, v.Name())
	}
	for f := range env.Functions() {
		if !strings.ContainsAny(f, "_@!") {
			all = append(all, f)
		}
	}
	for _, m := range env.Macros() {
		all = append(all, m.Function())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// siblings are the fields of that type which was found to lack the field.
func siblings(env *cel.Env, text, field string) []string {
	asked := &fieldWatcher{Provider: env.CELTypeProvider(), field: field}
	watched, err := env.Extend(cel.CustomTypeProvider(asked))
	if err == nil {
		_, _ = watched.Compile(text)
	}
	fields, _ := asked.FindStructFieldNames(asked.lacking)
	return fields
}

// fieldWatcher notes which type was asked for a field that it lacks.
type fieldWatcher struct {
	types.Provider
	field, lacking string
}

// FindStructFieldType answers as the provider does that it stands for.
func (w *fieldWatcher) FindStructFieldType(structType, field string) (*types.FieldType, bool) {
	found, ok := w.Provider.FindStructFieldType(structType, field)
	if !ok && field == w.field {
		w.lacking = cmp.Or(w.lacking, structType)
	}
	return found, ok
}
