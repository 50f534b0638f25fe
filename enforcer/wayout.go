package enforcer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// WayOut serves the connections of sandboxes that leave by the sidecar alone.
type WayOut interface {
	// Serve serves a connection to its end on behalf of a request, puts in the values of its
	// variables that are swapped, and tells what becomes of it.
	Serve(ctx context.Context, conn net.Conn, of bailiff.Connection, swapped []bailiff.Swapped, hear bailiff.ConnectionHearer)
	// Trust is the certificate that programs in a sandbox are to trust, and those besides it
	// where the sandbox has none of its own, in PEM.
	Trust(sandbox string) (certificate, others []byte, err error)
	// Names says whether programs that know no proxy look names up, and LookUp answers their queries
	// on behalf of a request.
	Names() bool
	LookUp(ctx context.Context, query []byte, of bailiff.Connection, hear bailiff.ConnectionHearer) backends.Name
}

var errNoWay = errors.New("this sidecar gives sandboxes no way out")

// maxBlocked is how many refusals an answer names.
const maxBlocked = 20

// traffic is what becomes of the connections of one request. It is safe for concurrent use.
type traffic struct {
	questions
	reach    []string // what the request may reach at most
	names    bool     // names are looked up in the sandbox
	noNames  string   // why they are not, where they were to be
	mu       sync.Mutex
	blocked  []bailiff.Blocked
	sentTo   map[string]int64 // by host
	sent     int64
	received int64
}

// Refused notes a refusal, and tells of it; the same one again is counted.
func (t *traffic) Refused(b bailiff.Blocked) {
	if t.isNew(&b) {
		t.news(bailiff.Progress{Blocked: &b})
	}
}

// isNew notes a refusal, and says whether it is named in the answer for the first time.
func (t *traffic) isNew(b *bailiff.Blocked) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, known := range t.blocked {
		if known.Host == b.Host && known.Port == b.Port && known.Rule == b.Rule && known.Method == b.Method &&
			known.Approval == b.Approval {
			t.blocked[i].Count++
			return false
		}
	}
	b.Count = 1
	if len(t.blocked) == maxBlocked {
		return false
	}
	t.blocked = append(t.blocked, *b)
	return true
}

// Closed notes the end of a connection that was open.
func (t *traffic) Closed(host string, sent, received int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sentTo == nil {
		t.sentTo = map[string]int64{}
	}
	t.sentTo[host] += sent
	t.sent, t.received = t.sent+sent, t.received+received
}

func (t *traffic) tell(a *bailiff.Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.Egress = &bailiff.EgressTraffic{Blocked: slices.Clone(t.blocked), Hosts: len(t.sentTo), Sent: t.sent, Received: t.received,
		SentTo: maps.Clone(t.sentTo)}
	if a.ExitCode != 0 && !t.names && lookedUp(a.Output) {
		a.Note("Names are not looked up in the sandbox: have the program connect by the proxy that $HTTPS_PROXY names, which looks " +
			"them up." + t.because())
	}
	if len(t.blocked) > 0 {
		a.Note(append([]string{"Refused on the way out: " + strings.Join(t.refusals(), ", ") + "."}, t.advice()...)...)
	}
}

// because says why no names are looked up, where it is not for the configuration.
func (t *traffic) because() string {
	if t.noNames == "" {
		return ""
	}
	return " " + bailiff.Sentence("They cannot be: "+t.noNames)
}

// unresolved is what programs say that look a name up by themselves, in small letters.
var unresolved = []string{"name resolution", "could not resolve", "eai_again", "enotfound", "name or service not known", "no such host",
	"unknownhostexception", "could not translate host name", "failed to lookup address", "nodename nor servname", "unable to resolve host"}

// lookedUp says whether a program seems to have looked a name up without the proxy.
func lookedUp(output []byte) bool {
	said := bytes.ToLower(output)
	return slices.ContainsFunc(unresolved, func(words string) bool { return bytes.Contains(said, []byte(words)) })
}

// refusals are the destinations that were refused, each once for each rule, with the methods where there are several.
func (t *traffic) refusals() (said []string) {
	type reason struct{ destination, rule string }
	var order []reason
	times, methods := map[reason]int{}, map[reason][]string{}
	for _, b := range t.blocked {
		one := reason{destination(b), b.Rule}
		if times[one] == 0 {
			order = append(order, one)
		}
		if times[one] += b.Count; b.Method != "" && !slices.Contains(methods[one], b.Method) {
			methods[one] = append(methods[one], b.Method)
		}
	}
	for _, one := range order {
		by := ""
		if len(methods[one]) > 1 {
			by = ": " + strings.Join(methods[one], ", ")
		}
		said = append(said, fmt.Sprintf("%s (%s, %s%s)", one.destination, one.rule, often(times[one]), by))
	}
	return said
}

// maxReasons is how many reasons of refusals a message says, maxReach how many destinations
// it names that may be reached.
const (
	maxReasons = 4
	maxReach   = 16
)

// advice is why connections were refused, what to do instead, and what may be reached. t.mu
// is held.
func (t *traffic) advice() []string {
	var why, instead []string
	for _, b := range t.blocked {
		why, instead = another(why, b.Message), another(instead, b.Instead)
	}
	if len(instead) > 0 {
		why = append(why, "Instead: "+strings.Join(instead, " "))
	}
	reach := t.reach[:min(len(t.reach), maxReach)]
	if len(reach) > 0 {
		why = append(why, "This request may reach "+strings.Join(reach, ", ")+".")
	}
	return why
}

// another adds a sentence that is not among those so far.
func another(said []string, text string) []string {
	if text = bailiff.Sentence(text); text == "" || len(said) == maxReasons || slices.Contains(said, text) {
		return said
	}
	return append(said, text)
}

// destination is where a connection was to lead, as far as it could be read.
func destination(b bailiff.Blocked) string {
	switch {
	case b.Host == "":
		return "a connection that names no host"
	case b.Port == 0:
		return b.Host
	}
	return fmt.Sprintf("%s:%d", b.Host, b.Port)
}

func often(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// wayOf is the way out of one command, script or process, with what becomes of its connections.
type wayOf struct {
	*lease.Way // nil where the network is not egress: then there is nothing to end or to tell
	traffic
	// offline says that there is no network.
	offline bool
}

// openWay gives what a grant runs its way out, until ctx or the way ends, if its network is egress.
func (e *Enforcer) openWay(ctx context.Context, g grant) (*wayOf, error) {
	if g.Decision.Backend.Network != backends.Egress {
		return &wayOf{offline: g.Decision.Backend.Network == backends.None}, nil
	}
	if e.config.WayOut == nil {
		return nil, errNoWay
	}
	of := e.connectionOf(g, g.held.ID())
	w, swapped := &wayOf{traffic: traffic{questions: e.questionsOf(g), reach: g.Decision.Backend.Egress}}, g.swapped
	served := lease.Served{Trust: e.config.WayOut.Trust, Conn: func(ctx context.Context, conn net.Conn) {
		e.config.WayOut.Serve(ctx, conn, of, swapped, &w.traffic)
	}, Names: e.config.WayOut.Names(), LookUp: func(ctx context.Context, query []byte) backends.Name {
		return e.config.WayOut.LookUp(ctx, query, of, &w.traffic)
	}}
	way, err := g.held.Way(ctx, served)
	if err == nil {
		w.names, w.noNames = served.Names && way.Facts().Names, way.Facts().NoNames
	}
	w.Way = way
	return w, err
}

// connectionOf is a connection on behalf of a grant, as far as it is known before it is made.
func (*Enforcer) connectionOf(g grant, sandbox string) bailiff.Connection {
	return bailiff.Connection{Caller: g.located.Caller, Session: g.located.Session, Backend: g.Decision.Backend.Name, Sandbox: sandbox,
		For: bailiff.ConnectionRequest{DecisionID: g.event.DecisionID, Tool: g.located.Tool, Egress: g.Decision.Backend.Egress,
			Approved: g.vouchedFor()}}
}

// vouchedFor is what people were asked about before the request ran, and approved.
func (m *judged) vouchedFor() []bailiff.Reason {
	if m.approval == nil || m.approval.State != bailiff.ApprovalApproved || m.Decision.Approval == nil {
		return nil
	}
	return m.Decision.Approval.Reasons
}

// variables are an environment with those by which programs find the way out, or give up where there is none. What the
// policies set comes before the latter.
func (w *wayOf) variables(env map[string]bailiff.Secret) map[string]bailiff.Secret {
	if w.offline {
		all := offlineVariables()
		maps.Copy(all, env)
		return all
	}
	if w.Way == nil {
		return env
	}
	env = maps.Clone(env)
	maps.Copy(env, proxyVariables(w.Proxy()))
	maps.Copy(env, trustVariables(w.Facts()))
	return env
}

// End cuts the connections.
func (w *wayOf) End() {
	if w.Way != nil {
		w.Way.End()
	}
}

// Tell puts what became of the connections into an answer.
func (w *wayOf) Tell(a *bailiff.Answer) {
	if w.Way != nil {
		w.traffic.tell(a)
	}
}

// end does both.
func (w *wayOf) end(a *answer) {
	w.End()
	w.Tell(&a.Answer)
}

// proxyVariables are those by which programs find a proxy, in both spellings.
func proxyVariables(proxy string) map[string]bailiff.Secret {
	vars := map[string]bailiff.Secret{"NODE_USE_ENV_PROXY": bailiff.NewSecret("1")}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY"} {
		vars[name], vars[strings.ToLower(name)] = bailiff.NewSecret(proxy), bailiff.NewSecret(proxy)
	}
	const here = "localhost,127.0.0.1,::1"
	vars["NO_PROXY"], vars["no_proxy"] = bailiff.NewSecret(here), bailiff.NewSecret(here)
	return vars
}

// oneAttempt are the variables by which programs that fetch packages are told how often to try again.
var oneAttempt = []string{"BUNDLE_RETRY", "CARGO_NET_RETRY", "PIP_RETRIES", "UV_HTTP_RETRIES", "npm_config_fetch_retries"}

// offlineVariables have such programs fail at once where no host can be reached: npm waits for more than a minute otherwise.
func offlineVariables() map[string]bailiff.Secret {
	vars := map[string]bailiff.Secret{}
	for _, name := range oneAttempt {
		vars[name] = bailiff.NewSecret("0")
	}
	return vars
}

// bundleVariables are those by which programs find the certificates that they trust.
var bundleVariables = []string{
	"AWS_CA_BUNDLE",
	"CARGO_HTTP_CAINFO",
	"CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
	"CURL_CA_BUNDLE",
	"DENO_CERT",
	"GIT_SSL_CAINFO",
	"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
	"HTTPLIB2_CA_CERTS",
	"NIX_SSL_CERT_FILE",
	"PIP_CERT",
	"REQUESTS_CA_BUNDLE",
	"SSL_CERT_FILE",
	"npm_config_cafile",
}

// trustVariables have programs trust the sandbox's authority, where there is one. Node adds
// the one certificate to those that it has.
func trustVariables(facts backends.OutletFacts) map[string]bailiff.Secret {
	vars := map[string]bailiff.Secret{}
	if facts.Bundle != "" {
		for _, name := range bundleVariables {
			vars[name] = bailiff.NewSecret(facts.Bundle)
		}
	}
	if facts.CAFile != "" {
		vars["NODE_EXTRA_CA_CERTS"] = bailiff.NewSecret(facts.CAFile)
	}
	return vars
}
