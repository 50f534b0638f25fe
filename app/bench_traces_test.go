package app

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// BenchmarkTraces shows what it costs a judgement that traces are told: none, a tenth,
// all of them. No judgement is a remembered one.
func BenchmarkTraces(b *testing.B) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	b.Cleanup(receiver.Close)
	for name, section := range map[string]string{
		"off":   "",
		"tenth": "traces: {sample: 0.1, url: \"" + receiver.URL + "\"}",
		"all":   "traces: {url: \"" + receiver.URL + "\"}",
	} {
		b.Run(name, func(b *testing.B) {
			s := startSidecar(b, "backends: {bubblewrap: {}}", section)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				s.enforcer.Decide(b.Context(), bailiff.Request{Tool: bailiff.Terminal, Caller: "test",
					Args:    bailiff.Args{Command: "git status"},
					Session: bailiff.Session{ID: strconv.Itoa(n), Platform: "telegram", ChatType: "dm", UserID: strconv.Itoa(n)}})
			}
			b.StopTimer()
			s.stop()
		})
	}
}
