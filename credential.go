package bailiff

import (
	"strconv"
	"strings"
)

// The channels by which operators answer; their listeners have the same names.
const (
	// ChannelOperator is the operators' socket, and the [Request.Caller] of what
	// operators run themselves.
	ChannelOperator = "operator"
	// ChannelConsole is the web page, whose login comes from the operators' socket.
	ChannelConsole = "console"
)

// The credentials of clients that come by TCP. Those of a Unix socket's users are
// made by [Credential].
const (
	LocalTCP  = "tcp:local"  // from this machine
	RemoteTCP = "tcp:remote" // from another
)

const userCredential = "uid:"

// Credential is by what a user of this machine is known, such as "uid:1001".
func Credential(uid uint32) string { return userCredential + strconv.FormatUint(uint64(uid), 10) }

// UID reads what [Credential] made; false if it made no such thing.
func UID(credential string) (uid uint32, ok bool) {
	digits, ok := strings.CutPrefix(credential, userCredential)
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), ok && err == nil
}

// OIDC is the service of [Account] for the accounts of an OpenID provider.
const OIDC = "oidc"

// Account names a person who comes by a chat service or an OpenID provider, such as
// "slack:U07A", and a program that comes by a token, such as "token:siem".
func Account(service, id string) string { return service + ":" + id }

// Approver is who answers, as a listener of the operators knows it.
type Approver struct {
	// Person is a name among the configured people, empty if the credential
	// maps to none of them.
	Person string
	Groups []string
	// Credential is by what the listener knows them, such as "uid:1000".
	Credential string
	// Channel is the listener: "operator", "console" or a chat service.
	Channel string
	// Login is how they logged in: "link", "oidc", "device" or "token"; empty where the listener itself knows them.
	Login string
	// Proof is by what they proved once more, for this answer alone, who they are: such as "webauthn:1f2e3d4c5b6a7988" for a
	// security key; empty where nothing was.
	Proof string
}

// ProofWebAuthn is the proof of a security key, or another authenticator that speaks WebAuthn.
const ProofWebAuthn = "webauthn"

// What the role of a person may let them do.
const (
	MayAnswer  = "answer"
	MayRevoke  = "revoke"
	MayOperate = "operate" // freeze, thaw, remove sandboxes
	MayGovern  = "govern"  // roll policies back, break glass
)

// How an approver logged in.
const (
	// LoginLink is by a link that the operators' socket gave out.
	LoginLink = "link"
	// LoginOIDC is by an OpenID provider, in a browser; LoginDevice on the command line.
	LoginOIDC   = "oidc"
	LoginDevice = "device"
	// LoginToken is by a token of operator.tokens: a program, which belongs to no person.
	LoginToken = "token"
)

// Name is what the approver is called; two credentials of one person are one.
func (a Approver) Name() string {
	if a.Person != "" {
		return a.Person
	}
	return a.Credential
}

// Via is by what and where they come.
func (a Approver) Via() string {
	via := a.Credential + " on " + a.Channel
	if a.Login != "" {
		via += " by " + a.Login
	}
	if a.Proof != "" {
		via += " with " + a.Proof
	}
	return via
}
