package enforcer

import (
	"reflect"
	"testing"
)

// A holder of an enforcer, or of what it leases (enforcer/lease), can have requests judged and run, and nothing else.
func TestAHolderOfAnEnforcerReachesNeitherBackendsNorTheRecorder(t *testing.T) {
	t.Parallel()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Enforcer]()) {
		if field.IsExported() {
			t.Errorf("field %s of an Enforcer is exported", field.Name)
		}
	}
	enforcer := reflect.TypeFor[*Enforcer]()
	hidden := reflect.TypeFor[Config]()
	for i := range enforcer.NumMethod() {
		method := enforcer.Method(i).Type
		for out := range method.Outs() {
			for j := range hidden.NumField() {
				if f := hidden.Field(j); out == f.Type && f.Name != "Credentials" && f.Name != "Owner" {
					t.Errorf("method %s returns the %s of the config", enforcer.Method(i).Name, f.Name)
				}
			}
		}
	}
}
