package config

import (
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/syslog"
)

// DecisionLog bounds the decision log's files, and says where they are sent.
type DecisionLog struct {
	Rotate Rotate
	Retain Retain
	// Export is a receiver of the decision log; none has no URL.
	Export Export
	// Syslog is another; none has no address.
	Syslog Syslog
}

// Export is a service that takes events by HTTP.
type Export struct {
	httpapi.Server
	Format string
}

// Syslog is a receiver of syslog.
type Syslog struct {
	syslog.Server
	Format string
}

// The formats of events: the log's own lines, which are those of OPA's decision logs, and
// those of the Open Cybersecurity Schema Framework.
const (
	FormatOPA  = "opa"
	FormatOCSF = "ocsf"
)

func format(into *string) settings.Setting {
	return settings.Setting{Key: "format", Into: into, Valid: []string{FormatOPA, FormatOCSF}}
}

// Settings are the keys of the section.
func (e *Export) Settings() []settings.Setting {
	return append(e.Server.Settings(), format(&e.Format))
}

// Settings are the keys of the section.
func (s *Syslog) Settings() []settings.Setting {
	return append(s.Server.Settings(), format(&s.Format))
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
		"export": func(at place) {
			r.server(&d.Export.Server, d.Export.Settings(), at, "where the events are sent, as in https://logs.example.com/logs")
		},
		"syslog": func(at place) {
			before := len(r.faults)
			r.settings(d.Syslog.Settings(), at)
			if err := d.Syslog.Check(); err != nil && len(r.faults) == before {
				r.fault(at, "%v", err)
			}
		},
	})
}

// checkRetain finds a bound that the file in use could break by itself.
func (r *reader) checkRetain(d DecisionLog, at place) {
	if most := d.Retain.Megabytes; most > 0 && most < 2*d.Rotate.Megabytes {
		r.fault(at, "megabytes is %d, want at least twice decision_log.rotate.megabytes (%d), or 0 for no bound", most, d.Rotate.Megabytes)
	}
}
