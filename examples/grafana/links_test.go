package grafana_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// of is a label of the series or row that a reader clicks on.
var of = regexp.MustCompile(`\$\{__(?:field\.labels|data\.fields)\.(\w+)\}`)

func TestEveryLinkLeadsToAViewOfTheConsole(t *testing.T) {
	views := consoleViews(t)
	for _, d := range dashboards(t) {
		toConsole := 0
		for _, p := range d.Panels {
			for _, link := range append(p.Links, p.FieldConfig.Defaults.Links...) {
				to, err := url.Parse(strings.Replace(of.ReplaceAllString(link.URL, "$1"), "${console}", "http://console", 1))
				if err != nil || to.Host != "console" || to.Path != "/" || !views[to.Query().Get("view")] {
					t.Errorf("%s: %s: %s leads to no view of the console, %v", d.name, p.Title, link.URL, err)
				}
				toConsole++
				if m := of.FindStringSubmatch(link.URL); m != nil && !strings.Contains(p.exprs(), m[1]) {
					t.Errorf("%s: %s: %s is of a label that the panel does not show", d.name, p.Title, link.URL)
				}
			}
		}
		if toConsole == 0 {
			t.Errorf("%s leads to the console nowhere", d.name)
		}
	}
}

func (p panel) exprs() (all string) {
	for _, target := range p.Targets {
		all += target.Expr + "\n"
	}
	return all
}

// consoleViews are those that the console's page has.
func consoleViews(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(apptest.Root(t), "gateway/console/page/console.js"))
	must(t, err)
	list := regexp.MustCompile(`(?m)^const views = \[(.*)\]$`).FindSubmatch(page)
	if list == nil {
		t.Fatal("the console has no list of its views")
	}
	views := map[string]bool{}
	for _, m := range regexp.MustCompile(`'(\w+)'`).FindAllSubmatch(list[1], -1) {
		views[string(m[1])] = true
	}
	return views
}

func TestNoTwoPanelsShareAPlaceOrANumberAndNoTwoDashboardsAnID(t *testing.T) {
	type cell struct{ x, y int }
	ids := map[string]bool{}
	for _, d := range dashboards(t) {
		if ids[d.UID] || d.UID == "" {
			t.Errorf("%s has the id %q, which is empty or another's", d.name, d.UID)
		}
		ids[d.UID] = true
		taken, numbers := map[cell]string{}, map[int]bool{}
		for _, p := range d.Panels {
			if numbers[p.ID] {
				t.Errorf("%s: %s has the number %d of another", d.name, p.Title, p.ID)
			}
			numbers[p.ID] = true
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					if other := taken[cell{x, y}]; other != "" || x >= 24 {
						t.Fatalf("%s: %s lies over %q or beyond the edge", d.name, p.Title, other)
					}
					taken[cell{x, y}] = p.Title
				}
			}
		}
	}
}

func TestGrafanaIsProvisionedWithTheDashboardsAndThePrometheusOfTheExample(t *testing.T) {
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name, Type, Access, URL string
			IsDefault               bool `yaml:"isDefault"`
			JSONData                struct {
				TimeInterval string `yaml:"timeInterval"`
			} `yaml:"jsonData"`
		}
	}
	strictly(t, "provisioning/datasources/prometheus.yaml", &sources)
	var scraped struct {
		Global struct {
			ScrapeInterval string `yaml:"scrape_interval"`
		}
	}
	text, err := os.ReadFile("../prometheus/prometheus.yml")
	must(t, err)
	must(t, yaml.Unmarshal(text, &scraped))
	if s := sources.Datasources; sources.APIVersion != 1 || len(s) != 1 || s[0].Type != "prometheus" ||
		s[0].JSONData.TimeInterval != scraped.Global.ScrapeInterval {
		t.Errorf("the sources are %+v, scraped is every %s", sources, scraped.Global.ScrapeInterval)
	}
	var providers struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Folder, Type string
			AllowUIUpdates     bool `yaml:"allowUiUpdates"`
			Options            struct{ Path string }
		}
	}
	strictly(t, "provisioning/dashboards/bailiff.yaml", &providers)
	if p := providers.Providers; providers.APIVersion != 1 || len(p) != 1 || p[0].Type != "file" || p[0].Options.Path == "" {
		t.Errorf("the providers are %+v", providers)
	}
}

func strictly(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	must(t, yaml.UnmarshalWithOptions(text, into, yaml.Strict()))
}
