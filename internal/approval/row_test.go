package approval

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// fillAll sets every field of a struct, and of those in it, to something.
func fillAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.CanSet() && v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1e9, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			fillAll(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillAll(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillAll(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

func TestTheAPIShowsAllThatTheStoreHolds(t *testing.T) {
	var e entry
	var g grant
	var f freeze
	fillAll(reflect.ValueOf(&e).Elem())
	fillAll(reflect.ValueOf(&g).Elem())
	fillAll(reflect.ValueOf(&f).Elem())
	for name, c := range map[string]struct{ row, shown any }{
		"entry": {e, e.shown()}, "grant": {g, api.Grant(g)}, "freeze": {f, f.shown()}, "a freeze that is asked for": {rowOf(f.shown()), f},
	} {
		row, err := json.Marshal(c.row)
		if err != nil {
			t.Fatal(err)
		}
		if shown, err := json.Marshal(c.shown); err != nil || string(shown) != string(row) {
			t.Errorf("of an %s is shown (%v)\n%s\nand the store holds\n%s", name, err, shown, row)
		}
	}
}
