package config

import (
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/httpapi"
)

// Policies says which policies are in force. No paths and no bundle mean the embedded
// ones.
type Policies struct {
	Paths []string
	// Bundle is in the place of paths; nil if there is none.
	Bundle       *PolicyBundle
	RequireTests bool
	EvalTimeout  time.Duration
	// Shadow are judged by too, and nothing is enforced by them.
	Shadow []string
}

// PolicyBundle is where a server has policies as a bundle of OPA's.
type PolicyBundle struct {
	URL string
	// Token is where the token for the server is kept, if it wants one.
	Token backends.Credential
	Poll  time.Duration
	// CAFile holds the certificates of who may vouch for the server; empty means those
	// of this machine.
	CAFile string
	Key    BundleKey
}

// BundleKey is what a bundle must be signed by; without a file it must not be signed.
type BundleKey struct{ File, Algorithm, Scope string }

// isKey says what is wrong with its file, which holds a secret if whoever checks by it
// could sign by it too.
func (k BundleKey) isKey(path string) error {
	if strings.HasPrefix(k.Algorithm, "HS") {
		return backends.IsKey(path)
	}
	return backends.IsPublic(path)
}

// algorithms are those by which OPA signs bundles.
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "HS256", "HS384", "HS512"}

func (b *PolicyBundle) settings() []backends.Setting {
	return []backends.Setting{
		{Key: "url", Into: &b.URL, Check: httpapi.CheckAddress},
		{Key: "token", Into: &b.Token},
		{Key: "poll", Into: &b.Poll, Least: 1, Most: 24 * 60 * 60},
		{Key: "ca_file", Into: &b.CAFile, Path: true, Present: httpapi.IsRoots},
		{Key: "key", Into: []backends.Setting{
			{Key: "file", Into: &b.Key.File, Path: true, Present: b.Key.isKey},
			{Key: "algorithm", Into: &b.Key.Algorithm, Valid: algorithms},
			{Key: "scope", Into: &b.Key.Scope},
		}},
	}
}

func (r *reader) policies(p *Policies, at place) {
	r.section(at, fields{
		"paths":         r.each(&p.Paths, r.path),
		"shadow":        r.each(&p.Shadow, r.path),
		"bundle":        func(at place) { r.policyBundle(p, at) },
		"require_tests": r.boolean(&p.RequireTests),
		"eval_timeout":  r.duration(&p.EvalTimeout, time.Millisecond, 10*time.Second),
	})
}

func (r *reader) policyBundle(p *Policies, at place) {
	b := &PolicyBundle{Poll: 30 * time.Second, Key: BundleKey{Algorithm: "RS256"}}
	before := len(r.faults)
	r.settings(b.settings(), at)
	_, signed := r.places[under(at.key, "key")]
	switch {
	case len(r.faults) > before:
	case b.URL == "":
		r.fault(at, "url is missing: say where the bundle is, as in https://policies.example.com/chat.tar.gz")
	case signed && b.Key.File == "":
		r.fault(at, "key.file is missing: say where the key is that bundles must be signed by")
	}
	p.Bundle = b
	r.whole = append(r.whole, func() {
		if len(p.Paths) > 0 {
			r.fault(at, "is in the place of policies.paths, want only one of them")
		}
	})
}
