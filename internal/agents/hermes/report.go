package hermes

import (
	"path/filepath"
	"strings"
)

// Report says what became of each setting that decides where and how Hermes runs
// commands. It names settings and places; values that could be secret are in none.
type Report struct {
	Home string `json:"home"`
	// Files are what was written.
	Files []string `json:"files"`
	// Carried are the settings that now stand in bailiff's words.
	Carried []Carried `json:"carried"`
	// Left are those that do not.
	Left []Left `json:"left"`
	// Next is what remains to be done by hand.
	Next []string `json:"next"`
}

// Carried is one setting that was carried over.
type Carried struct {
	Setting string `json:"setting"`
	From    string `json:"from"`
	To      string `json:"to"`
	// Note says where it is not quite the same.
	Note string `json:"note,omitempty"`
}

// Left is one setting that was not carried over.
type Left struct {
	Setting string `json:"setting"`
	From    string `json:"from"`
	Why     string `json:"why"`
	Do      string `json:"do,omitempty"`
}

// plan is an import that is being made.
type plan struct {
	home   *Home
	to     Destination
	config draft
	tables tables
	// platforms are the messaging platforms that Hermes serves.
	platforms []string
	// backends are bailiff's, as configured; ran are those that Hermes names.
	backends, ran map[string]bool
	// times are those that were carried over, in seconds.
	times map[string]float64
	// seen are the settings that are dealt with.
	seen   map[string]bool
	report Report
}

// take is a setting that is dealt with from now on.
func (p *plan) take(key string) (setting, bool) {
	p.seen[key] = true
	said, ok := p.home.settings.of(key)
	if _, unread := said.value.(odd); unread {
		p.unread(key, said)
		return said, false
	}
	return said, ok && said.value != nil
}

func (p *plan) carried(key string, said setting, to, note string) {
	p.report.Carried = append(p.report.Carried, Carried{key, p.where(said), to, note})
}

func (p *plan) left(key string, said setting, why, do string) {
	p.report.Left = append(p.report.Left, Left{key, p.where(said), why, do})
}

func (p *plan) unread(key string, said setting) {
	p.left(key, said, "It is "+said.value.(odd).what+", and what that stands for is not looked up.",
		"Write the value out there and import again, or set it in bailiff by hand.")
}

func (p *plan) wrong(key string, said setting, want string) {
	p.left(key, said, "It is not "+want+".", "Correct it in Hermes, or set it in bailiff by hand.")
}

func (p *plan) next(sentence string) { p.report.Next = append(p.report.Next, sentence) }

// where is a place below the home as its owner would say it.
func (p *plan) where(said setting) string {
	if said.from == "" {
		return "Hermes' default"
	}
	return strings.TrimPrefix(said.from, filepath.Clean(p.home.Folder)+"/")
}
