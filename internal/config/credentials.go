package config

import (
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// credential reads where a secret is, never the secret. What stands there instead may
// be the secret itself, so that no fault repeats it.
func (r *reader) credential(into *settings.Credential, at place) {
	if at.describe(describeCredential) {
		return
	}
	kept, value := only(at.node)
	text, _ := value.(*ast.StringNode)
	switch {
	case kept == "env" && text != nil && variableShape.MatchString(text.Value):
		*into = settings.Credential{Env: text.Value}
	case kept == "env":
		r.fault(at, "want the name of a variable in capital letters, digits and _, as in {env: API_KEY}, not the secret itself")
	case kept == "file" && text != nil && text.Value != "":
		r.credentialFile(into, at, text)
	default:
		r.fault(at, "want {env: NAME} or {file: PATH}, which say where the secret is kept, not the secret itself")
	}
}

// variableShape is narrower than what can be a variable: keys have small letters.
var variableShape = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,99}$`)

func (r *reader) credentialFile(into *settings.Credential, at place, value ast.Node) {
	before := len(r.faults)
	path, ok := r.path(place{at.key, value})
	if !ok {
		r.faults = r.faults[:before]
		r.fault(at, "want the path of a file that holds the secret: absolute, relative to this one's folder, or ~/ and a path, "+
			"without variables")
		return
	}
	*into = settings.Credential{File: path}
}

// only is the one key of a mapping that has no other, with its value.
func only(node ast.Node) (key string, value ast.Node) {
	m, ok := node.(ast.MapNode)
	if !ok {
		return "", nil
	}
	for it := m.MapRange(); it.Next(); {
		if key != "" {
			return "", nil
		}
		key, value = it.Key().GetToken().Value, it.Value()
	}
	return key, value
}

// Credentials are the variables that hold the sidecar's own credentials.
func (c *Config) Credentials() (variables []string) {
	for _, list := range c.sections() {
		variables = append(variables, credentials(list)...)
	}
	return variables
}

func credentials(list []settings.Setting) (variables []string) {
	for _, s := range list {
		switch into := s.Into.(type) {
		case []settings.Setting:
			variables = append(variables, credentials(into)...)
		case *settings.Credential:
			if into.Env != "" {
				variables = append(variables, into.Env)
			}
		}
	}
	return variables
}

// ReadToken reads the bearer token of a TCP listener; without a path it is empty.
func ReadToken(path string) (bailiff.Secret, error) {
	if path == "" {
		return bailiff.Secret{}, nil
	}
	token, err := trust.Token(path)
	if err != nil {
		return bailiff.Secret{}, fmt.Errorf("reading the token: %w", err)
	}
	return bailiff.NewSecret(token), nil
}
