package guard

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
)

// maxText is how long a condition may be, in characters; maxPattern how large
// one of its regular expressions, in instructions.
const (
	maxText    = 8 << 10
	maxPattern = 2000
)

// interruptEvery is after how many rounds of a loop time is looked at.
const interruptEvery = 100

// scope is one kind of condition, by the variables that it sees. It is made when
// it is first needed, since that takes milliseconds.
type scope func() (*cel.Env, error)

func newScope(variables map[string]reflect.Type) scope {
	return sync.OnceValues(func() (*cel.Env, error) {
		natives := []any{ext.ParseStructTag("json")}
		options := []cel.EnvOption{
			cel.ParserExpressionSizeLimit(maxText),
			cel.ASTValidators(cel.ValidateHomogeneousAggregateLiterals(), writtenPatterns{}),
		}
		for name, t := range variables {
			declared, native := typeOf(t)
			if native != nil {
				natives = append(natives, native)
			}
			options = append(options, cel.Variable(name, declared))
		}
		made, err := cel.NewCustomEnv(append([]cel.EnvOption{cel.StdLib(cel.StdLibSubset(pure)), joining, ext.NativeTypes(natives...)},
			options...)...)
		if err != nil {
			return nil, fmt.Errorf("preparing conditions: %w", err)
		}
		return made, nil
	})
}

// typeOf is the type of a variable, which is a struct, a text, a number or a map of one
// of them, and the struct in it, if any.
func typeOf(t reflect.Type) (declared *cel.Type, native any) {
	switch t.Kind() {
	case reflect.String:
		return cel.StringType, nil
	case reflect.Int64:
		return cel.IntType, nil
	case reflect.Map:
		of, native := typeOf(t.Elem())
		return cel.MapType(cel.StringType, of), native
	}
	return cel.ObjectType(t.String()), t
}

// pure is CEL's standard library without times, which conditions do not see, and
// without what gives types up.
var pure = without("timestamp", "duration", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear",
	"getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds", "dyn", "type", "bytes")

// joining makes one text of a list of them, so that a pattern can be held against
// the words of a command: argv.join(" ").
var joining = cel.Function("join", cel.MemberOverload("list_join_string", []*cel.Type{cel.ListType(cel.StringType), cel.StringType},
	cel.StringType,
	cel.BinaryBinding(func(list, between ref.Val) ref.Val {
		words, err := list.ConvertToNative(reflect.TypeFor[[]string]())
		if err != nil {
			return types.WrapErr(err)
		}
		return types.String(strings.Join(words.([]string), string(between.(types.String))))
	})))

func without(functions ...string) *env.LibrarySubset {
	subset := env.NewLibrarySubset()
	for _, name := range functions {
		subset.AddExcludedFunctions(env.NewFunction(name))
	}
	return subset
}

// condition is a compiled condition.
type condition struct{ program cel.Program }

func compile(s scope, text string) (condition, error) {
	env, err := s()
	if err != nil {
		return condition{}, err
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		return condition{}, faultOf(env, text, issues.Errors())
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) {
		return condition{}, &Fault{1, 1, fmt.Sprintf("want a condition that is true or false, is of type %s", t)}
	}
	if err := affordable(env, checked); err != nil {
		return condition{}, err
	}
	program, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(maxCost), cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return condition{}, &Fault{1, 1, err.Error()}
	}
	return condition{program}, nil
}

// holdsInTime evaluates a condition that stands alone.
func (c condition) holdsInTime(variables map[string]any) (bool, error) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	return c.holds(ctx, variables)
}

func (c condition) holds(ctx context.Context, variables map[string]any) (bool, error) {
	if ctx.Err() != nil {
		return false, errNoTime
	}
	result, _, err := c.program.ContextEval(ctx, variables)
	var cut interpreter.EvalCancelledError
	switch {
	case err == nil && result.Type() == types.BoolType:
		return result == types.True, nil
	case err == nil:
		return false, fmt.Errorf("it is of type %s", result.Type())
	case errors.As(err, &cut) && cut.Cause == interpreter.CostLimitExceeded:
		return false, fmt.Errorf("it takes more than %d steps for a request this large", maxCost)
	case ctx.Err() != nil:
		return false, errNoTime
	}
	return false, errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
}

var errNoTime = errors.New("there was no time left for it")

// writtenPatterns accepts regular expressions that stand in the condition
// itself: one that a request brings could be of any size.
type writtenPatterns struct{}

func (writtenPatterns) Name() string { return "bailiff.written_patterns" }

func (writtenPatterns) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	for _, call := range ast.MatchDescendants(ast.NavigateAST(a), ast.FunctionMatcher(overloads.Matches)) {
		args := call.AsCall().Args()
		pattern := args[len(args)-1]
		if pattern.Kind() != ast.LiteralKind {
			issues.ReportErrorAtID(pattern.ID(), "want a pattern in quotes for matches, not one that is computed")
			continue
		}
		text, _ := pattern.AsLiteral().Value().(string)
		if fault := unfit(text); fault != "" {
			issues.ReportErrorAtID(pattern.ID(), "%s", fault)
		}
	}
}

// unfit says what is wrong with a pattern; empty if nothing is.
func unfit(pattern string) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	program, err := syntax.Compile(parsed.Simplify())
	switch {
	case err != nil:
		return err.Error()
	case len(program.Inst) > maxPattern:
		return fmt.Sprintf("the pattern repeats too much: it takes %d instructions, and %d are allowed", len(program.Inst), maxPattern)
	}
	return ""
}
