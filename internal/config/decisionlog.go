package config

import (
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/httpapi"
)

// DecisionLog bounds the decision log's files, and says where they are sent.
type DecisionLog struct {
	Rotate Rotate
	Retain Retain
	Export Export
}

// Export is a receiver of the decision log; none has no URL.
type Export struct {
	URL   string
	Token backends.Credential
	// CAFile holds the certificates of who may vouch for the receiver; empty means those
	// of this machine.
	CAFile string
}

// Rotate says at which size and after which span of time a new file is begun.
type Rotate struct{ Megabytes, Hours int }

// Retain says how old a file may become and how large all together; zero is no
// bound.
type Retain struct{ Days, Megabytes int }

func (r *reader) decisionLog(d *DecisionLog, at place) {
	r.section(at, fields{
		"rotate": func(at place) {
			r.section(at, fields{"megabytes": r.number(&d.Rotate.Megabytes, 1, 4096), "hours": r.number(&d.Rotate.Hours, 1, 24*366)})
		},
		"retain": func(at place) {
			r.section(at, fields{"days": r.number(&d.Retain.Days, 0, 36_600), "megabytes": r.number(&d.Retain.Megabytes, 0, 1<<30)})
			r.whole = append(r.whole, func() { r.checkRetain(*d, at) })
		},
		"export": func(at place) { r.export(&d.Export, at) },
	})
}

// checkRetain finds a bound that the file in use could break by itself.
func (r *reader) checkRetain(d DecisionLog, at place) {
	if most := d.Retain.Megabytes; most > 0 && most < 2*d.Rotate.Megabytes {
		r.fault(at, "megabytes is %d, want at least twice decision_log.rotate.megabytes (%d), or 0 for no bound", most, d.Rotate.Megabytes)
	}
}

func (e *Export) settings() []backends.Setting {
	return []backends.Setting{
		{Key: "url", Into: &e.URL, Check: httpapi.CheckAddress},
		{Key: "token", Into: &e.Token},
		{Key: "ca_file", Into: &e.CAFile, Path: true, Present: httpapi.IsRoots},
	}
}

func (r *reader) export(e *Export, at place) {
	before := len(r.faults)
	if r.settings(e.settings(), at); len(r.faults) == before && e.URL == "" {
		r.fault(at, "url is missing: say where the events are sent, as in https://logs.example.com/logs")
	}
}
