package lease

import (
	"fmt"
	"maps"
	"sync"

	"github.com/bailiff-dev/bailiff/enforcer/ledger"
)

// maxLosses bounds how many losses are remembered to be told.
const maxLosses = 10_000

// loss is why the variables of a session's scripts are gone, as a part of a sentence.
type loss string

const (
	lostAlone     loss = "a request had to be alone in the sandbox"
	lostToOthers  loss = "others in the sandbox needed its room"
	lostConstants loss = "the policies set other variables now"
	lostItself    loss = "it had ended between two scripts"
	lostRestless  loss = "something of an earlier script printed or went on after its end"
	lostSandbox   loss = "its sandbox was removed"
	lostFailed    loss = "its sandbox failed"
	lostRestart   loss = "the sidecar was started anew"
)

var lostIdle = loss(fmt.Sprintf("it had run no script for %.0f minutes", kernelIdle.Minutes()))

func (l loss) sentence() string {
	return "The variables of earlier scripts are lost: their interpreter was ended, since " + string(l) + "."
}

// losses are those that a session has not been told of.
type losses struct {
	mu  sync.Mutex
	why map[kernelKey]loss
}

func (l *losses) note(who kernelKey, why loss) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == nil || len(l.why) >= maxLosses { // of sessions that never came back
		l.why = map[kernelKey]loss{}
	}
	l.why[who] = why
}

// recall notes those that the end of an earlier run of this sidecar was.
func (l *losses) recall(record ledger.Sandbox) {
	for _, at := range record.Interpreters {
		l.note(kernelKey{Key{at.Caller, at.Session}, at.Platform, at.User, record.Backend, at.Peer, ""}, lostRestart)
	}
}

// take returns the loss that is to be told, empty if there is none.
func (l *losses) take(who kernelKey) loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	why := l.why[who]
	delete(l.why, who)
	return why
}

// forget drops those of a session.
func (l *losses) forget(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.why, func(who kernelKey, _ loss) bool { return who.session == key })
}
