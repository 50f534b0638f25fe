package config

import (
	"github.com/bailiff-dev/bailiff/internal/httpapi"
)

// DecisionLog bounds the decision log's files, and says where they are sent.
type DecisionLog struct {
	Rotate Rotate
	Retain Retain
	// Export is a receiver of the decision log; none has no URL.
	Export httpapi.Server
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
			r.server(&d.Export, d.Export.Settings(), at, "where the events are sent, as in https://logs.example.com/logs")
		},
	})
}

// checkRetain finds a bound that the file in use could break by itself.
func (r *reader) checkRetain(d DecisionLog, at place) {
	if most := d.Retain.Megabytes; most > 0 && most < 2*d.Rotate.Megabytes {
		r.fault(at, "megabytes is %d, want at least twice decision_log.rotate.megabytes (%d), or 0 for no bound", most, d.Rotate.Megabytes)
	}
}
