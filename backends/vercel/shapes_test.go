package vercel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// shape is one call of Vercel's API as its own client makes it. Nothing else is
// taken: no other query, header or field, and no value of another type.
type shape struct {
	method, path string
	// query are the keys that there may be besides teamId; one with a "!" must be there.
	query []string
	// content is the type of the body; "" is none or JSON without a field.
	content string
	body    object
}

// object says the type of each field: a word, a list of one, another object, or a
// function that judges. A name with a "!" must be there.
type object map[string]any

// of is a map whose values are all of one type.
type of struct{ value any }

var policy = func(value any) string {
	mode, _ := value.(map[string]any)["mode"].(string)
	if !slices.Contains([]string{"allow-all", "deny-all"}, mode) {
		return fmt.Sprintf("is %v, want a mode", value)
	}
	return ""
}

var creation = object{
	"projectId!": "string", "name": "string", "ports": []any{"number"}, "source": object{"type!": "string"}, "timeout": "number",
	"resources": object{"vcpus!": "number"}, "runtime": "string", "image": "string", "persistent": "boolean", "networkPolicy": policy,
	"networkId": "string", "env": of{"string"}, "tags": of{"string"}, "snapshotExpiration": "number", "region": "string",
	"failoverRegions": []any{"string"}, "mounts": of{object{"drive!": "string", "mode": "string"}},
}

// shapes are the calls that the client of version 3.5.0 makes, as far as machines
// here can be asked them.
var shapes = []shape{
	{"POST", "/v3/sandboxes", nil, "application/json", creation},
	{"GET", "/v2/sandboxes", []string{"project!", "limit", "sortBy", "sortOrder", "namePrefix", "cursor", "tags"}, "", nil},
	{"GET", "/v2/sandboxes/{sandbox}", []string{"projectId!", "resume"}, "", nil},
	{"DELETE", "/v2/sandboxes/{sandbox}", []string{"projectId!", "deleteOrphanSnapshots"}, "", nil},
	{"GET", "/v2/sandboxes/sessions/{session}", nil, "", nil},
	{"POST", "/v2/sandboxes/sessions/{session}/stop", nil, "", nil},
	{"POST", "/v2/sandboxes/sessions/{session}/extend-timeout", nil, "application/json", object{"duration!": "number"}},
	{"POST", "/v2/sandboxes/sessions/{session}/cmd", nil, "application/json", object{
		"command!": "string", "args!": []any{"string"}, "cwd": "string", "env": of{"string"}, "sudo": "boolean", "wait": "boolean",
		"logs": "boolean", "timeout": "number",
	}},
	{"GET", "/v2/sandboxes/sessions/{session}/cmd/{command}", []string{"wait"}, "", nil},
	{"GET", "/v2/sandboxes/sessions/{session}/cmd/{command}/logs", nil, "", nil},
	{"POST", "/v2/sandboxes/sessions/{session}/cmd/{command}/kill", nil, "application/json", object{"signal": "number"}},
	{"POST", "/v2/sandboxes/sessions/{session}/fs/write", nil, "application/gzip", nil},
	{"POST", "/v2/sandboxes/sessions/{session}/fs/read", nil, "application/json", object{"path!": "string", "cwd": "string"}},
	{"POST", "/v2/sandboxes/sessions/{session}/fs/mkdir", nil, "application/json", object{"path!": "string", "cwd": "string"}},
	{"GET", "/v2/sandboxes/drives", []string{"projectId!", "limit", "cursor", "sortBy", "sortOrder", "namePrefix"}, "", nil},
	{"POST", "/v2/sandboxes/drives/{drive}", nil, "application/json", object{"projectId!": "string", "region": "string",
		"maxSizeBytes": "number"}},
	{"DELETE", "/v2/sandboxes/drives/{drive}", []string{"projectId!"}, "", nil},
}

var variable = regexp.MustCompile(`\{[a-z]+\}`)

// shapeOf finds the call that a request is; words that have a call of their own are
// no names.
func shapeOf(r *http.Request) (shape, bool) {
	for _, s := range shapes {
		pattern := "^" + variable.ReplaceAllString(s.path, `[a-zA-Z0-9_-]{1,128}`) + "$"
		reserved := strings.HasSuffix(s.path, "{sandbox}") && slices.Contains([]string{"drives", "sessions", "snapshots"},
			r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		if s.method == r.Method && regexp.MustCompile(pattern).MatchString(r.URL.Path) && !reserved {
			return s, true
		}
	}
	return shape{}, false
}

// faults are what is wrong with a request; the body is read and returned.
func (s shape) faults(r *http.Request) (body []byte, faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	given := r.URL.Query()
	for key, values := range given {
		if key != "teamId" && !slices.Contains(s.query, key) && !slices.Contains(s.query, key+"!") || len(values) != 1 || values[0] == "" {
			fault("query %s=%q", key, values)
		}
	}
	for _, key := range append(slices.Clone(s.query), "teamId!") {
		if name, needed := strings.CutSuffix(key, "!"); needed && !given.Has(name) {
			fault("query lacks %s", name)
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		fault("body: %v", err)
	}
	if content := r.Header.Get("Content-Type"); content != s.content && (s.content != "" || content != "application/json") {
		fault("content type %q", content)
	}
	if cwd := r.Header.Get("X-Cwd"); (s.content == "application/gzip") != (cwd != "") || cwd != "" && cwd[0] != '/' {
		fault("x-cwd %q", cwd)
	}
	switch {
	case s.body != nil:
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			fault("body %q: %v", body, err)
			break
		}
		faults = append(faults, mismatches("body", value, s.body)...)
	case s.content == "" && len(body) > 0:
		fault("body %q", body)
	}
	return body, faults
}

// mismatches are where a value is not of its type.
func mismatches(at string, value, want any) (list []string) {
	is := ""
	switch v := value.(type) {
	case string:
		is = "string"
	case float64:
		is = "number"
	case bool:
		is = "boolean"
	case []any:
		if list, ok := want.([]any); ok {
			return inList(at, v, list[0])
		}
	case map[string]any:
		switch want := want.(type) {
		case func(any) string:
			if fault := want(v); fault != "" {
				return []string{at + " " + fault}
			}
			return nil
		case of:
			for name, field := range v {
				list = append(list, mismatches(at+"."+name, field, want.value)...)
			}
			return list
		case object:
			return inObject(at, v, want)
		}
	}
	if is == "" || is != want {
		return []string{fmt.Sprintf("%s is %T, want %v", at, value, want)}
	}
	return nil
}

func inList(at string, values []any, want any) (list []string) {
	for i, item := range values {
		list = append(list, mismatches(fmt.Sprintf("%s[%d]", at, i), item, want)...)
	}
	return list
}

func inObject(at string, value map[string]any, want object) (list []string) {
	for name, field := range value {
		kind, known := want[name]
		if !known {
			kind, known = want[name+"!"]
		}
		if !known {
			list = append(list, at+" has "+name)
			continue
		}
		list = append(list, mismatches(at+"."+name, field, kind)...)
	}
	for name := range want {
		if name, needed := strings.CutSuffix(name, "!"); needed && value[name] == nil {
			list = append(list, at+" lacks "+name)
		}
	}
	return list
}
