package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// refusal is why a connection does not go on, as the program is told.
type refusal struct {
	Host    string `json:"host"`
	Port    int    `json:"port"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Instead string `json:"instead,omitempty"`
	// Approval is the id of the question to people, where they were asked.
	Approval string `json:"approval,omitempty"`
	status   int    // of the answer by HTTP, where it is not 403
	// judged is what the policies said, where they were asked.
	judged *bailiff.ConnectionJudgement
}

// Error is the sentence.
func (r *refusal) Error() string { return r.Message }

func refuse(c bailiff.Connection, rule, message, instead string) *refusal {
	return &refusal{Host: c.Host, Port: c.Port, Rule: rule, Message: message, Instead: instead}
}

// withTarget is the connection with its destination.
func withTarget(of bailiff.Connection, to reach.Target, protocol, via string) bailiff.Connection {
	_, of.IsAddress = to.Host.Address()
	of.Host, of.Domain, of.Port, of.Protocol, of.Via = to.Host.String(), to.Host.Domain(), int(to.Port), protocol, via
	of.Time = time.Now()
	return of
}

// allow asks the policies about the ways in which a program may speak, and has the first
// that they allow written down, or else the first that people allow. Only where it returns
// no refusal may the destination be resolved.
func (p *Proxy) allow(ctx context.Context, ways ...bailiff.Connection) (bailiff.Connection, terms, *refusal) {
	began := p.standing.began()
	if p.excess != "" {
		return ways[0], terms{}, p.recordRefusal(ctx, ways[0], tooMany(ways[0], p.excess))
	}
	c, judged := weigh(ctx, p.config.Judge, ways)
	v, no := p.settle(ctx, c, judged)
	if no != nil {
		return c, terms{}, p.recordRefusal(ctx, c, no)
	}
	return c, terms{v.Private, v.Limits, []allowance{allowanceOf(c, v)}, began}, p.recordOpening(ctx, c, v)
}

// weigh asks the policies about the ways in which a program may speak. It returns the first
// that they allow, or else the first that they ask about, or else the first.
func weigh(ctx context.Context, judge Judge, ways []bailiff.Connection) (c bailiff.Connection, best bailiff.ConnectionJudgement) {
	for i, one := range ways {
		judged := judge.Connection(ctx, one)
		if one.Protocol == "https" && judged.Outcome != bailiff.Deny && !judged.Intercept {
			one.Intercepted = false
			judged = judge.Connection(ctx, one)
		}
		if judged.Outcome == bailiff.Allow {
			return one, judged
		}
		if i == 0 || judged.Outcome == bailiff.Ask && best.Outcome != bailiff.Ask {
			c, best = one, judged
		}
	}
	return c, best
}

// terms are those on which something is allowed.
type terms struct {
	private bool
	limits  bailiff.ConnectionLimits
	allowed []allowance
	began   int // the turn of standing
}

// verdict is a judgement that lets a connection through, with the approval by which it does.
type verdict struct {
	bailiff.ConnectionJudgement
	approval string
}

// settle comes from a judgement to one that allows, by what people say where it asks.
func (p *Proxy) settle(ctx context.Context, c bailiff.Connection, judged bailiff.ConnectionJudgement) (v verdict, no *refusal) {
	switch v.ConnectionJudgement = judged; judged.Outcome {
	case bailiff.Allow:
		return v, nil
	case bailiff.Ask:
		v, no = p.ask(ctx, c, judged)
	default:
		no = told(c, judged.Denials)
	}
	if no != nil {
		no.judged = &v.ConnectionJudgement
	}
	return v, no
}

// ask has people answer what the policies ask, while the connection waits, and then asks the
// policies once more.
func (p *Proxy) ask(ctx context.Context, c bailiff.Connection, asked bailiff.ConnectionJudgement) (verdict, *refusal) {
	answer, err := p.hear.Ask(ctx, *asked.Approval)
	no := told(c, asked.Approval.Reasons)
	no.Approval = answer.ID
	switch {
	case err != nil:
		no.Message += " " + bailiff.Sentence("People cannot be asked: "+err.Error())
		return verdict{asked, ""}, no
	case answer.State == bailiff.ApprovalPending:
		no.Instead = "Run it again once " + answer.ID + " is approved."
		return verdict{asked, ""}, no
	case answer.State != bailiff.ApprovalApproved:
		no.Message += " " + bailiff.Sentence(cmp.Or(answer.Message, "It was not approved."))
		return verdict{asked, ""}, no
	}
	again := p.config.Judge.Connection(ctx, c)
	switch {
	case again.Outcome == bailiff.Deny:
		return verdict{again, ""}, told(c, again.Denials)
	case again.Outcome == bailiff.Ask && !sameQuestion(*again.Approval, *asked.Approval):
		no.Message = "The policies ask about it for another reason than the one that was approved."
		return verdict{again, ""}, no
	}
	return verdict{again, answer.ID}, nil
}

func sameQuestion(a, b bailiff.ApprovalTerms) bool {
	return slices.EqualFunc(a.Reasons, b.Reasons, func(x, y bailiff.Reason) bool { return x.Rule == y.Rule && x.Match == y.Match })
}

// allowAll asks the policies about each spelling of a request, of which all must be allowed.
func (p *Proxy) allowAll(ctx context.Context, spellings []bailiff.Connection, webSocket bool) (t terms, no *refusal) {
	if c := spellings[0]; p.excess != "" {
		return t, p.recordRefusal(ctx, c, tooMany(c, p.excess))
	}
	t.private, t.began = true, p.standing.began()
	var v verdict
	for _, one := range spellings {
		if v, no = p.settle(ctx, one, p.config.Judge.Connection(ctx, one)); no != nil {
			return t, p.recordRefusal(ctx, one, no)
		}
		if no := webSocketRefusal(one, v.ConnectionJudgement); webSocket && no != nil {
			return t, p.recordRefusal(ctx, one, no)
		}
		t.private, t.limits = t.private && v.Private, tighter(t.limits, v.Limits)
		t.allowed = append(t.allowed, allowanceOf(one, v))
	}
	return t, p.recordOpening(ctx, spellings[len(spellings)-1], v)
}

// recordOpening writes down that a connection is allowed.
func (p *Proxy) recordOpening(ctx context.Context, c bailiff.Connection, v verdict) *refusal {
	e := Event{What: Opened, Connection: c, Judged: &v.ConnectionJudgement, Approval: v.approval}
	if err := p.config.Recorder.Record(ctx, e); err != nil {
		return logRefusal(c)
	}
	return nil
}

func logRefusal(c bailiff.Connection) *refusal {
	return refuse(c, "log.unwritable", "The decision log cannot be written, so nothing leaves.", "Try again later.")
}

// told is the first reason that may be told.
func told(c bailiff.Connection, reasons []bailiff.Reason) *refusal {
	reasons = bailiff.Decision{Denials: reasons}.ForSender().Denials
	if len(reasons) == 0 {
		return refuse(c, "policy.error", "The policies gave no reason.", "")
	}
	return refuse(c, reasons[0].Rule, reasons[0].Message, reasons[0].Instead)
}

// recordRefusal writes a refusal down; the refusal stands whether that succeeds or not.
func (p *Proxy) recordRefusal(ctx context.Context, c bailiff.Connection, no *refusal) *refusal {
	e := Event{What: Refused, Connection: c, Judged: no.judged, Rule: no.Rule, Message: no.Message, Instead: no.Instead,
		Approval: no.Approval}
	if err := p.config.Recorder.Record(ctx, e); err != nil {
		return logRefusal(c)
	}
	return no
}

// destination is an allowed host with its addresses, which were resolved once and checked.
type destination struct {
	proxy     *Proxy
	to        reach.Target
	c         bailiff.Connection
	addresses []netip.Addr
	private   atomic.Bool // as it was judged last
}

// locate resolves what was allowed, once, and checks every address.
func (p *Proxy) locate(ctx context.Context, to reach.Target, c bailiff.Connection, private bool) (*destination, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	addresses, err := p.resolve(ctx, to.Host)
	d := &destination{proxy: p, to: to, c: c, addresses: addresses}
	if err == nil {
		err = d.check(private)
	}
	if err != nil {
		return nil, p.recordRefusal(ctx, c, failure(c, err))
	}
	return d, nil
}

// check refuses addresses that may not be reached by what was judged now.
func (d *destination) check(private bool) error {
	d.private.Store(private)
	return d.proxy.config.Floor.CheckAll(d.addresses, d.to.Port, private)
}

// dial connects to an address that was checked.
func (d *destination) dial(ctx context.Context) (conn net.Conn, err error) {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	check := func(told netip.AddrPort) error { return d.proxy.config.Floor.Check(told, d.private.Load()) }
	for _, address := range d.addresses {
		if conn, err = d.proxy.config.Dialer.Dial(ctx, netip.AddrPortFrom(address, d.to.Port), check); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func (p *Proxy) resolve(ctx context.Context, host reach.Host) ([]netip.Addr, error) {
	if address, ok := host.Address(); ok {
		return []netip.Addr{address}, nil
	}
	found, err := p.config.Resolver.LookupNetIP(ctx, "ip", host.String()+".") // the dot keeps search domains out
	if err == nil && len(found) == 0 {
		err = errors.New("the name has no address")
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found, err
}

// The rules of refusals that come from no policy.
const (
	ruleAddress     = "floor.address"
	ruleName        = "floor.name"
	ruleUnreachable = "egress.unreachable"
	ruleUnverified  = "egress.unverified"
	ruleOpaque      = "egress.opaque"
	ruleMismatch    = "egress.host_mismatch"
	ruleAmbiguous   = "egress.ambiguous"
	ruleRequest     = "egress.not_this_request"
	ruleStray       = "egress.stray_secret"
	ruleTooMany     = "egress.too_many"
	ruleTooLarge    = "egress.too_large"
	ruleTooMuch     = "egress.too_much"
	ruleMalformed   = "egress.malformed"
	ruleUnsearched  = "egress.unsearched"
)

// failure says no more of an address than that it is forbidden: what a name of the inner
// network stands for is no business of a sandbox.
func failure(c bailiff.Connection, err error) *refusal {
	if errors.Is(err, reach.ErrFloor) {
		return refuse(c, ruleAddress, "The host stands for an address that no sandbox may reach.", "Use another host.")
	}
	if errors.Is(err, errEncoded) || errors.Is(err, errDivided) {
		return refuse(c, ruleUnsearched, bailiff.Sentence(err.Error()), "Ask for the whole of it, without an encoding.")
	}
	var unverified *tls.CertificateVerificationError
	if errors.As(err, &unverified) {
		return refuse(c, ruleUnverified, "The host has no certificate that is trusted for its name.",
			"Have an operator add the authority to egress.trust.")
	}
	return refuse(c, ruleUnreachable, "The host cannot be reached.", "Check the name, or try again later.")
}

// NetDialer dials by the kernel.
type NetDialer struct{}

// Dial connects, and asks check about the address that the kernel is told.
func (NetDialer) Dial(ctx context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (net.Conn, error) {
	dialer := net.Dialer{Timeout: stepTime, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		told, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("reading the address to dial: %w", err)
		}
		return check(told)
	}}
	return dialer.DialContext(ctx, "tcp", to.String())
}
