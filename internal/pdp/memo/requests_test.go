package memo

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
)

var (
	listing = bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "ls -l"}}
	noon    = bailiff.Circumstances{Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
)

// judgement is one about a request.
func judgement(req bailiff.Request) *bailiff.Judgement {
	return &bailiff.Judgement{Input: document.NewJSON(document.Read(req, noon, "").Document(req, noon))}
}

func TestNoTwoRequestsHaveOneKey(t *testing.T) {
	m := NewRequests(document.HistoryParts{})
	keys := map[string]string{}
	for _, args := range []bailiff.Args{{Command: "ab"}, {Command: "a", Stdin: "b"}, {Stdin: "ab"}, {Command: "a", Workdir: "b"},
		{Command: "a\x00b"}} {
		for _, env := range [][]string{nil, {""}, {"", ""}, {"A", "B"}, {"AB"}, {"B", "A"}, {"A\x00B"}} {
			for _, available := range [][]string{nil, {"A"}, {"A", "B"}} {
				key := m.Key(bailiff.Request{Args: args, Env: env}, bailiff.Circumstances{EnvAvailable: available})
				this := fmt.Sprintf("%+v %q %q", args, env, available)
				if other, taken := keys[key]; taken {
					t.Errorf("%s has the key of %s", this, other)
				}
				keys[key] = this
			}
		}
	}
}

func TestWhatIsRememberedOfADayIsForThatDay(t *testing.T) {
	m := NewRequests(document.HistoryParts{})
	key := func(at time.Time) string { return m.Key(listing, bailiff.Circumstances{Time: at}) }
	if key(noon.Time) != key(noon.Time.Add(time.Hour)) {
		t.Error("an hour later it is judged anew")
	}
	if key(noon.Time) == key(noon.Time.Add(12*time.Hour)) {
		t.Error("a day later it is remembered")
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	backendtest.Long(t)
	m := NewRequests(document.HistoryParts{})
	for n := range 5 * maxJudgements {
		m.Keep(fmt.Sprint(n), judgement(listing), "", noon)
		if n := m.judgements.Len(); n > 2*maxJudgements {
			t.Fatalf("%d are remembered, want at most %d", n, 2*maxJudgements)
		}
	}
	m = NewRequests(document.HistoryParts{})
	req := listing
	req.Args.Command = strings.Repeat("x", largestJudgement/16)
	for n := range 3 * maxJudgements / 2 {
		m.Keep(fmt.Sprint(n), judgement(req), "", noon)
	}
	known := 0
	for n := range 3 * maxJudgements / 2 {
		if k, ok := m.judgements.Get(fmt.Sprint(n)); ok {
			known += len(k.before) + len(k.after)
		}
	}
	if known == 0 || known > 2*maxJudgementBytes {
		t.Fatalf("%d bytes are remembered, want at most %d", known, 2*maxJudgementBytes)
	}
	if _, known := m.judgements.Get("0"); known {
		t.Error("the bound was never reached")
	}
}

func TestWhatIsAskedForStaysRemembered(t *testing.T) {
	m := NewRequests(document.HistoryParts{})
	add := func(key string) {
		m.Keep(key, judgement(listing), "", noon)
	}
	add("often")
	for n := range 5 * maxJudgements {
		add(fmt.Sprint(n))
		if _, known := m.judgements.Get("often"); !known {
			t.Fatalf("it is forgotten after %d others", n)
		}
	}
	if _, known := m.judgements.Get("0"); known {
		t.Error("what nobody asked for again is remembered")
	}
}

func TestADecisionIsClonedWhole(t *testing.T) {
	var d, same bailiff.Decision
	fill(reflect.ValueOf(&d).Elem())
	fill(reflect.ValueOf(&same).Elem())
	copied := cloned(d)
	if !reflect.DeepEqual(copied, same) {
		t.Fatalf("the clone is %+v, want %+v", copied, same)
	}
	spoil(reflect.ValueOf(&copied).Elem())
	if !reflect.DeepEqual(d, same) {
		t.Errorf("who changes a clone changes the decision to %+v, want %+v", d, same)
	}
}

// fill gives every field below a value something to lose.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 2))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"a": "b"}))
	case reflect.Uint8, reflect.Float64:
		v.Set(reflect.ValueOf(1).Convert(v.Type()))
	case reflect.String:
		v.SetString("x")
	case reflect.Int:
		v.SetInt(1)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("no value is known for a " + v.Type().String())
	}
}

// spoil overwrites whatever can be reached from a value.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			spoil(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Map:
		v.Clear()
	default:
		v.SetZero()
	}
}
