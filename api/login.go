package api

import "time"

// DeviceLogin is the answer to POST /login/device at the console: a login on a command line that a
// person completes in a browser.
type DeviceLogin struct {
	// URL is where the person enters Code; Complete has the code in it, if the provider has such.
	URL       string    `json:"url"`
	Complete  string    `json:"complete,omitempty"`
	Code      string    `json:"code"`
	ExpiresAt time.Time `json:"expires_at"`
	// Device is the secret by which the command line asks for the end of it.
	Device string `json:"device"`
}

// DeviceWait is the body of POST /login/device/wait.
type DeviceWait struct {
	Device string `json:"device"`
}

// DeviceLoggedIn is its answer; empty while the person has not logged in yet.
type DeviceLoggedIn struct {
	Token      string    `json:"token,omitempty"`
	Person     string    `json:"person,omitempty"`
	Credential string    `json:"credential,omitempty"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"`
}

// SecurityKey is one that a person has registered, as the console shows it at GET /keys.
type SecurityKey struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Site is the name of the host at which it was registered, and at which alone it counts.
	Site  string    `json:"site"`
	Added time.Time `json:"added"`
	Used  time.Time `json:"used,omitzero"`
	// Copied says that there may be a copy of it, so that it counts no more.
	Copied bool `json:"copied"`
}
