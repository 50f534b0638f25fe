package apptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// Prometheus is a real one that runs until the test ends.
type Prometheus struct {
	url     string
	started time.Time
}

// Series is what one of a query's results was in the course of time.
type Series struct {
	Labels map[string]string
	Values []float64
}

// ServePrometheus starts one by its configuration, in which paths are relative to the
// folder that it stands in.
func ServePrometheus(tb testing.TB, config string) *Prometheus {
	tb.Helper()
	program, err := exec.LookPath("prometheus")
	backendtest.Needs(tb, "PROMETHEUS (run scripts/install-deps)", err)
	address := porttest.Address(tb)
	said, err := os.Create(filepath.Join(tb.TempDir(), "prometheus.log"))
	if err != nil {
		tb.Fatal(err)
	}
	defer said.Close()
	command := exec.Command(program, "--config.file="+config, "--web.listen-address="+address,
		"--storage.tsdb.path="+tb.TempDir(), "--log.level=warn", "--enable-feature=exemplar-storage")
	command.Stderr = said
	if err := command.Start(); err != nil {
		tb.Fatal(err)
	}
	p := &Prometheus{url: "http://" + address, started: time.Now()}
	tb.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if log, _ := os.ReadFile(said.Name()); tb.Failed() && len(log) > 0 {
			tb.Logf("prometheus: %s", log)
		}
	})
	backendtest.Await(tb, "prometheus is ready", func() bool {
		answer, err := http.Get(p.url + "/-/ready")
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	})
	return p
}

// Range is what a query gave in each second since the start; an error is what
// Prometheus has against the query.
func (p *Prometheus) Range(query string) ([]Series, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Values [][2]any
		}
	}
	seconds := func(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }
	err := p.ask("query_range", url.Values{"query": {query}, "start": {seconds(p.started)}, "end": {seconds(time.Now())},
		"step": {"1"}}, &data)
	var all []Series
	for _, result := range data.Result {
		s := Series{Labels: result.Metric}
		for _, point := range result.Values {
			value, err := strconv.ParseFloat(fmt.Sprint(point[1]), 64)
			if err != nil {
				return nil, err
			}
			s.Values = append(s.Values, value)
		}
		all = append(all, s)
	}
	return all, err
}

// Firing are the alerts that fire, as their labels.
func (p *Prometheus) Firing() (all []map[string]string, err error) {
	var data struct {
		Alerts []struct {
			Labels map[string]string
			State  string
		}
	}
	err = p.ask("alerts", nil, &data)
	for _, alert := range data.Alerts {
		if alert.State == "firing" {
			all = append(all, alert.Labels)
		}
	}
	return all, err
}

// Exemplars are those of a query since the start, as their labels.
func (p *Prometheus) Exemplars(query string) (all []map[string]string, err error) {
	var data []struct {
		Exemplars []struct{ Labels map[string]string }
	}
	seconds := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
	err = p.ask("query_exemplars", url.Values{"query": {query}, "start": {seconds(p.started.Add(-time.Minute))},
		"end": {seconds(time.Now().Add(time.Minute))}}, &data)
	for _, series := range data {
		for _, exemplar := range series.Exemplars {
			all = append(all, exemplar.Labels)
		}
	}
	return all, err
}

func (p *Prometheus) ask(path string, query url.Values, data any) error {
	answer, err := http.Get(p.url + "/api/v1/" + path + "?" + query.Encode())
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said := struct {
		Error string
		Data  any
	}{Data: data}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return err
	}
	if said.Error != "" {
		return fmt.Errorf("asking prometheus for %s: %s", strings.TrimSpace(query.Get("query")), said.Error)
	}
	return nil
}
