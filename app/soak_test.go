package app

import (
	"bufio"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// How long the sidecar serves before it is looked at, how long it is looked at, and how often.
const soakWarm, soakLasts, soakStep = 5 * time.Minute, 30 * time.Minute, 10 * time.Second

// soakGrowth is how much more a sidecar may hold in the last third of the time than in the first: a fifth, and a little that
// does not depend on how much it held.
var soakGrowth = map[string]float64{"go_memstats_heap_alloc_bytes": 4 << 20, "go_goroutines": 16, "process_open_fds": 16, "state": 4 << 20}

// TestNothingGrowsInHalfAnHour sends requests of all kinds at a tenth of the rate that this machine can serve, and looks at what
// the sidecar holds: live heap, goroutines, descriptors, and its state folder without the decision log.
func TestNothingGrowsInHalfAnHour(t *testing.T) {
	backendtest.Reserve(t, "it takes 35 minutes")
	g := newSidecarOfBench(t, builtOf(t, ".."))
	metrics := porttest.Address(t)
	s := g.start(t, g.askingPolicies(t), fmt.Sprintf("metrics: {listen: %q}", metrics))
	operator := clientOf(t, g.operators())
	next := 0
	one := func() {
		next++
		session := fmt.Sprint("soak", next/1000) // a new one now and then, and an earlier one ends
		switch next % 4 {
		case 0:
			s.post(t, "/v1/decide", requestOf(t, session, fmt.Sprint("ls -la d", next)), `"outcome":"allow"`)
		case 1:
			s.post(t, "/v1/execute", requestOf(t, session, fmt.Sprint("true # ", next)), `"status":"completed"`)
		case 2:
			s.post(t, "/v1/execute", requestOf(t, session, "cat nothing"), `"status":"completed"`)
		case 3:
			s.post(t, "/v1/execute", requestOf(t, session, fmt.Sprint("true # marked ", next)), `"status":"approval_required"`)
			waiting, err := operator.Approvals(t.Context(), api.Query{State: bailiff.ApprovalPending})
			must(t, err)
			for _, e := range waiting.Approvals {
				_, err := operator.Deny(t.Context(), e.ID, "")
				must(t, err)
			}
		}
		if next%1000 == 0 && next > 1000 {
			_, err := clientOf(t, "unix://"+g.agents()).EndSession(t.Context(), fmt.Sprint("soak", next/1000-2))
			must(t, err)
		}
	}
	began := time.Now()
	for range 200 {
		one()
	}
	if t.Failed() {
		return
	}
	pace := time.NewTicker(10 * time.Since(began) / 200)
	defer pace.Stop()
	held := map[string][]float64{}
	looked := time.Now().Add(soakWarm)
	for end := looked.Add(soakLasts); time.Now().Before(end) && !t.Failed(); <-pace.C {
		one()
		if time.Now().After(looked) {
			looked = looked.Add(soakStep)
			g.look(t, metrics, held)
		}
	}
	t.Logf("%d requests in %v", next, time.Since(began).Round(time.Second))
	if t.Failed() {
		return
	}
	for name, slack := range soakGrowth {
		all := held[name]
		if want := int(soakLasts / soakStep / 2); len(all) < want {
			t.Errorf("%s was read %d times, want at least %d", name, len(all), want)
			continue
		}
		third := len(all) / 3
		first, last := slices.Min(all[:third]), slices.Min(all[len(all)-third:])
		t.Logf("%s: %.0f at first, %.0f at last", name, first, last)
		if last > first*1.2+slack {
			t.Errorf("%s grew from %.0f to %.0f", name, first, last)
		}
	}
}

// look notes what the sidecar holds now. Of values that go up and down, as the heap's between two collections, the least of many
// is what is held.
func (s sidecarOfBench) look(t *testing.T, metrics string, held map[string][]float64) {
	resp, err := http.Get("http://" + metrics + "/metrics")
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the metrics answer %s", resp.Status)
	}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if _, isHeld := soakGrowth[name]; isHeld {
			n, err := strconv.ParseFloat(value, 64)
			must(t, err)
			held[name] = append(held[name], n)
		}
	}
	held["state"] = append(held["state"], s.stored(t))
}

// stored is how many bytes the state folder holds without the decision log.
func (s sidecarOfBench) stored(t *testing.T) (bytes float64) {
	must(t, filepath.WalkDir(filepath.Join(s.state, "state"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // it went meanwhile, and holds nothing
		case d.IsDir() && (d.Name() == "decisions" || d.Name() == "audit"):
			return fs.SkipDir
		case d.Type().IsRegular():
			if info, err := d.Info(); err == nil {
				bytes += float64(info.Size())
			}
		}
		return nil
	}))
	return bytes
}
