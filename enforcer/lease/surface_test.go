package lease

import (
	"reflect"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
)

// A holder of a lease can do with its sandbox what the methods say, and nothing else.
func TestALeaseHandsOutNeitherItsSandboxNorTheBackend(t *testing.T) {
	t.Parallel()
	hidden := []reflect.Type{reflect.TypeFor[backends.Backend](), reflect.TypeFor[backends.Sandbox](), reflect.TypeFor[Config]()}
	isHidden := func(of reflect.Type) bool {
		for _, h := range hidden {
			if of == h || h.Kind() == reflect.Interface && of.Implements(h) {
				return true
			}
		}
		return false
	}
	for _, of := range []reflect.Type{reflect.TypeFor[*Pool](), reflect.TypeFor[*Lease](), reflect.TypeFor[*Hold](),
		reflect.TypeFor[*KernelRun](), reflect.TypeFor[*Spec](), reflect.TypeFor[*Workdir]()} {
		for _, field := range reflect.VisibleFields(of.Elem()) {
			if field.IsExported() && isHidden(field.Type) {
				t.Errorf("field %s of %s is exported", field.Name, of)
			}
		}
		for i := range of.NumMethod() {
			for out := range of.Method(i).Type.Outs() {
				if isHidden(out) {
					t.Errorf("method %s of %s returns a %s", of.Method(i).Name, of, out)
				}
			}
		}
	}
}
