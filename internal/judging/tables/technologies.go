package tables

import (
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// shipped are the names of the backends that come with bailiff.
var shipped = []string{"docker", "bubblewrap", "local", "ssh", "apptainer", "modal", "daytona", "vercel", "kubernetes"}

// technologies are the names that backends have in the tables.
type technologies []string

// technologiesOf are those that come with bailiff, their other names, and those of a
// team's own to which the table of sandboxes gives a row. What looks like one of the
// others with a letter or two wrong is none of a team's own.
func technologiesOf(all any) technologies {
	known := slices.Concat(shipped, slices.Collect(maps.Keys(bailiff.BackendAliases)))
	names := slices.Clone(known)
	for name := range object(all, "sandboxes") {
		if spelling.Nearest(name, known, max(1, len(name)/3)) == "" {
			names = append(names, name)
		}
	}
	return names
}

// to is an object with a value for each backend, each by one of its names.
func (t technologies) to(each shape) shape {
	known := oneOfThe("backend", "an object with a value for each backend", same(t, each))
	return func(value any, at keys, tell reporter) {
		known(value, at, tell)
		if describe(value, func(s *jsonschema.Schema) { s.AdditionalProperties = schemaOf(each) }) { // for a team's own backends
			return
		}
		members := object(value)
		for alias, name := range bailiff.BackendAliases {
			if members[alias] != nil && members[name] != nil {
				tell(at.below(alias), "is another name of "+name+", of which something else is said")
			}
		}
	}
}

func (t technologies) list() shape {
	read := word(t...)
	return list(func(value any, at keys, tell reporter) {
		if !describe(value, describeText("")) { // a team's own backends have any name
			read(value, at, tell)
		}
	})
}

func (t technologies) platform() shape {
	return fields(map[string]shape{
		"isolation": word("required", "optional"), "take": word("first", "ready"), "backends": t.list(), "images": t.to(text),
		"runtimes": t.to(text), "mounts": t.to(list(mount)), "persistent": t.to(truth), "limits": limits,
	})
}

func (t technologies) variable() shape {
	return fields(map[string]shape{
		"platforms": list(text), "tools": list(word(toolNames...)), "programs": list(text), "backends": t.list(), "sealed": truth,
		"from_user": truth, "hosts": list(text),
		"swap": fields(map[string]shape{"hosts": list(text), "in": list(text), "stray": word("refuse", "pass"), "alone": truth}),
	})
}
