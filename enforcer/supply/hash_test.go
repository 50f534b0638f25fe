package supply

import (
	"reflect"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// Whatever is added to specs counts, or is named here with the reason.
func TestEveryPartOfASpecTellsSandboxesApart(t *testing.T) {
	t.Parallel()
	apart := map[string]bool{
		"Session":   false, // a user's sandbox serves several
		"Expires":   false, // it says when it goes, not what it is like
		"Workspace": false, // a slot has one, however it is called
	}
	plain := Fingerprint(backends.Spec{})
	for field := range reflect.TypeFor[backends.Spec]().Fields() {
		spec := backends.Spec{}
		at := reflect.ValueOf(&spec).Elem().FieldByIndex(field.Index)
		switch at.Interface().(type) {
		case string:
			at.SetString("x")
		case int:
			at.SetInt(7)
		case float64:
			at.SetFloat(7)
		case bool:
			at.SetBool(true)
		case time.Time:
			at.Set(reflect.ValueOf(time.Unix(7, 0)))
		case []bailiff.Mount:
			at.Set(reflect.ValueOf([]bailiff.Mount{{}}))
		default:
			t.Fatalf("%s is of a kind that this test does not know", field.Name)
		}
		want, special := apart[field.Name]
		if got := Fingerprint(spec) != plain; got != (want || !special) {
			t.Errorf("another %s tells sandboxes apart: %v", field.Name, got)
		}
	}
}
