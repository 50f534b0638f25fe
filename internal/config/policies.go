package config

import (
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
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
	httpapi.Server
	Poll time.Duration
	Key  BundleKey
}

// BundleKey is what a bundle must be signed by; without a file it must not be signed.
type BundleKey struct{ File, Algorithm, Scope string }

// isKey says what is wrong with its file, which holds a secret if the side that checks by it
// could sign by it too.
func (k BundleKey) isKey(path string) error {
	if strings.HasPrefix(k.Algorithm, "HS") {
		return settings.IsKey(path)
	}
	return settings.IsPublic(path)
}

// algorithms are those by which OPA signs bundles.
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "HS256", "HS384", "HS512"}

// Settings are the keys of policies.bundle.
func (b *PolicyBundle) Settings() []settings.Setting {
	return append(b.Server.Settings(),
		settings.Setting{Key: "poll", Into: &b.Poll, Least: 1, Most: 24 * 60 * 60},
		settings.Setting{Key: "key", Into: []settings.Setting{
			{Key: "file", Into: &b.Key.File, Path: true, Present: b.Key.isKey},
			{Key: "algorithm", Into: &b.Key.Algorithm, Valid: algorithms},
			{Key: "scope", Into: &b.Key.Scope},
		}},
	)
}

func (r *reader) policyPaths(p *Policies, at place) {
	before := len(r.faults)
	r.each(&p.Paths, r.path)(at)
	if len(p.Paths) == 0 && len(r.faults) == before {
		r.fault(at, "names no policies, want a folder, a file or a bundle; the embedded policies are for who leaves paths out")
	}
}

func (r *reader) policies(p *Policies, at place) {
	r.section(at, fields{
		"paths":         func(at place) { r.policyPaths(p, at) },
		"shadow":        r.each(&p.Shadow, r.path),
		"bundle":        func(at place) { r.policyBundle(p, at) },
		"require_tests": r.boolean(&p.RequireTests),
		"eval_timeout":  r.duration(&p.EvalTimeout, time.Millisecond, 10*time.Second),
	})
}

func (r *reader) policyBundle(p *Policies, at place) {
	b := &PolicyBundle{Poll: 30 * time.Second, Key: BundleKey{Algorithm: "RS256"}}
	sound := r.server(&b.Server, b.Settings(), at, "where the bundle is, as in https://policies.example.com/chat.tar.gz")
	if _, signed := r.places[under(at.key, "key")]; sound && signed && b.Key.File == "" {
		r.fault(at, "key.file is missing: say where the key is that bundles must be signed by")
	}
	p.Bundle = b
	r.whole = append(r.whole, func() {
		if len(p.Paths) > 0 {
			r.fault(at, "is in the place of policies.paths, want only one of them")
		}
	})
}
