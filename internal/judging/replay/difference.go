package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// differences are what two decisions say differently, the outcome or else the rules
// first. Obligations of what does not run are none.
func differences(was, now bailiff.Decision, backends map[string]bailiff.BackendState) []api.Difference {
	if was.Outcome != now.Outcome {
		outcome := difference("outcome", was.Outcome.String(), now.Outcome.String(), direction(int(was.Outcome), int(now.Outcome)))
		if was.Outcome == bailiff.Deny || now.Outcome == bailiff.Deny {
			return []api.Difference{outcome}
		}
		return append([]api.Difference{outcome}, facetDifferences(obligations(was), obligations(now), backends)...)
	}
	all := facetDifferences(facets{"rules": rulesOf(was)}, facets{"rules": rulesOf(now)}, backends)
	if now.Outcome == bailiff.Deny || same(was, now) {
		return all
	}
	from, to := obligations(was), obligations(now)
	if now.Outcome == bailiff.Ask {
		from.add("approval", terms(was))
		to.add("approval", terms(now))
	}
	return append(all, facetDifferences(from, to, backends)...)
}

func difference(what, from, to string, leads api.Direction) api.Difference {
	return api.Difference{What: what, From: from, To: to, Direction: leads}
}

// same spares most decisions a closer look.
func same(was, now bailiff.Decision) bool {
	was.Revision, now.Revision = "", ""
	one, err := json.Marshal(was)
	other, wrong := json.Marshal(now)
	return err == nil && wrong == nil && bytes.Equal(one, other)
}

// rulesOf are the rules that spoke against letting a request run at once, sorted.
func rulesOf(d bailiff.Decision) []string {
	rules := d.Rules()
	slices.Sort(rules)
	return slices.Compact(rules)
}

// facets are values by their paths: a list has its elements, sorted, anything else
// one.
type facets map[string][]string

func obligations(d bailiff.Decision) facets {
	f := facets{}
	f.add("", d.Obligations)
	delete(f, "env.withheld") // what is not forwarded
	if isPinned(d.Backend.Image) {
		delete(f, "backend.image")
	}
	if d.Backend.Network != "egress" {
		delete(f, "backend.egress")
	}
	return f
}

// isFilledIn says whether a sidecar says what policies leave open.
func isFilledIn(path string) bool { return path == "backend.image" || path == "backend.runtime" }

// isPinned says whether an image is named by its digest, as no policies need to.
func isPinned(image string) bool { return strings.Contains(image, "sha256:") }

// terms are those of an approval, without its reasons.
func terms(d bailiff.Decision) bailiff.ApprovalTerms {
	if d.Approval == nil {
		return bailiff.ApprovalTerms{}
	}
	t := *d.Approval
	t.Reasons = nil
	return t
}

// add adds a value and what is below it, by the names that it has in JSON.
func (f facets) add(path string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings, numbers and booleans only: cannot fail
	}
	var document any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	_ = decoder.Decode(&document) // was just written
	f.walk(path, document)
}

func (f facets) walk(path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			f.walk(strings.TrimPrefix(path+"."+name, "."), below)
		}
	case []any:
		elements := make([]string, len(value))
		for i, element := range value {
			elements[i] = written(element)
		}
		slices.Sort(elements)
		f[path] = slices.Compact(elements)
	case nil:
		f[path] = nil
	default:
		f[path] = []string{fmt.Sprint(value)}
	}
}

func written(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	text, _ := json.Marshal(value) // was just read
	return string(text)
}

// facetDifferences are the differences of what both have, by path. Neither has what is
// empty.
func facetDifferences(was, now facets, backends map[string]bailiff.BackendState) (all []api.Difference) {
	paths := maps.Clone(was)
	maps.Copy(paths, now)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if isFilledIn(path) && (len(was[path]) == 0 || len(now[path]) == 0) {
			continue // the sidecar pinned or named it, where the policies leave it to the backend
		}
		removed, added := without(was[path], now[path]), without(now[path], was[path])
		if len(removed)+len(added) == 0 {
			continue
		}
		all = append(all, difference(path, strings.Join(removed, " "), strings.Join(added, " "), leads(path, removed, added, backends)))
	}
	return all
}

func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(others, one) })
}

func direction(from, to int) api.Direction {
	switch {
	case to > from:
		return api.Looser
	case to < from:
		return api.Stricter
	}
	return api.Sideways
}

// wider are the lists that let a request do more with each element.
var wider = []string{"env.forward", "tools", "backend.egress", "backend.mounts", "approval.scopes"}

// steps are values from the strictest.
var steps = map[string][]string{
	"backend.network":    {"none", "egress", "full"},
	"backend.scope":      {"request", "session", "user"},
	"backend.read_only":  {"true", "false"},
	"backend.persistent": {"false", "true"},

	"connection.private":   {"false", "true"},
	"connection.intercept": {"true", "false"},
	"connection.websocket": {"false", "true"},
}

// amounts are numbers of which more is looser; zero is no limit.
var amounts = []string{
	"limits.timeout_seconds", "limits.output_bytes", "limits.background_seconds", "limits.processes",
	"backend.cpus", "backend.memory_mb", "backend.disk_mb", "backend.workspace_mb", "backend.workspace_files",
	"backend.pids", "backend.idle_seconds", "backend.max_seconds", "approval.grant_seconds",
}

// leads says where the difference at a path leads.
func leads(path string, removed, added []string, backends map[string]bailiff.BackendState) api.Direction {
	switch {
	case slices.Contains(wider, path):
		return ofLists(removed, added)
	case path == "env.sealed":
		return ofLists(added, removed)
	case steps[path] != nil:
		return direction(slices.Index(steps[path], value(removed)), slices.Index(steps[path], value(added)))
	case slices.Contains(amounts, path):
		return ofAmounts(amount(removed), amount(added))
	case path == "approval.quorum":
		return ofAmounts(amount(added), amount(removed))
	case path == "backend.name":
		return direction(exposure(backends[value(removed)]), exposure(backends[value(added)]))
	}
	return api.Sideways
}

func ofLists(removed, added []string) api.Direction {
	if len(added) > 0 {
		return api.Looser
	}
	return api.Stricter
}

func ofAmounts(from, to float64) api.Direction {
	switch {
	case to == from:
		return api.Sideways
	case from > 0 && (to == 0 || to > from):
		return api.Looser
	}
	return api.Stricter
}

// value is the one of what is no list; what is left out is zero or false.
func value(one []string) string {
	if len(one) == 0 {
		return "false"
	}
	return one[0]
}

func amount(one []string) float64 {
	n, _ := strconv.ParseFloat(value(one), 64)
	return n
}

// exposure is 1 for a backend that does not isolate.
func exposure(b bailiff.BackendState) int {
	if b.Isolated {
		return 0
	}
	return 1
}
