package proxy

import "testing"

// FuzzRead wants what is written anew to be the same message to its next reader.
func FuzzRead(f *testing.F) {
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":1}}`, `{"jsonrpc":"2.0","method":"x"}`,
		`{"jsonrpc":"2.0","id":"a","result":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, `[]`, `{"id":1,"id":2}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, k, fault := read(line)
		if (k == noMessage) != (fault != nil) {
			t.Fatalf("%q is of kind %d, with the fault %v", line, k, fault)
		}
		if fault != nil {
			return
		}
		again, kind, fault := read(m.line())
		if fault != nil || kind != k || again.Method != m.Method || string(again.ID) != string(m.ID) {
			t.Errorf("%q is written as %q, of kind %d: %v", line, m.line(), kind, fault)
		}
	})
}
