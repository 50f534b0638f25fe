package enforcer

import "sync"

// maxLosses bounds how many losses are remembered to be told.
const maxLosses = 10_000

// loss is why the variables of a session's scripts are gone, as a part of a sentence.
type loss string

const (
	lostIdle      loss = "it had run no script for 10 minutes"
	lostAlone     loss = "a request had to be alone in the sandbox"
	lostToOthers  loss = "other sessions of the user needed its room"
	lostConstants loss = "the policies set other variables now"
	lostItself    loss = "it had ended between two scripts"
	lostSandbox   loss = "its sandbox was removed"
)

func (l loss) sentence() string {
	return "The variables of earlier scripts are lost: their interpreter was ended, since " + string(l) + "."
}

// losses are those that a session has not been told of.
type losses struct {
	mu  sync.Mutex
	why map[string]loss
}

func (ls *losses) note(who string, why loss) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.why == nil || len(ls.why) >= maxLosses { // of sessions that never came back
		ls.why = map[string]loss{}
	}
	ls.why[who] = why
}

// take returns the loss that is to be told, empty if there is none.
func (ls *losses) take(who string) loss {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	why := ls.why[who]
	delete(ls.why, who)
	return why
}
