package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Item is an approval as memory holds it: shortened, never changed, replaced as
// a whole.
type Item struct {
	// Seq is its place in the order of creation.
	Seq   uint64 `json:"seq"`
	Entry Entry  `json:"entry"`
	// Pairs are the hashes of what was asked for, one for each reason; the texts
	// themselves may have been scrubbed.
	Pairs []string `json:"pairs"`
	// GrantFor is how long a grant is to last.
	GrantFor time.Duration `json:"grant_ns"`
	// Version counts its changes in a store that others write too, from one; else it is zero.
	Version int64 `json:"-"`
}

// same says whether an item is still as it was.
func (i *Item) same(was *Item) bool { return i == was || i.Version > 0 && i.Version == was.Version }

// Pending says whether an approval can be answered still.
func (i *Item) Pending() bool { return i.Entry.State == bailiff.ApprovalPending }

func (i *Item) copy() *Item {
	c := *i
	c.Entry.Votes = slices.Clone(i.Entry.Votes)
	return &c
}

// Held is a grant with what it covers, as hashes.
type Held struct {
	Grant Grant    `json:"grant"`
	Pairs []string `json:"pairs,omitempty"`
	// Rules are of a grant of a pattern, in place of pairs.
	Rules []string `json:"rules,omitempty"`
	// DecisionID is of the claim that was approved.
	DecisionID string `json:"decision_id"`
	// Version counts its changes as that of an item does.
	Version int64 `json:"-"`
}

func (h *Held) live(now time.Time) bool {
	return h.Grant.Expires.IsZero() || now.Before(h.Grant.Expires)
}

// Owner is whose requests a grant of several pairs covers; session is empty for
// every session of the user, agent for the session's own.
type Owner struct{ caller, peer, platform, user, session, agent string }

// Names are the parts of what stands for an owner; an agent is one only where there is one.
func (o Owner) Names() []string {
	names := []string{o.caller, o.peer, o.platform, o.user, o.session}
	if o.agent != "" {
		names = append(names, o.agent)
	}
	return names
}

// Owner is whose requests a grant covers.
func (h *Held) Owner() Owner {
	return Owner{h.Grant.Caller, h.Grant.Peer, h.Grant.Platform, h.Grant.User, h.Grant.Session, h.Grant.Agent}
}

// holds says whether a grant is in force for what goes to people that way now.
func (h *Held) holds(way *way, now time.Time) bool {
	return h.live(now) && way != nil && h.Grant.Route == way.route && h.Grant.Quorum >= way.quorum &&
		(way.proof == "" || way.proof == h.Grant.Proof)
}

// extends says whether a grant that is wider than once is for such claims,
// whatever the pairs are.
func (h *Held) extends(w Wanted) bool {
	g := &h.Grant
	return g.Tool == w.tool && g.Backend == w.backend && slices.Contains(w.lasting, g.Scope) && h.reaches(w) &&
		!slices.ContainsFunc(w.env, func(name string) bool { return !h.lets(name, w.swap) })
}

// reaches says whether a grant is for the agent that asks: its own is, and that of an agent above it where the policies said so when
// it was given and say so now.
func (h *Held) reaches(w Wanted) bool {
	return h.Grant.Agent == w.session.Agent.ID || h.Grant.CoversAgents && w.coversAgents
}

// lets says whether a variable may enter: where people were asked about a stand-in, as a
// stand-in only, whose value goes to no other host and in no other place.
func (h *Held) lets(name string, swap []bailiff.Swap) bool {
	named := func(s bailiff.Swap) bool { return s.Name == name }
	granted := slices.IndexFunc(h.Grant.Swap, named)
	if granted < 0 {
		return slices.Contains(h.Grant.Env, name)
	}
	now := slices.IndexFunc(swap, named)
	return now >= 0 && isWithin(swap[now].Hosts, h.Grant.Swap[granted].Hosts) && isWithin(swap[now].In, h.Grant.Swap[granted].In)
}

func isWithin(some, all []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// Wanted is what a grant must cover for a claim to be covered.
type Wanted struct {
	digest  string
	session bailiff.Session
	caller  string
	peer    string
	tool    bailiff.Tool
	backend string
	env     []string
	swap    []bailiff.Swap
	pairs   []string
	// rules are of the pairs, call is nil where no pattern may cover it, by the policies of
	// revision.
	rules    []string
	call     []string
	revision string
	// whole says that every reason names its part of the request, and that the content of
	// every file stands that the text may depend on.
	whole bool
	// offered are the scopes that may be granted now, lasting those that a grant may have which covers it.
	offered, lasting []string
	// coversAgents says that grants of the agents above may cover it.
	coversAgents bool
	// way is nil while it is not known, or leads to no approver: then nothing covers it.
	way *way
}

// way is how a claim goes to people.
type way struct {
	route  string
	quorum int
	proof  string
}

// Want is what grants must cover for a claim; it goes to people no way yet.
func Want(c bailiff.Claim) Wanted {
	pairs := c.Pairs()
	w := Wanted{
		digest: c.Digest(), session: c.Request.Session, caller: c.Request.Caller, peer: c.Request.Peer, tool: c.Request.Tool,
		backend: c.Decision.Backend.Name, env: c.Decision.Env.Forward, swap: c.Decision.Env.Swap,
		pairs: make([]string, len(pairs)), whole: len(pairs) > 0 && len(c.Unbound) == 0,
	}
	w.rules, w.revision = ruleKeys(pairs), c.Decision.Revision
	if patterned(c) {
		w.call = c.Call
	}
	for i, p := range pairs {
		w.pairs[i] = pairKey(p)
		w.whole = w.whole && p.Match != ""
	}
	w.lasting = w.scopes(c.Decision.Approval)
	w.offered = w.forAgent(w.lasting)
	w.coversAgents = c.Decision.Approval != nil && c.Decision.Approval.CoversAgents
	return w
}

// By is what is wanted of a claim that goes to people by a plan.
func (w Wanted) By(p api.Plan, terms *bailiff.ApprovalTerms) Wanted {
	w.way = &way{p.Route, max(1, p.Quorum), p.Proof}
	if terms != nil {
		w.way.quorum = max(w.way.quorum, terms.Quorum)
	}
	return w
}

func pairKey(p bailiff.Pair) string {
	h := sha256.New()
	for _, part := range []string{p.Rule, p.Match, p.Context} {
		_, _ = io.WriteString(h, strconv.Itoa(len(part))+" "+part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Holder is whose pending approvals are counted.
type Holder struct{ Kind, a, b string }

// Names are the parts of what stands for a holder.
func (h Holder) Names() []string { return []string{h.Kind, h.a, h.b} }

// Holders are those for whom an approval counts: caller, session and user.
func Holders(e *Entry) []Holder {
	s := e.Request.Session
	return []Holder{{"caller", e.Caller, ""}, {"session", e.Caller, s.ID}, {"user", s.Platform, s.UserID}}
}

type freezeKey struct{ kind, id string }

// State is everything that the book knows, with its indexes.
type State struct {
	items    map[string]*Item
	order    []*Item          // by creation
	resolved []*Item          // by the time they were
	pending  map[string]*Item // by digest
	counts   map[Holder]int   // of pending ones
	grants   map[string]*Held
	once     map[string]*Held // by digest
	owned    map[Owner][]*Held
	freezes  map[freezeKey]Freeze
	seq      uint64
	// part is what is here of the whole; nil is all of it.
	part *Need
}

// New is an empty state.
func New() *State {
	return &State{
		items: map[string]*Item{}, pending: map[string]*Item{}, counts: map[Holder]int{},
		grants: map[string]*Held{}, once: map[string]*Held{}, owned: map[Owner][]*Held{}, freezes: map[freezeKey]Freeze{},
	}
}

// Apply makes a step part of the state.
func (s *State) Apply(t Step) {
	for _, i := range t.Items {
		s.putItem(i)
	}
	for _, i := range t.Pruned {
		s.dropItem(i)
	}
	for _, h := range t.Grants {
		s.dropGrant(h.Grant.ID)
		s.putGrant(h)
	}
	for _, h := range t.Ended {
		s.dropGrant(h.Grant.ID)
	}
	for _, f := range t.Frozen {
		s.freezes[freezeKey{f.Kind, f.ID}] = f
	}
	for _, f := range t.Thawed {
		delete(s.freezes, freezeKey{f.Kind, f.ID})
	}
}

func (s *State) putItem(i *Item) {
	e := &i.Entry
	before, known := s.items[e.ID]
	s.items[e.ID] = i
	if known {
		at, _ := s.find(i.Seq)
		s.order[at] = i
	} else {
		at, _ := s.find(i.Seq) // the last, unless others open approvals too
		s.order = slices.Insert(s.order, at, i)
		s.seq = max(s.seq, i.Seq)
	}
	switch was := known && before.Pending(); {
	case i.Pending():
		s.pending[e.Digest] = i
		if !was {
			s.count(e, 1)
		}
	case was:
		delete(s.pending, e.Digest)
		s.count(e, -1)
		s.resolved = append(s.resolved, i)
	case known:
		s.resolved[slices.Index(s.resolved, before)] = i
	default:
		s.resolved = append(s.resolved, i)
	}
}

func (s *State) count(e *Entry, n int) {
	for _, h := range Holders(e) {
		if s.counts[h] += n; s.counts[h] == 0 {
			delete(s.counts, h)
		}
	}
}

// PendingInOrder are the pending items, the oldest first.
func (s *State) PendingInOrder() []*Item {
	s.looks(func(n *Need) bool { return n.Pending || n.Ended }, "all that is pending")
	return slices.SortedFunc(maps.Values(s.pending), func(x, y *Item) int { return cmp.Compare(x.Seq, y.Seq) })
}

// find returns where the item of that number is, or would be.
func (s *State) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(s.order, seq, func(i *Item, seq uint64) int { return cmp.Compare(i.Seq, seq) })
}

// dropItem forgets a resolved item; the oldest go first.
func (s *State) dropItem(i *Item) {
	if s.pending[i.Entry.Digest] == i { // how it ended was not seen
		delete(s.pending, i.Entry.Digest)
		s.count(&i.Entry, -1)
	}
	delete(s.items, i.Entry.ID)
	if at, found := s.find(i.Seq); found {
		s.order = slices.Delete(s.order, at, at+1)
	}
	if at := slices.IndexFunc(s.resolved, func(r *Item) bool { return r.Seq == i.Seq }); at >= 0 {
		s.resolved = slices.Delete(s.resolved, at, at+1)
	}
}

func (s *State) putGrant(h *Held) {
	s.grants[h.Grant.ID] = h
	if h.Grant.Scope == bailiff.ScopeOnce {
		s.once[h.Grant.Digest] = h
		return
	}
	s.owned[h.Owner()] = append(s.owned[h.Owner()], h)
}

func (s *State) dropGrant(id string) {
	h, known := s.grants[id]
	if !known {
		return
	}
	delete(s.grants, id)
	if h.Grant.Scope == bailiff.ScopeOnce {
		if s.once[h.Grant.Digest] == h {
			delete(s.once, h.Grant.Digest)
		}
		return
	}
	rest := slices.DeleteFunc(s.owned[h.Owner()], func(o *Held) bool { return o == h })
	if len(rest) == 0 {
		delete(s.owned, h.Owner())
	} else {
		s.owned[h.Owner()] = rest
	}
}

// Cover returns live grants that together cover what is wanted, or none.
func (s *State) Cover(w Wanted, now time.Time) []*Held {
	if _, frozen := s.Frozen(w.session); frozen {
		return nil
	}
	if h := s.onceOf(w.digest); h != nil && h.holds(w.way, now) {
		return []*Held{h}
	}
	if !w.whole {
		return nil
	}
	return s.union(w, now)
}

// owners are whose grants a claim may use: those of the agent that asks, and of those above it.
func (w Wanted) owners() []Owner {
	own := Owner{w.caller, w.peer, w.session.Platform, w.session.UserID, w.session.ID, ""}
	everywhere := own
	everywhere.session = ""
	all := []Owner{own, everywhere}
	if !w.coversAgents && w.session.Agent.IsSub() {
		all = nil
	}
	for _, agent := range []string{w.session.Agent.ID, w.session.Agent.Parent} {
		if of := own; agent != "" && (w.coversAgents || agent == w.session.Agent.ID) {
			of.agent = agent
			all = append(all, of)
		}
	}
	return all
}

// Any says whether there is a grant at all that might cover what is wanted.
func (s *State) Any(w Wanted) bool {
	return s.once[w.digest] != nil || slices.ContainsFunc(w.owners(), func(o Owner) bool { return len(s.owned[o]) > 0 })
}

// union collects grants until every pair is covered.
func (s *State) union(w Wanted, now time.Time) []*Held {
	var covering []*Held
	missing := make([]int, len(w.pairs))
	for i := range missing {
		missing[i] = i
	}
	for _, o := range w.owners() {
		for _, h := range s.ownedBy(o) {
			if !h.holds(w.way, now) || !h.extends(w) {
				continue
			}
			rest := slices.DeleteFunc(slices.Clone(missing), func(reason int) bool { return h.has(w, reason) })
			if len(rest) < len(missing) {
				covering, missing = append(covering, h), rest
			}
			if len(missing) == 0 {
				return covering
			}
		}
	}
	return nil
}

// Frozen is the freeze that stops a session, if there is one.
func (s *State) Frozen(session bailiff.Session) (Freeze, bool) {
	for _, key := range []freezeKey{
		{api.FreezeAll, ""}, {api.FreezeSession, session.ID}, {api.FreezeUser, session.UserID},
		{api.FreezeUser, session.Platform + ":" + session.UserID},
	} {
		if f, found := s.freezes[key]; found {
			return f, true
		}
	}
	return Freeze{}, false
}

// stops says whether a freeze is for that session of that user.
func (f Freeze) stops(session, platform, user string) bool {
	return api.Freeze(f).Stops(session, platform, user)
}

// isUser says whether an operator means that user by "user" or "platform:user".
func isUser(id, platform, user string) bool { return id == user || id == platform+":"+user }
