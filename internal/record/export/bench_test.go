package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/record/ocsf"
	"github.com/bailiff-dev/bailiff/internal/record/syslog"
)

const (
	// writers is how many requests record decisions at once, writing how long they do.
	writers = 16
	writing = 10 * time.Second
)

// BenchmarkExportKeepsUp writes real decisions as fast as the log takes them, while an export sends them, and compares the
// rate at which they leave with the rate at which they are written.
func BenchmarkExportKeepsUp(b *testing.B) {
	toOCSF := Format(func(line []byte) ([]byte, error) { return ocsf.Of(line, "1.2.3") })
	bySyslog := func(protocol string, format Format) func(*testing.B) (Receiver, func() int) {
		return func(b *testing.B) (Receiver, func() int) {
			r := startRsyslog(b)
			address := map[string]string{"tcp": r.tcp, "relp": r.relp}[protocol]
			client, err := syslog.New(syslog.Server{Address: protocol + "://" + address}, format)
			must(b, err)
			return client, r.counts()
		}
	}
	b.Run("to=nowhere", func(b *testing.B) { benchExport(b, nil) })
	b.Run("to=relp", func(b *testing.B) { benchExport(b, bySyslog("relp", nil)) })
	b.Run("to=relp/format=ocsf", func(b *testing.B) { benchExport(b, bySyslog("relp", toOCSF)) })
	b.Run("to=tcp", func(b *testing.B) { benchExport(b, bySyslog("tcp", nil)) })
	b.Run("to=http/format=ocsf", func(b *testing.B) {
		benchExport(b, func(b *testing.B) (Receiver, func() int) { return countingService(b, toOCSF) })
	})
}

// countingService is one that unpacks what it gets, and how many events of OCSF came.
func countingService(b *testing.B, format Format) (Receiver, func() int) {
	var came atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := gzip.NewReader(r.Body)
		if err == nil {
			var text []byte
			text, err = io.ReadAll(body)
			came.Add(int64(bytes.Count(text, []byte(`"class_uid":`))))
		}
		if err != nil {
			b.Error(err)
		}
	}))
	b.Cleanup(server.Close)
	service, err := NewService(httpapi.Server{URL: server.URL + "/logs"}, format)
	must(b, err)
	return service, func() int { return int(came.Load()) }
}

// benchExport opens a log, has it written and exported, and reports both rates. Without a receiver it is only written.
func benchExport(b *testing.B, open func(*testing.B) (Receiver, func() int)) {
	dir, event := b.TempDir(), decisionOf(b)
	log, err := audit.Open(audit.Config{StateDir: dir})
	must(b, err)
	defer func() { must(b, log.Close()) }()
	var came func() int
	if open != nil {
		var to Receiver
		to, came = open(b)
		e, err := New(Config{StateDir: dir, Cursor: "bench.json", Receiver: to, Observer: &counted{}, Log: slog.New(slog.DiscardHandler)})
		must(b, err)
		ctx, stop := context.WithCancel(b.Context())
		var running sync.WaitGroup
		running.Go(func() { e.Run(ctx, log.Written) })
		defer running.Wait()
		defer stop()
	}
	written := 0
	var took, leaving time.Duration
	for b.Loop() {
		began := time.Now()
		written += writeFor(b, log, event)
		took += time.Since(began)
		if open != nil {
			await(b, "the rest to come", func() bool { return came() >= written })
		}
		leaving += time.Since(began)
	}
	b.ReportMetric(float64(written)/took.Seconds(), "written/s")
	if open != nil {
		b.ReportMetric(float64(written)/leaving.Seconds(), "left/s")
		b.ReportMetric(took.Seconds()/leaving.Seconds(), "left/written")
		b.ReportMetric(float64((leaving-took).Milliseconds())/float64(b.N), "ms-behind")
	}
}

// writeFor records an event again and again, and returns how often it did.
func writeFor(b *testing.B, log *audit.Log, event api.Event) int {
	var n atomic.Int64
	var all sync.WaitGroup
	end := time.Now().Add(writing)
	for range writers {
		all.Go(func() {
			mine := event
			for time.Now().Before(end) {
				mine.DecisionID, mine.Timestamp = audit.NewID(), time.Now()
				if err := log.Record(b.Context(), mine); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	all.Wait()
	return int(n.Load())
}

// decisionOf is an event such as a sidecar writes about a usual command.
func decisionOf(b *testing.B) api.Event {
	text, err := os.ReadFile("testdata/decision.json")
	must(b, err)
	l, err := api.ReadLine(text)
	must(b, err)
	return api.Event{Path: l.Path, Input: l.Input, Result: l.Result, Bundles: l.Bundles, RequestedBy: l.RequestedBy, Metrics: l.Metrics,
		Custom: l.Custom}
}
