package app

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/config"
)

// A key that no part of the sidecar follows waits for a restart, and is named.
func TestEachFieldOfTheConfigurationIsFollowedOrWaitsForARestart(t *testing.T) {
	t.Parallel()
	var followed []string
	for _, p := range new(App).parts() {
		followed = append(followed, p.fields...)
	}
	fields := 0
	for _, path := range pathsOf(reflect.TypeFor[config.Config]()) {
		if path[0] == "Path" || path[0] == "Backends" { // where it was read from; backends compare their own
			continue
		}
		fields++
		var now, next config.Config
		if !differ(reflect.ValueOf(&next).Elem(), path) {
			t.Fatalf("%v has no value that could be another one", path)
		}
		name := path[0]
		if len(path) > 1 {
			name += "." + path[1]
		}
		waits := differing(reflect.ValueOf(now), reflect.ValueOf(next), followed)
		isFollowed := slices.Contains(followed, path[0]) || slices.Contains(followed, name)
		if isFollowed != (len(waits) == 0) {
			t.Errorf("%v: is followed: %t; %v wait for a restart", path, isFollowed, waits)
		}
	}
	if fields < 20 {
		t.Errorf("the configuration has %d fields", fields)
	}
}

// pathsOf are the fields of a configuration, and those of its sections.
func pathsOf(t reflect.Type) (paths [][]string) {
	for n := range t.NumField() {
		field := t.Field(n)
		if field.Type.Kind() != reflect.Struct {
			paths = append(paths, []string{field.Name})
			continue
		}
		for m := range field.Type.NumField() {
			paths = append(paths, []string{field.Name, field.Type.Field(m).Name})
		}
	}
	return paths
}

// differ gives the first value at a path that can be set another one than nothing.
func differ(v reflect.Value, path []string) bool {
	for _, name := range path {
		v = v.FieldByName(name)
	}
	return different(v)
}

func different(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		for n := range v.NumField() {
			if v.Field(n).CanSet() && different(v.Field(n)) {
				return true
			}
		}
		return false
	default:
		return false
	}
	return true
}
