// Package names answers the queries of DNS that programs in a sandbox write, and knows which
// address of loopback stands for which name there.
//
// Promised: nothing is asked of any name server. An address stands for one name, and for the same
// one each time it is looked up; the names that were used longest ago are forgotten where there are
// many, and their addresses stand for nothing then. A query that cannot be read is answered with a
// fault, or not at all.
//
// Not here: which names there are, which the policies say.
package names

import (
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// lasting is for how many seconds a program may remember an answer.
const lasting = 30

// Query is a question about a name. The zero value is none.
type Query struct {
	head     dnsmessage.Header
	question []dnsmessage.Question
}

// Read parses a query. ok is false if the text deserves no answer; fault, if set, answers a query that cannot be read.
func Read(text []byte) (q Query, fault []byte, ok bool) {
	var parser dnsmessage.Parser
	head, err := parser.Start(text)
	if err != nil || head.Response {
		return q, nil, false
	}
	q.head = dnsmessage.Header{ID: head.ID, Response: true, OpCode: head.OpCode, RecursionDesired: head.RecursionDesired,
		RecursionAvailable: true}
	if head.OpCode != 0 {
		return q, q.reply(dnsmessage.RCodeNotImplemented), true
	}
	questions, err := parser.AllQuestions()
	if err != nil || len(questions) != 1 {
		return q, q.reply(dnsmessage.RCodeFormatError), true
	}
	if q.question = questions; questions[0].Class != dnsmessage.ClassINET {
		return q, q.Refusal(), true
	}
	return q, nil, true
}

// Name is the name that is asked about, as it is written, without the dot at its end.
func (q Query) Name() string { return strings.TrimSuffix(q.question[0].Name.String(), ".") }

// WantsIPv4 says whether addresses of IPv4 are asked for.
func (q Query) WantsIPv4() bool { return q.question[0].Type == dnsmessage.TypeA }

// WantsIPv6 says whether addresses of IPv6 are asked for.
func (q Query) WantsIPv6() bool { return q.question[0].Type == dnsmessage.TypeAAAA }

// Refusal is the reply that no answer is given.
func (q Query) Refusal() []byte { return q.reply(dnsmessage.RCodeRefused) }

// Failure is the reply that there is no answer now.
func (q Query) Failure() []byte { return q.reply(dnsmessage.RCodeServerFailure) }

// NoSuchName is the reply that there is no such name.
func (q Query) NoSuchName() []byte { return q.reply(dnsmessage.RCodeNameError) }

// NoRecords is the reply that the name has no records of the type that is asked for.
func (q Query) NoRecords() []byte { return q.reply(dnsmessage.RCodeSuccess) }

// Address says which address of IPv4 the name has.
func (q Query) Address(address netip.Addr) []byte {
	return q.reply(dnsmessage.RCodeSuccess, dnsmessage.Resource{
		Header: dnsmessage.ResourceHeader{Name: q.question[0].Name, Class: dnsmessage.ClassINET, TTL: lasting},
		Body:   &dnsmessage.AResource{A: address.As4()},
	})
}

// reply is empty where the question cannot be written again.
func (q Query) reply(code dnsmessage.RCode, answers ...dnsmessage.Resource) []byte {
	head := q.head
	head.RCode = code
	text, err := (&dnsmessage.Message{Header: head, Questions: q.question, Answers: answers}).Pack()
	if err != nil {
		return nil
	}
	return text
}
