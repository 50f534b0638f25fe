package approval

import (
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Plan is how a claim is put to people.
type Plan struct {
	// Route is the name of the route.
	Route string `json:"route"`
	// Approvers are the names of the people who could answer, at least Quorum.
	Approvers []string `json:"approvers"`
	// Channels are where they are asked: "operator" is the socket and the command
	// line, "console" the web page.
	Channels []string `json:"channels"`
	// Quorum is how many different people must say yes; one no denies.
	Quorum int `json:"quorum"`
	// Timeout is how long they have.
	Timeout time.Duration `json:"timeout_ns"`
}

// Approver is who answers, as a door of the operators knows it.
type Approver struct {
	// Person is a name among the configured people, empty if the credential maps
	// to nobody.
	Person string
	Groups []string
	// Credential is by what the door knows them, such as "uid:1000".
	Credential string
	// Channel is the door: "operator", "console" or a chat service.
	Channel string
}

// Name is what the approver is called; two credentials of one person are one.
func (a Approver) Name() string {
	if a.Person != "" {
		return a.Person
	}
	return a.Credential
}

// Via is by what and where they come.
func (a Approver) Via() string { return a.Credential + " on " + a.Channel }

// Router says by which way a claim goes to people and who may answer it. It is
// asked when a claim is put to people, whenever one of them says yes, before a
// grant is used, and when the book is told that both may have changed. It may be called concurrently.
type Router interface {
	// Plan's error of type *Unanswerable says that nobody could answer.
	Plan(c bailiff.Claim) (Plan, error)
	// May is nil if who may answer an approval of that claim that goes by that
	// route; its error says why not and who could, in one sentence. Groups are not
	// given for those who answered before.
	May(who Approver, c bailiff.Claim, route string) error
}

// Unanswerable is the error of a plan when nobody could answer.
type Unanswerable struct{ Reason string }

func (e *Unanswerable) Error() string { return e.Reason }
