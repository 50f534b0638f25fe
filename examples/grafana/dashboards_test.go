// Package grafana_test holds the dashboards to a real Prometheus, which scrapes a real
// sidecar, and to the types that Grafana publishes.
package grafana_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// dashboard is what these tests read of one.
type dashboard struct {
	name       string
	UID        string
	Panels     []panel
	Templating struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage
		}
	}
	Annotations struct {
		List []struct{ Target struct{ Expr string } }
	}
}

func dashboards(t *testing.T) (all []dashboard) {
	t.Helper()
	files, err := filepath.Glob("dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no dashboards: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		d := dashboard{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		must(t, json.Unmarshal(text, &d))
		all = append(all, d)
	}
	return all
}

type panel struct {
	ID          int
	Title       string
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct{ Expr string }
	Links       []link
	FieldConfig struct{ Defaults struct{ Links []link } }
}

type link struct{ URL string }

// query is one of a dashboard's, as Prometheus gets it.
type query struct{ place, expr string }

// chosen stands for what a reader of a dashboard chooses, and for what Grafana computes
// of the time shown.
var chosen = strings.NewReplacer("$instance", ".*", "$platform", ".*", "$__rate_interval", "5s", "$__interval", "5s", "$__range", "1m")

func (d dashboard) queries(t *testing.T) (all []query) {
	t.Helper()
	add := func(place, expr string) {
		all = append(all, query{fmt.Sprintf("%s: %s: %s", d.name, place, expr), chosen.Replace(expr)})
	}
	for _, p := range d.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("%s: panel %q asks for nothing", d.name, p.Title)
		}
		for _, target := range p.Targets {
			add(p.Title, target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if m := labelValues.FindStringSubmatch(string(v.Query)); m != nil {
			add("variable "+v.Name, fmt.Sprintf("count by (%s) (%s)", m[2], m[1]))
		} else if v.Type == "query" {
			t.Errorf("%s: variable %s has the query %s, want label_values(metric, label)", d.name, v.Name, v.Query)
		}
	}
	for _, a := range d.Annotations.List {
		add("annotation", a.Target.Expr)
	}
	return all
}

var labelValues = regexp.MustCompile(`label_values\((\w+), (\w+)\)`)

// observed starts a sidecar, and a Prometheus that scrapes it often.
func observed(t *testing.T) (*load, *apptest.Prometheus) {
	t.Helper()
	l := newLoad(t)
	config := filepath.Join(t.TempDir(), "prometheus.yml")
	must(t, os.WriteFile(config, fmt.Appendf(nil,
		"global: {scrape_interval: 250ms}\nscrape_configs: [{job_name: bailiff, static_configs: [{targets: [%q]}]}]\n", l.Metrics), 0o600))
	return l, apptest.ServePrometheus(t, config)
}

func TestEveryQueryOfEveryDashboardHasData(t *testing.T) {
	l, prometheus := observed(t)
	asked := allQueries(t)
	for end := awaittest.End(t); len(asked) > 0 && time.Now().Before(end); {
		l.round(t)
		asked = slices.DeleteFunc(slices.Clone(asked), func(q query) bool { return hasData(t, prometheus, q) })
	}
	for _, q := range asked {
		t.Errorf("no data: %s", q.place)
	}
}

func TestEveryMetricHasAPanel(t *testing.T) {
	all := allQueries(t)
	for _, metric := range metrics(t) {
		if !slices.ContainsFunc(all, func(q query) bool { return regexp.MustCompile(`\b` + metric + `(_bucket)?\b`).MatchString(q.expr) }) {
			t.Errorf("no panel shows %s", metric)
		}
	}
}

func allQueries(t *testing.T) (all []query) {
	t.Helper()
	for _, d := range dashboards(t) {
		all = append(all, d.queries(t)...)
	}
	return all
}

func hasData(t *testing.T, p *apptest.Prometheus, q query) bool {
	t.Helper()
	found, err := p.Range(q.expr)
	if err != nil {
		t.Fatalf("%s: %v", q.place, err)
	}
	return slices.ContainsFunc(found, func(s apptest.Series) bool {
		return slices.ContainsFunc(s.Values, func(v float64) bool { return !math.IsNaN(v) })
	})
}

// metrics are all that a sidecar can count, whether or not it has.
func metrics(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(apptest.Root(t), "metrics", "collection.go"))
	must(t, err)
	for _, m := range regexp.MustCompile(`r\.(?:counters|gauges|histograms)\("([a-z_]+)"`).FindAllSubmatch(text, -1) {
		names = append(names, "bailiff_"+string(m[1]))
	}
	if len(names) == 0 {
		t.Fatal("metrics/collection.go names none")
	}
	return names
}
