package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// The arguments by which the runner comes to its place. They are done one after the
// other, each with what stands behind its own.
const (
	// Text has standard input and output be lines of text, for streams that carry
	// nothing else.
	Text = "text"
	// InputFiles has the input come as files in a folder, which the next argument names. Only
	// its owner may write there: who may speaks in the client's name.
	InputFiles = "files"
	// Isolate has a runner that is root put what the arguments after the next one start
	// where it meets nothing else of its machine: processes, their memory and messages
	// at least. The next argument is a [Seclusion].
	Isolate = "apart"
	// AsUser has a runner that is root become the user that the next argument names as
	// uid:gid, for good.
	AsUser = "settle"
	// ShareWatches has a runner that may set bounds for its namespace of users leave other sandboxes of the same user room to watch
	// files, and then give up all capabilities.
	ShareWatches = "leave-room"
	// Confine makes the runner, before it starts anything, renounce calls of the kernel
	// that no command in a sandbox needs. It is the last.
	Confine = "confine"
	// GVisor is Confine where the kernel is gVisor's; in another the program ends, saying NoGVisor.
	GVisor = "gvisor"
	// Answer has the program say Answered, and end: the command by which a runner is tried.
	Answer = "answer"
	// Empty has the program remove all that is in the workspace, and end.
	Empty = "empty"
	// Bring, Stand, Enter and Hold are the parts of the door beside a sandbox that is a pod. Bring and Stand may have Severed after
	// them, Hold has the most processes of its user.
	Bring   = "bring"
	Stand   = "stand"
	Enter   = "enter"
	Hold    = "hold"
	Severed = "severed"
)

// Where the containers of a pod find what they share, and the door what is its own. The kubelet shows a file of the node's at the
// MessageFile, to which everyone who comes there may write.
const (
	RunnerFolder = "/.bailiff"
	RunnerFile   = RunnerFolder + "/runner"
	MessageFile  = RunnerFolder + "/closed/message"
	DoorFolder   = "/door"
)

// NoGVisor is what the program says where it was told that the kernel is gVisor's and it is not.
const NoGVisor = "the kernel is not gVisor's"

// Answered is what a command says by which a runner is tried.
const Answered = "bailiff-runner answers\n"

// Seclusion is what a runner keeps commands from besides other processes.
type Seclusion struct {
	// Network says that there is none but a loopback of its own, Root that nothing is
	// writable but some folders.
	Network, Root bool
	// PIDs is how many processes its user may have at once; zero sets no bound.
	PIDs int
}

// The words of a seclusion.
const (
	fromNetwork = "network"
	fromRoot    = "root"
	mostPIDs    = "pids="
)

// String is the argument.
func (s Seclusion) String() string {
	var list []string
	if s.Network {
		list = append(list, fromNetwork)
	}
	if s.Root {
		list = append(list, fromRoot)
	}
	if s.PIDs > 0 {
		list = append(list, mostPIDs+strconv.Itoa(s.PIDs))
	}
	return strings.Join(list, ",")
}

// ParseSeclusion is the reverse.
func ParseSeclusion(list string) (s Seclusion, err error) {
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		pids, bounded := strings.CutPrefix(word, mostPIDs)
		switch {
		case word == fromNetwork:
			s.Network = true
		case word == fromRoot:
			s.Root = true
		case bounded:
			most, err := strconv.ParseUint(pids, 10, 31)
			if err != nil || most == 0 {
				return s, fmt.Errorf("keeping apart: %q is no number of processes", pids)
			}
			s.PIDs = int(most)
		default:
			return s, fmt.Errorf("keeping apart: %q is nothing to be kept from", word)
		}
	}
	return s, nil
}
