package audit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Masking answers with the mask of an event, as OPA's decision log has it in the
// document data.system.log.mask: a list of paths to remove, such as
// "/input/args/command", and of objects with op ("remove" or "upsert"), path and,
// for upsert, value. The event is a line of the log before it is scrubbed and
// hashed. It is called concurrently.
type Masking func(ctx context.Context, event []byte) (mask any, defined bool, err error)

// maskLine returns an unclosed line without what the mask takes away.
func maskLine(ctx context.Context, line []byte, masking Masking) ([]byte, error) {
	mask, defined, err := masking(ctx, append(line, unclosed...))
	if err != nil || !defined {
		return line, err
	}
	rules, err := masksIn(mask)
	if err != nil || len(rules) == 0 {
		return line, err
	}
	d, err := readDocument(line)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		rule.apply(&d)
	}
	return d.line()
}

// maskRule changes or removes what is at a path. The steps are escaped as in an
// address, which is how OPA looks them up and tells of them.
type maskRule struct {
	upsert bool
	steps  []string
	value  any
}

// CheckMask says why no event can be masked by an entry of what a [Masking] answers.
func CheckMask(entry any) error {
	_, err := maskIn(entry)
	return err
}

func masksIn(mask any) ([]maskRule, error) {
	list, ok := mask.([]any)
	if !ok {
		return nil, errors.New(`want a set of paths such as "/input/args/command", or of objects with op, path and value`)
	}
	rules := make([]maskRule, len(list))
	for i, entry := range list {
		var err error
		if rules[i], err = maskIn(entry); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

func maskIn(entry any) (maskRule, error) {
	switch entry := entry.(type) {
	case string:
		steps, err := stepsOf(entry)
		return maskRule{steps: steps}, err
	case map[string]any:
		path, _ := entry["path"].(string)
		steps, err := stepsOf(path)
		op, _ := entry["op"].(string)
		if err == nil && op != "remove" && op != "upsert" {
			err = fmt.Errorf(`for %s op is %v, want "remove" or "upsert"`, path, entry["op"])
		}
		return maskRule{op == "upsert", steps, entry["value"]}, err
	}
	return maskRule{}, fmt.Errorf("an entry is of type %T, want a path or an object with op, path and value", entry)
}

// stepsOf reads a path that leads into what may be masked.
func stepsOf(path string) ([]string, error) {
	steps := strings.Split(path, "/")
	if steps[0] != "" || len(steps) < 2 || !slices.Contains([]string{"input", "result", "nd_builtin_cache"}, steps[1]) {
		return nil, fmt.Errorf("a path is %q, want one that begins with /input or /result", path)
	}
	steps = steps[1:]
	for i, step := range steps {
		if _, err := url.PathUnescape(step); err != nil {
			return nil, fmt.Errorf("the path %q: %w", path, err)
		}
		steps[i] = url.PathEscape(step)
	}
	return steps, nil
}

// apply does nothing where there is nothing at the path.
func (r maskRule) apply(d *document) {
	at := &d.input
	switch r.steps[0] {
	case "result":
		at = &d.result
	case "nd_builtin_cache": // no event has one
		return
	}
	if !at.there {
		return
	}
	done := true
	switch whole := len(r.steps) == 1; {
	case whole && r.upsert:
		at.value = r.value
	case whole:
		*at = part{}
	case r.upsert:
		done = upsert(at.value, r.steps[1:], r.value)
	default:
		at.value, done = without(at.value, r.steps[1:])
	}
	told := &d.Erased
	if r.upsert {
		told = &d.Masked
	}
	if done {
		*told = append(*told, "/"+strings.Join(r.steps, "/"))
	}
}

// without removes what is at a path in a value.
func without(value any, path []string) (rest any, found bool) {
	switch v := value.(type) {
	case map[string]any:
		inner, there := v[path[0]]
		if !there {
			return v, false
		}
		if len(path) == 1 {
			delete(v, path[0])
			return v, true
		}
		v[path[0]], found = without(inner, path[1:])
		return v, found
	case []any:
		i, there := index(path[0], len(v))
		if !there {
			return v, false
		}
		if len(path) == 1 {
			return slices.Delete(v, i, i+1), true
		}
		v[i], found = without(v[i], path[1:])
		return v, found
	}
	return value, false
}

// upsert sets what is at a path in a value, making the objects on the way.
func upsert(value any, path []string, to any) bool {
	switch v := value.(type) {
	case map[string]any:
		if len(path) == 1 {
			v[path[0]] = to
			return true
		}
		if _, there := v[path[0]]; !there {
			v[path[0]] = map[string]any{}
		}
		return upsert(v[path[0]], path[1:], to)
	case []any:
		i, there := index(path[0], len(v))
		if !there {
			return false
		}
		if len(path) == 1 {
			v[i] = to
			return true
		}
		return upsert(v[i], path[1:], to)
	}
	return false
}

// index reads a step into a list.
func index(step string, length int) (int, bool) {
	i, err := strconv.Atoi(step)
	return i, err == nil && i >= 0 && i < length
}
